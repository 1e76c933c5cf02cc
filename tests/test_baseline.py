"""results/BASELINE: what is written is read again, and what cannot be read is an error."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from gated import GOOD, PLACE, begun, judged
from results_folder import ENVIRONMENT, Folder, commit_of

from pcbench.analysis.baseline import AcceptedCase, Baseline, accept_all, accept_cases, written
from pcbench.errors import ResultsError


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    return begun(tmp_path)


def test_a_baseline_whose_result_is_gone_is_an_error_not_a_new_baseline(folder: Folder) -> None:
    folder.add(2, GOOD)
    (folder.root / "lab" / f"{commit_of(1)[:8]}-{ENVIRONMENT}.json").unlink()

    with pytest.raises(ResultsError, match="BASELINE names 00000001"):
        judged(folder)


@pytest.mark.parametrize("text", ["", "[]", '{"schema": 9}', '{"schema": 1, "places": 3}', "\x00\xff"])
def test_a_baseline_that_cannot_be_read_is_an_error(folder: Folder, text: str) -> None:
    (folder.root / "BASELINE").write_text(text)

    with pytest.raises(ResultsError, match="BASELINE"):
        judged(folder)


def test_what_is_written_as_baseline_is_read_again_and_each_case_is_a_line() -> None:
    case = AcceptedCase(commit_of(2), "2026-11-02", 'a "reason"', "46", "47")
    made = accept_cases(accept_all(Baseline(), PLACE, commit_of(1), "2026-11-01", "first"), PLACE, {"a(b)": case})

    text = written(made)

    assert [line for line in text.splitlines() if "a(b)" in line and "47" in line] != []
    assert json.loads(text)["places"][PLACE]["cases"]["a(b)"]["now"] == "47"
