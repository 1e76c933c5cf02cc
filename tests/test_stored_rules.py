"""The verdict on two stored numbers, by what kind of measurement it is."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

import pytest
from gated import GOOD, after, begun, judged, verdict_of
from results_folder import Folder

from pcbench.analysis.records import Verdict


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    return begun(tmp_path)


def test_the_same_numbers_are_the_same_and_exit_with_0(folder: Folder) -> None:
    found = after(folder, {})

    assert {finding.verdict for finding in found.findings} == {Verdict.SAME}
    assert len(found.findings) == len(GOOD)
    assert found.exit_code == 0


@pytest.mark.parametrize(
    ("case", "value", "verdict"),
    [
        ("guards.Census.track_count(mlp, guards)", 47, Verdict.CHANGED),
        ("guards.Census.track_count(mlp, guards)", 45, Verdict.CHANGED),
        ("capture.track_breaks", 1, Verdict.SLOWER),
        ("capture.track_hits", 2, Verdict.SLOWER),
        ("capture.track_hits", 4, Verdict.FASTER),
        ("load.track_bytes", 100_150, Verdict.SAME),
        ("load.track_bytes", 100_300, Verdict.SLOWER),
        ("load.track_bytes", 90_000, Verdict.FASTER),
        ("load.track_peak", [1.015e8], Verdict.SAME),
        ("load.track_peak", [1.03e8], Verdict.SLOWER),
        ("guards.track_instructions", 20_030, Verdict.SAME),
        ("guards.track_instructions", 20_050, Verdict.SLOWER),
        ("load.track_first(mlp)", [1.04, 1.05, 1.06], Verdict.SAME),
        ("load.track_first(mlp)", [1.2, 1.3, 1.4], Verdict.INCONCLUSIVE),
        ("load.track_first(mlp)", [2.1, 2.2, 2.3], Verdict.SLOWER),
        ("load.track_first(mlp)", [2.1, 2.2], Verdict.INCONCLUSIVE),
        ("load.track_first(mlp)", [0.4, 0.41, 0.42], Verdict.FASTER),
        ("load.track_first(mlp)", None, Verdict.FAILED),
        ("load.track_first(mlp)", math.nan, Verdict.MISSING),
    ],
)
def test_a_change_has_the_verdict_of_its_kind(folder: Folder, case: str, value: object, verdict: Verdict) -> None:
    found = after(folder, {case: value})

    assert verdict_of(found, case).verdict is verdict
    others = {finding.verdict for finding in found.findings if str(finding.case) != case}
    assert others == {Verdict.SAME}


@pytest.mark.parametrize(
    ("changed", "code"),
    [
        ({"capture.track_breaks": 1}, 1),
        ({"capture.track_breaks": 1, "load.track_first(mlp)": None}, 1),
        ({"load.track_first(mlp)": None}, 2),
        ({"load.track_first(mlp)": [1.3, 1.3, 1.3]}, 0),
        ({"capture.track_breaks": 0, "capture.track_hits": 9}, 0),
    ],
)
def test_the_exit_code_is_1_for_what_is_worse_whatever_else_is_unknown(
    folder: Folder, changed: dict[str, object], code: int
) -> None:
    assert after(folder, changed).exit_code == code


def test_a_census_that_changed_is_told_in_words(folder: Folder) -> None:
    def census(kinds: Sequence[str]) -> list[dict[str, object]]:
        places = {"L['x']": {"guards": list(kinds), "verbose": [], "answers": []}}
        told = {"target": "mlp", "counts": {"guards": len(kinds)}, "places": places, "unknown": {}}
        return [{"case": "guards.Census.track_count(mlp, guards)", "census": told}]

    folder.add(1, GOOD, sidecar=census(["TENSOR_MATCH"]))
    folder.add(
        2, {**GOOD, "guards.Census.track_count(mlp, guards)": 47}, sidecar=census(["TENSOR_MATCH", "TYPE_MATCH"])
    )

    reason = verdict_of(judged(folder), "guards.Census.track_count(mlp, guards)").reason

    assert reason.startswith("46 -> 47; 1 TYPE_MATCH more: on 1 value (L['x'])")
