"""Thresholds by case, and what no policy has."""

from __future__ import annotations

from pathlib import Path

import pytest
from gated import GOOD, begun, judged, verdict_of
from results_folder import Folder

from pcbench.analysis.policy import read_policy
from pcbench.errors import UsageError


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    return begun(tmp_path)


def test_a_policy_of_a_case_changes_its_threshold_or_ignores_it(folder: Folder) -> None:
    folder.add(2, {**GOOD, "load.track_bytes": 104_000, "capture.track_breaks": 5})
    told = {"case": [{"match": "load.*", "byte_share": 0.05}, {"match": "capture.track_breaks", "ignore": True}]}

    found = judged(folder, read_policy(told))

    assert found.exit_code == 0
    assert verdict_of(found, "load.track_bytes").rule == "beyond 5 kB (floor 5.0%)"
    assert [str(case) for case, _ in found.unavailable] == ["capture.track_breaks"]


@pytest.mark.parametrize(
    "table",
    [
        {"detla": 0.1},
        {"delta": "0.1"},
        {"delta": -1.0},
        {"delta": 3},
        {"case": [{"match": "x", "byte_share": 5}]},
        {"pairs": 2.5},
        {"pairs": 5},
        {"slow_pairs": 5},
        {"quorum": 0.4},
        {"case": {"match": "x"}},
        {"case": [{"delta": 0.1}]},
        {"case": [{"match": "x", "delta": True}]},
    ],
)
def test_a_policy_with_what_no_policy_has_is_refused(table: dict[str, object]) -> None:
    with pytest.raises(UsageError):
        read_policy(table)
