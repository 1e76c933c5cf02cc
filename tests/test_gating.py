"""Verdicts on results folders: what the gate reads, and what it compares."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import pytest
from gated import GOOD, PLACE, TIMES, accept, after, begun, judged, verdict_of
from results_folder import ENVIRONMENT, Folder, commit_of

from pcbench import paired
from pcbench.analysis.baseline import AcceptedCase, Baseline, accept_all, accept_cases
from pcbench.analysis.gating import EVERY_CASE
from pcbench.analysis.records import Verdict
from pcbench.errors import ResultsError, UsageError


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    return begun(tmp_path)


def test_a_case_without_a_baseline_is_new_and_exits_with_2(folder: Folder) -> None:
    found = after(folder, {"call.time_call(64)": [1.0, 1.0, 1.0]})

    assert verdict_of(found, "call.time_call(64)").verdict is Verdict.NEW
    assert found.exit_code == 2


def test_without_a_baseline_every_case_is_new(folder: Folder) -> None:
    (folder.root / "BASELINE").unlink()

    found = judged(folder)

    assert {finding.verdict for finding in found.findings} == {Verdict.NEW}
    assert found.exit_code == 2


def test_a_case_that_the_suite_raised_the_version_of_is_new(folder: Folder) -> None:
    folder.add(1, GOOD, versions={"load.track_bytes": "0"})

    assert verdict_of(after(folder, {}), "load.track_bytes").verdict is Verdict.NEW


def test_a_case_that_the_candidate_measured_as_another_version_is_missing(folder: Folder) -> None:
    folder.add(2, GOOD, versions={"load.track_bytes": "0"})

    found = verdict_of(judged(folder), "load.track_bytes")

    assert found.verdict is Verdict.MISSING
    assert "version" in found.reason


def test_a_case_that_the_candidate_does_not_hold_at_all_is_missing(folder: Folder) -> None:
    folder.add(2, {case: value for case, value in GOOD.items() if case != "load.track_bytes"})

    assert verdict_of(judged(folder), "load.track_bytes").verdict is Verdict.MISSING


def test_slow_creep_beside_an_explicit_baseline_is_caught_by_the_accepted_one(folder: Folder) -> None:
    for number, instructions in ((2, 20_030), (3, 20_060)):
        folder.add(number, {**GOOD, "guards.track_instructions": instructions})

    found = verdict_of(judged(folder, baseline="00000002"), "guards.track_instructions")

    assert found.verdict is Verdict.SLOWER
    assert found.against == "accepted 00000001"


def test_a_case_that_was_accepted_later_is_compared_with_that_commit(folder: Folder) -> None:
    folder.add(2, {**GOOD, "capture.track_breaks": 1})
    known = accept_all(Baseline(), PLACE, commit_of(1), "2026-11-01", "first")
    case = AcceptedCase(commit_of(2), "2026-11-02", "wanted", "0", "1")
    accept(folder, accept_cases(known, PLACE, {"capture.track_breaks": case}))
    folder.add(3, {**GOOD, "capture.track_breaks": 1})

    found = judged(folder)

    assert found.exit_code == 0
    assert verdict_of(found, "capture.track_breaks").against == "accepted 00000002"


def test_what_neither_side_has_for_the_same_reason_is_listed_and_not_judged(folder: Folder) -> None:
    why = [{"case": "load.track_first(gpt)", "status": "UNAVAILABLE", "reason": "no transformers"}]
    for number in (1, 2):
        folder.add(number, GOOD, sidecar=why)

    found = judged(folder)

    assert [(str(case), reason) for case, reason in found.unavailable] == [("load.track_first(gpt)", "no transformers")]
    assert found.exit_code == 0


def test_what_is_unavailable_in_the_candidate_alone_is_missing_with_the_reason(folder: Folder) -> None:
    why = [{"case": "load.track_first(mlp)", "status": "UNAVAILABLE", "reason": "no compiler"}]
    folder.add(2, {**GOOD, "load.track_first(mlp)": math.nan}, sidecar=why)

    found = verdict_of(judged(folder), "load.track_first(mlp)")

    assert (found.verdict, found.reason) == (Verdict.MISSING, "UNAVAILABLE: no compiler")


def test_when_most_timings_move_the_same_way_it_was_the_machine(folder: Folder) -> None:
    cases = [f"call.time_call({size})" for size in range(6)]
    folder.add(1, {**GOOD, **dict.fromkeys(cases, TIMES)})
    slow = [2.5, 2.6, 2.7]
    folder.add(2, {**GOOD, **dict.fromkeys([*cases, "load.track_first(mlp)"], slow)})

    found = judged(folder)

    assert {str(finding.case) for finding in found.of(Verdict.HOST)} == {*cases, "load.track_first(mlp)"}
    assert found.exit_code == 2


def test_a_place_that_has_a_baseline_and_no_result_of_the_candidate_is_missing(folder: Folder) -> None:
    baseline = accept_all(Baseline(), PLACE, commit_of(1), "2026-11-01", "first")
    accept(folder, accept_all(baseline, f"{ENVIRONMENT} on gpubox", commit_of(1), "2026-11-01", "first"))

    missing = judged(folder).of(Verdict.MISSING)

    assert [(finding.case, finding.place.machine) for finding in missing] == [(EVERY_CASE, "gpubox")]
    assert judged(folder, machine="lab").of(Verdict.MISSING) == ()


def pairs_of(case: str, ratio: float, canary: bool = False) -> paired.Paired:
    pairs = tuple((1.0, ratio + 0.001 * (i % 3)) for i in range(20))
    look = paired.Look(pairs, tuple((1.0, 1.0) for _ in pairs))
    one = paired.Side("00000001", commit_of(1), torch="2.15.0")
    other = replace(one, name="00000002", commit=commit_of(2))
    return paired.Paired(case, "seconds", one, one if canary else other, (look, look), "2026-11-02T00:00:00")


@pytest.mark.parametrize(("ratio", "verdict"), [(1.08, Verdict.SLOWER), (1.0, Verdict.SAME), (0.9, Verdict.FASTER)])
def test_pairs_of_processes_decide_a_timing_that_stored_numbers_do_not(
    folder: Folder, ratio: float, verdict: Verdict
) -> None:
    case = "load.track_first(mlp)"
    path = folder.add(2, {**GOOD, case: [1.2, 1.3, 1.4]})
    paired.append(path.with_suffix(paired.SUFFIX), [pairs_of(case, ratio), pairs_of(case, 1.5, canary=True)])

    found = verdict_of(judged(folder), case)

    assert found.verdict is verdict
    assert found.paired


def test_pairs_of_other_commits_decide_nothing(folder: Folder) -> None:
    case = "load.track_first(mlp)"
    path = folder.add(3, {**GOOD, case: [1.2, 1.3, 1.4]})
    paired.append(path.with_suffix(paired.SUFFIX), [pairs_of(case, 1.5)])

    assert verdict_of(judged(folder), case).verdict is Verdict.INCONCLUSIVE


def test_a_candidate_that_is_cut_off_is_an_error_and_another_broken_file_a_note(folder: Folder) -> None:
    path = folder.add(2, GOOD)
    whole = path.read_text()
    path.write_text(whole[: len(whole) // 2])
    with pytest.raises(ResultsError, match="is not JSON"):
        judged(folder)

    path.write_text("{}")
    found = judged(folder)
    assert [(one.case, one.verdict) for one in found.of(Verdict.UNJUDGED)] == [(EVERY_CASE, Verdict.UNJUDGED)]
    assert found.exit_code == 2
    assert judged(folder, candidate="00000001").exit_code == 0


@pytest.mark.parametrize("name", ["0badc0de", "torch:9.9"])
def test_a_candidate_that_is_not_there_is_a_usage_error(folder: Folder, name: str) -> None:
    with pytest.raises(UsageError, match="the candidate"):
        judged(folder, candidate=name)


def test_the_gate_reads_the_results_that_it_compares_and_no_others(
    folder: Folder, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(2, 12):
        folder.add(number, GOOD)
    whole: list[Path] = []
    read_text = Path.read_text
    monkeypatch.setattr(Path, "read_text", lambda path, *a, **k: whole.append(path) or read_text(path, *a, **k))

    judged(folder)

    results = {path.name[:8] for path in whole if path.suffix == ".json" and path.name[0] == "0"}
    assert results == {"00000001", commit_of(11)[:8]}
