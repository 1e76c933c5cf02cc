"""The verdict on what was measured in pairs: its words, and when it is the machine's."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from pcbench.analysis.paired_verdicts import false_alarms, host_moved, judge_paired, same_code_of
from pcbench.analysis.pairs import rule_for
from pcbench.analysis.policy import Policy
from pcbench.analysis.records import Verdict
from pcbench.paired import Look, Paired, Side

POLICY = Policy()


def paired(*looks: tuple[float, int], control: float = 1.0, **more: object) -> Paired:
    """A case whose looks have so many pairs of a ratio."""
    taken = tuple(Look(((1e-6, 1e-6 * ratio),) * n, ((1e-4, 1e-4 * control),) * n) for ratio, n in looks)
    date = "2026-07-01T00:00:00+00:00"
    return Paired("bench.time_it(mlp)", "seconds", Side("a", "a" * 40), Side("b", "b" * 40), taken, date, **more)  # type: ignore[arg-type]


def test_a_verdict_says_ratio_interval_pairs_of_each_look_threshold_and_how_often_it_is_false() -> None:
    verdict, sentence, rule = judge_paired(paired((1.05, 15), (1.05, 16)), POLICY)

    assert verdict is Verdict.SLOWER
    assert sentence == (
        "1.050 times (1.050 to 1.050 with 95 %); 15 of 15 and 16 of 16 pairs above 1.5%; "
        "false alarm: at most 0.0004; no pairs of the same code on record"
    )
    assert rule == "15 of 20 pairs beyond 1.5%, twice"


def test_a_change_for_the_better_is_told_by_the_pairs_below() -> None:
    verdict, sentence, _ = judge_paired(paired((0.9, 15), (0.9, 15)), POLICY)

    assert verdict is Verdict.FASTER
    assert "15 of 15 and 15 of 15 pairs below 1.5%" in sentence


def test_a_change_that_the_control_makes_as_well_is_the_machine_s() -> None:
    verdict, sentence, _ = judge_paired(paired((1.05, 15), (1.05, 15), control=1.04), POLICY)

    assert verdict is Verdict.HOST
    assert "the control, which is the same code, moved to 1.040 on 15 of 15 pairs" in sentence
    assert judge_paired(paired((1.0, 20), control=1.04), POLICY)[0] is Verdict.SAME


@pytest.mark.parametrize(("control", "expected"), [(1.04, Verdict.SLOWER), (1.06, Verdict.HOST)])
def test_the_machine_is_blamed_where_the_control_moved_by_what_the_case_is_judged_by(
    control: float, expected: Verdict
) -> None:
    looks = (Look(((1.0, 1.1),) * 10, ((1e-4, 1e-4 * control),) * 10),) * 2
    slow = replace(paired(), looks=looks)

    assert judge_paired(slow, POLICY)[0] is expected


def test_a_second_look_that_does_not_confirm_is_said() -> None:
    verdict, sentence, _ = judge_paired(paired((1.05, 15), (1.0, 8)), POLICY)

    assert verdict is Verdict.INCONCLUSIVE
    assert "the second look does not confirm the first" in sentence


def test_what_was_stopped_is_inconclusive_with_the_pairs_that_it_has() -> None:
    verdict, sentence, _ = judge_paired(paired((1.05, 3)), POLICY)

    assert verdict is Verdict.INCONCLUSIVE
    assert "3 of 3 pairs above 1.5%; stopped before it was settled" in sentence


def test_what_was_never_measured_is_no_verdict_that_passes() -> None:
    assert judge_paired(paired(), POLICY)[:2] == (Verdict.UNJUDGED, "the comparison ended before its first pair")


def test_the_control_of_two_pythons_blames_no_machine() -> None:
    moved = paired((1.05, 15), (1.05, 15), control=1.04)
    ours, theirs = replace(moved.baseline, python="3.11.7"), replace(moved.candidate, python="3.12.1")

    verdict, sentence, _ = judge_paired(replace(moved, baseline=ours, candidate=theirs), POLICY)

    assert verdict is Verdict.SLOWER
    assert "the control cannot tell the machine's part: Python 3.11.7 and 3.12.1" in sentence
    assert judge_paired(replace(moved, baseline=ours, candidate=replace(theirs, python="3.11.7")), POLICY)[0] is (
        Verdict.HOST
    )


def test_kept_pairs_are_judged_by_the_delta_that_they_were_measured_by_whatever_is_on_record_since() -> None:
    little, quiet = paired((1.015, 20), (1.015, 20)), [0.001] * 40
    kept = replace(little, delta=math.log1p(0.02), pairs=20, quorum=0.75)

    assert judge_paired(little, POLICY, quiet)[0] is Verdict.SLOWER
    assert judge_paired(kept, POLICY, quiet)[0] is Verdict.SAME
    assert "beyond 2.0%" in judge_paired(kept, POLICY, quiet)[2]


def test_pairs_of_the_same_code_are_on_record_by_version_and_without_those_that_are_no_ratio() -> None:
    pairs = ((1.0, math.e), (1.0, -1.0))
    canary = replace(paired(), candidate=paired().baseline, looks=(Look(pairs, pairs),), version="2")

    record = same_code_of([canary, canary, replace(canary, version="3"), paired((1.0, 3), version="2")])

    assert record == {("bench.time_it(mlp)", "2"): [1.0, 1.0], ("bench.time_it(mlp)", "3"): [1.0]}


def test_what_failed_has_its_reason_and_no_rule() -> None:
    failed = judge_paired(paired(failed="failed on candidate: it died"), POLICY)
    lacking = judge_paired(paired(failed="does not apply on candidate: no", lacking=("candidate",)), POLICY)

    assert failed == (Verdict.FAILED, "failed on candidate: it died", "")
    assert lacking[0] is Verdict.MISSING


def test_a_few_quiet_pairs_of_the_same_code_promise_less_than_many() -> None:
    rule = rule_for(POLICY, "seconds", 1e-6)

    few, many = (false_alarms(rule, [0.0] * n) for n in (4, 400))

    assert "0 of 4 pairs of the same code lay above 1.5%" in few
    assert float(few.split()[2].rstrip(";")) > 1e6 * float(many.split()[2].rstrip(";"))


@pytest.mark.parametrize(
    ("slower", "blamed"),
    [
        (["one(mlp)", "other(mlp)", "third(encoder)"], True),  # nothing in common
        (["one(mlp)", "one(encoder)", "one(decoder)"], False),  # a benchmark
        (["one(mlp)", "other(mlp)", "third(mlp)"], False),  # a model, and others did not move
        (["one(mlp)"], False),  # too few
    ],
)
def test_many_that_moved_together_are_the_machine_s_unless_something_sets_them_apart(
    slower: list[str], blamed: bool
) -> None:
    same = ["fourth(encoder)", "fourth(decoder)", "fifth(decoder)", "fifth(encoder)"]
    found = dict.fromkeys(same, Verdict.SAME) | dict.fromkeys(slower, Verdict.SLOWER)

    assert host_moved(found, POLICY) == (frozenset(slower) if blamed else frozenset())
    assert host_moved(dict.fromkeys(slower[:4], Verdict.SLOWER), POLICY) == frozenset()
