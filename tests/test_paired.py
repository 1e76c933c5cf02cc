"""The file of pairs: what is kept of what was measured."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from pcbench import paired
from pcbench.errors import ResultsError
from pcbench.paired import Look, Paired, Side

LOOK = Look(((1.0, 1.1),) * 8, ((1.0, 1.0),) * 8)
SETTLED = Paired(
    "it", "seconds", Side("a", "a" * 40), Side("b", "b" * 40), (LOOK,), "2026-01-01", version="1", delta=0.02
)
STOPPED = replace(SETTLED, looks=(Look(LOOK.pairs[:2], LOOK.control[:2]),), settled=False)


@pytest.mark.parametrize(
    ("before", "after", "kept"),
    [
        (SETTLED, STOPPED, SETTLED),
        (STOPPED, SETTLED, SETTLED),
        (STOPPED, replace(STOPPED, date="2026-01-02"), replace(STOPPED, date="2026-01-02")),
        (SETTLED, replace(SETTLED, date="2026-01-02"), replace(SETTLED, date="2026-01-02")),
        (SETTLED, replace(STOPPED, version="2"), replace(STOPPED, version="2")),
        (STOPPED, replace(STOPPED, looks=()), STOPPED),
    ],
)
def test_what_was_stopped_never_takes_the_place_of_what_was_settled(
    tmp_path: Path, before: Paired, after: Paired, kept: Paired
) -> None:
    path = tmp_path / "it.pairs"
    paired.append(path, [before])
    paired.append(path, [after])

    assert paired.read(path) == (kept,)


def test_what_has_no_pair_is_not_kept(tmp_path: Path) -> None:
    paired.append(tmp_path / "it.pairs", [replace(SETTLED, looks=()), replace(SETTLED, case="other")])

    assert [one.case for one in paired.read(tmp_path / "it.pairs")] == ["other"]


def test_a_file_of_another_schema_is_refused_with_what_to_do(tmp_path: Path) -> None:
    line = paired.to_line(SETTLED).replace('"schema": 2', '"schema": 1')
    (tmp_path / "it.pairs").write_text(line)

    with pytest.raises(ResultsError, match=r"line 1 has schema 1; this pcbench reads schema 2 \(move the file away"):
        paired.read(tmp_path / "it.pairs")
