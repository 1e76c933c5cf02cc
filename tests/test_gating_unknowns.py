"""What the gate cannot judge, it says; nothing that it does not know passes for fine."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path

import pytest
from gated import GOOD, PLACE, accept, begun, judged, verdict_of
from results_folder import ENVIRONMENT, Folder, commit_of

from pcbench import paired
from pcbench.analysis.baseline import Baseline, accept_all
from pcbench.analysis.gating import EVERY_CASE
from pcbench.analysis.records import Verdict
from pcbench.errors import UsageError

NEWER = "shared-py3.11-torch2.16.0"
LOAD = "load.track_first(mlp)"


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    return begun(tmp_path)


def test_a_benchmark_that_the_suite_has_no_more_is_missing(folder: Folder) -> None:
    kept = {case: value for case, value in GOOD.items() if case != "load.track_bytes"}
    folder.add(2, kept)
    index = folder.root / "benchmarks.json"
    suite = json.loads(index.read_text())
    del suite["load.track_bytes"]
    index.write_text(json.dumps(suite))

    found = judged(folder)

    assert [(str(one.case), one.verdict) for one in found.of(Verdict.MISSING)] == [
        ("load.track_bytes", Verdict.MISSING)
    ]
    assert found.exit_code == 2


def test_a_benchmark_that_failed_before_without_a_word_fails_still(folder: Folder) -> None:
    folder.add(1, {**GOOD, LOAD: None})
    folder.add(2, {**GOOD, LOAD: None})

    assert verdict_of(judged(folder), LOAD).verdict is Verdict.FAILED


def test_a_failure_that_was_accepted_with_its_reason_is_listed(folder: Folder) -> None:
    why = [{"case": LOAD, "status": "CRASHED", "reason": "ended by SIGSEGV"}]
    for number in (1, 2):
        folder.add(number, {**GOOD, LOAD: None}, sidecar=why)

    assert [(str(case), reason) for case, reason in judged(folder).unavailable] == [(LOAD, "ended by SIGSEGV")]


@pytest.mark.parametrize("sample", [math.nan, math.inf])
@pytest.mark.parametrize("case", ["load.track_peak", LOAD])
def test_a_sample_that_is_no_finite_number_fails_its_case(folder: Folder, case: str, sample: float) -> None:
    folder.add(2, {**GOOD, case: [*GOOD[case], sample][-3:]})  # type: ignore[misc]

    assert verdict_of(judged(folder), case).verdict in (Verdict.FAILED, Verdict.MISSING)


def test_samples_that_spread_as_far_as_a_change_leave_it_open(folder: Folder) -> None:
    folder.add(1, {**GOOD, "load.track_peak": [1.0e8, 1.3e8, 1.6e8]})
    folder.add(2, {**GOOD, "load.track_peak": [2.0e8, 2.1e8, 2.2e8]})

    assert verdict_of(judged(folder), "load.track_peak").verdict is Verdict.INCONCLUSIVE


def test_a_build_that_was_accepted_itself_is_compared_with_the_other_not_with_itself(folder: Folder) -> None:
    folder.add(1, {**GOOD, "capture.track_breaks": 3}, environment=NEWER, torch="2.16.0")
    both = accept_all(Baseline(), PLACE, commit_of(1), "2026-11-01", "first")
    accept(folder, accept_all(both, f"{NEWER} on lab", commit_of(1), "2026-11-01", "first"))

    found = judged(folder, vary=("torch",))

    assert found.exit_code == 1
    assert verdict_of(found, "capture.track_breaks").verdict is Verdict.SLOWER


def test_with_vary_every_environment_of_the_newest_torch_is_judged(folder: Folder) -> None:
    for environment, python in ((NEWER, None), ("shared-py3.12-torch2.16.0", "3.12.1")):
        folder.add(1, GOOD, environment=environment, torch="2.16.0", python=python)

    found = judged(folder, vary=("torch",))

    assert {one.place.environment: one.verdict for one in found.findings} == {
        NEWER: Verdict.SAME,
        "shared-py3.12-torch2.16.0": Verdict.NEW,
    }


def test_a_reason_that_names_torchs_version_is_the_same_where_torch_varies(folder: Folder) -> None:
    for environment, torch in ((ENVIRONMENT, "2.15.0"), (NEWER, "2.16.0")):
        why = [{"case": "load.track_first(gpt)", "status": "UNAVAILABLE", "reason": f"torch {torch} has no nativert"}]
        folder.add(1, GOOD, environment=environment, torch=torch, sidecar=why)

    found = judged(folder, vary=("torch",))

    assert [str(case) for case, _ in found.unavailable] == ["load.track_first(gpt)"]


def test_without_sidecars_vary_compares_environments_that_differ_in_torch_alone(folder: Folder) -> None:
    for environment in (ENVIRONMENT, NEWER, "shared-py3.12-torch2.16.0"):
        folder.add(1, GOOD, environment=environment, torch=environment[-6:], sidecar=None)
        (folder.root / "lab" / f"{commit_of(1)[:8]}-{environment}.context").unlink(missing_ok=True)

    found = judged(folder, vary=("torch",), baseline="torch:2.15.0", env=NEWER)
    assert {one.verdict for one in found.findings} == {Verdict.SAME}

    found = judged(folder, vary=("torch",), baseline="torch:2.15.0", env="py3.12")
    assert {one.verdict for one in found.findings} == {Verdict.UNJUDGED}


def test_a_candidate_is_not_compared_with_itself(folder: Folder) -> None:
    with pytest.raises(UsageError, match="the baseline is the candidate"):
        judged(folder, baseline=commit_of(1)[:8])


def test_an_environment_that_cannot_be_judged_hides_no_verdict_of_another(folder: Folder) -> None:
    folder.add(2, {**GOOD, "capture.track_breaks": 1})
    folder.add(2, GOOD, environment="other")

    found = judged(folder, baseline=commit_of(1)[:8])

    assert [one.place.environment for one in found.of(Verdict.UNJUDGED)] == ["other"]
    assert found.exit_code == 1


def test_a_place_that_machine_and_env_select_is_missed_where_it_has_no_result(folder: Folder) -> None:
    both = accept_all(Baseline(), PLACE, commit_of(1), "2026-11-01", "first")
    accept(folder, accept_all(both, f"{NEWER} on lab", commit_of(1), "2026-11-01", "first"))
    folder.add(2, GOOD)

    assert [one.case for one in judged(folder, machine="lab").of(Verdict.MISSING)] == [EVERY_CASE]
    assert judged(folder, machine="lab", env="torch2.15").of(Verdict.MISSING) == ()


def stopped(case: str, unit: str, ratio: float, *, settled: bool) -> paired.Paired:
    pairs = tuple((1.0, ratio) for _ in range(20 if settled else 3))
    look = paired.Look(pairs, tuple((1.0, 1.0) for _ in pairs))
    one = paired.Side("00000001", commit_of(1), torch="2.15.0")
    other = replace(one, name="00000002", commit=commit_of(2))
    return paired.Paired(case, unit, one, other, (look, look), "2026-11-02T00:00:00", version="1", settled=settled)


def test_pairs_that_were_stopped_do_not_take_back_what_stored_numbers_say(folder: Folder) -> None:
    path = folder.add(2, {**GOOD, LOAD: [2.5, 2.6, 2.7]})
    paired.append(path.with_suffix(paired.SUFFIX), [stopped(LOAD, "seconds", 1.0, settled=False)])

    assert verdict_of(judged(folder), LOAD).verdict is Verdict.SLOWER


def test_pairs_of_another_version_of_the_benchmark_decide_nothing(folder: Folder) -> None:
    path = folder.add(2, {**GOOD, LOAD: [1.2, 1.3, 1.4]})
    found = replace(stopped(LOAD, "seconds", 1.0, settled=True), version="0")
    paired.append(path.with_suffix(paired.SUFFIX), [found])

    assert verdict_of(judged(folder), LOAD).verdict is Verdict.INCONCLUSIVE


def test_pairs_decide_a_number_of_any_unit(folder: Folder) -> None:
    path = folder.add(1, {**GOOD, "capture.track_hits": 3.5})
    path = folder.add(2, {**GOOD, "capture.track_hits": 5.5})
    paired.append(path.with_suffix(paired.SUFFIX), [stopped("capture.track_hits", "", 1.5, settled=True)])

    assert verdict_of(judged(folder), "capture.track_hits").paired


def test_a_timing_without_recorded_samples_says_so(folder: Folder) -> None:
    folder.add(2, {**GOOD, LOAD: 50.0})

    found = verdict_of(judged(folder), LOAD)

    assert found.verdict is Verdict.INCONCLUSIVE
    assert "without recorded samples" in found.reason


def test_a_difference_of_nanoseconds_is_no_change(folder: Folder) -> None:
    folder.add(1, {**GOOD, LOAD: [2e-9] * 3})
    folder.add(2, {**GOOD, LOAD: [4.5e-9] * 3})

    assert verdict_of(judged(folder), LOAD).verdict is Verdict.SAME


def test_what_a_night_left_out_for_its_budget_is_inconclusive_and_said(folder: Folder) -> None:
    why = [{"case": LOAD, "status": "LEFT_OUT", "reason": "the night's budget; a later night has its turn"}]
    folder.add(2, {case: value for case, value in GOOD.items() if case != LOAD}, sidecar=why)

    found = judged(folder)

    assert verdict_of(found, LOAD).verdict is Verdict.INCONCLUSIVE
    assert "the night's budget" in verdict_of(found, LOAD).reason
    assert found.exit_code == 0


def test_pairs_are_judged_by_the_rule_that_they_were_measured_by(folder: Folder) -> None:
    path = folder.add(2, {**GOOD, LOAD: [1.2, 1.3, 1.4]})
    look = paired.Look(tuple((1.0, 1.5) for _ in range(6)), tuple((1.0, 1.0) for _ in range(6)))
    found = replace(stopped(LOAD, "seconds", 1.5, settled=True), looks=(look, look), delta=0.05, pairs=6, quorum=0.8)
    paired.append(path.with_suffix(paired.SUFFIX), [found])

    assert verdict_of(judged(folder), LOAD).verdict is Verdict.SLOWER


def test_pairs_that_cannot_be_read_are_noted_and_hide_no_verdict(folder: Folder) -> None:
    path = folder.add(2, {**GOOD, "capture.track_breaks": 1})
    path.with_suffix(paired.SUFFIX).write_text('{"schema": 1}\nnonsense\n')

    found = judged(folder)

    assert found.exit_code == 1
    assert sum("not read" in note for note in found.notes) >= 2


def test_a_stored_time_is_not_believed_where_the_machine_was_busy(folder: Folder) -> None:
    folder.add(2, {**GOOD, LOAD: [2.5, 2.6, 2.7]}, load_average=3.5)

    found = verdict_of(judged(folder), LOAD)

    assert found.verdict is Verdict.INCONCLUSIVE
    assert "load 3.5 on 2 CPUs" in found.reason
    folder.add(2, {**GOOD, LOAD: [12.5, 12.6, 12.7]}, load_average=3.5)
    assert verdict_of(judged(folder), LOAD).verdict is Verdict.SLOWER


def test_a_suite_without_profiles_is_compared_whatever_the_variable_said(folder: Folder) -> None:
    folder.add(2, GOOD, profile="quick")

    assert {one.verdict for one in judged(folder).findings} == {Verdict.SAME}


def test_that_nothing_newer_than_the_accepted_result_is_there_is_said(folder: Folder) -> None:
    assert any("no newer result" in note for note in judged(folder).notes)
