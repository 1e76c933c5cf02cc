"""What a night measures within its budget."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pcbench.analysis.night_plan import Cost, Plan, costs, plan
from pcbench.analysis.policy import Policy

POLICY = Policy()
LOAD = Cost("bench_load", 600.0, timing=True)
CAPTURE = Cost("bench_capture", 300.0, timing=True, idle=1)
COUNT = Cost("bench_census", 100.0, timing=False)


def planned(commits: str, budget_s: float, *known: Cost) -> Plan:
    return plan(tuple(commits), known or (LOAD, CAPTURE, COUNT), budget_s, POLICY)


def test_all_commits_are_measured_whole_where_the_budget_allows() -> None:
    assert planned("cba", 3000.0) == Plan(("c", "b", "a"), seconds=3000.0)


def test_repetitions_of_quiet_timings_go_before_a_commit_does() -> None:
    found = planned("ba", 1200.0)
    assert (found.commits, found.few, found.left_out) == (("b", "a"), ("bench_capture", "bench_load"), ())
    assert found.dropped == ("fewer repetitions of bench_capture and bench_load: quiet in the last results",)
    assert found.seconds == pytest.approx(1100.0)


def test_the_repetitions_of_what_was_not_quiet_stay() -> None:
    found = planned("b", 900.0, replace(LOAD, quiet=False), CAPTURE, COUNT)
    assert (found.few, found.left_out) == (("bench_capture",), ())


def test_older_commits_go_before_a_benchmark_does_and_the_newest_stays() -> None:
    found = planned("edcba", 1200.0)
    assert found.commits == ("e", "d")
    assert "left out 3 older commits of 5" in found.dropped
    assert not found.left_out


def test_what_was_measured_last_is_left_out_first_and_has_its_turn_the_next_night() -> None:
    assert planned("a", 450.0).left_out == ("bench_load",)
    assert planned("a", 450.0, replace(LOAD, idle=1), replace(CAPTURE, idle=0), COUNT).left_out == ("bench_capture",)


def test_what_still_fits_is_not_left_out_for_something_larger() -> None:
    assert planned("a", 300.0, replace(LOAD, idle=1), replace(CAPTURE, idle=0), COUNT).left_out == ("bench_load",)


def test_a_timing_that_never_fits_is_measured_every_few_nights_nevertheless() -> None:
    assert planned("a", 300.0, replace(LOAD, idle=POLICY.night_idle), CAPTURE, COUNT).left_out == ("bench_capture",)


def test_counts_and_the_newest_commit_are_never_left_out_and_an_overrun_is_said() -> None:
    found = planned("ba", 10.0)
    assert found.commits == ("b",)
    assert found.left_out == ("bench_capture", "bench_load")
    assert found.seconds == 100.0
    assert "never left out" in found.dropped[-1]


def test_without_earlier_nights_the_newest_commit_alone_is_measured_whole_and_that_is_said() -> None:
    found = planned("cba", 10.0, replace(LOAD, seconds=None), replace(COUNT, seconds=None))
    assert (found.commits, found.seconds) == (("c",), None)
    assert found.dropped == ("left out 2 older commits: no earlier night tells what a commit takes",)


def test_few_repetitions_cost_what_an_earlier_night_took_for_them() -> None:
    known = costs([{"x": (30.0, True)}, {"x": (100.0, False), "y": (5.0, False)}], {"x": True, "y": False}, ["x"])
    assert known == [Cost("x", 100.0, True, 30.0, False, 0), Cost("y", 5.0, False, None, True, 1)]


def test_what_was_only_measured_with_few_repetitions_is_taken_to_cost_more_with_all() -> None:
    (known,) = costs([{"x": (30.0, True)}], {"x": True}, [])
    assert plan(("a",), [known], 1000.0, POLICY).seconds == 30.0 / POLICY.night_few
