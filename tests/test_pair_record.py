"""Where the pairs of a comparison are kept: beside the one result that the gate reads them with."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from pcbench.analysis.results_index import Entry
from pcbench.commands._pair_record import beside, keep
from pcbench.paired import Look, Paired, Side

COMMIT = "a" * 40
SIDE = Side("HEAD", COMMIT, "this", "2.1.0+cpu")


def entry(torch: str | None, environment: str = "shared", commit: str = COMMIT) -> Entry:
    name = Path(f"{commit[:8]}-{environment}-{torch}.json")
    return Entry(name, "lab", commit, environment, datetime(2026, 1, 1, tzinfo=UTC), torch)


@pytest.mark.parametrize(
    ("entries", "expected"),
    [
        ([entry("2.1.0")], "aaaaaaaa-shared-2.1.0"),
        ([entry("2.1.0+cu130"), entry("2.1.0.dev1"), entry("2.1.0+cpu")], "aaaaaaaa-shared-2.1.0+cpu"),
        ([entry(None)], "aaaaaaaa-shared-None"),
        ([entry("2.1.1"), entry("2.1.0", commit="b" * 40)], None),
        ([entry("2.1.0", "one"), entry("2.1.0", "other")], None),
        (
            [entry("2.1.0", "PCBENCH_PROFILEfull"), entry("2.1.0", "PCBENCH_PROFILEquick")],
            "aaaaaaaa-PCBENCH_PROFILEquick-2.1.0",
        ),
    ],
)
def test_pairs_lie_beside_the_one_result_of_their_commit_and_exact_torch_release(
    entries: list[Entry], expected: str | None
) -> None:
    found = beside(entries, SIDE, "quick")

    assert found == (None if expected is None else Path(f"{expected}.pairs"))


def test_pairs_without_a_result_are_kept_by_the_commit_and_said_not_to_be_found(tmp_path: Path) -> None:
    look = Look(((1.0, 1.0),), ((1.0, 1.0),))
    pair = Paired("it", "seconds", replace(SIDE, commit="b" * 40), SIDE, (look,), "2026-01-01")

    kept = keep(tmp_path, "lab", [pair])

    assert kept is not None
    assert (kept.path, kept.found) == (tmp_path / "lab" / "aaaaaaaa-this.pairs", False)
    canary = keep(tmp_path, "lab", [replace(pair, baseline=SIDE)])
    assert canary is not None
    assert canary.found
    assert keep(tmp_path, "lab", [Paired("it", "seconds", Side(".", None), SIDE, (look,), "2026-01-01")]) is None
