"""The rate of false alarms that canaries measured."""

from __future__ import annotations

import pytest

from pcbench.analysis.canaries import Rate, rate, tonight, upper_bound
from pcbench.analysis.records import Case, Verdict
from pcbench.paired import Paired, Side

ONE, OTHER = Side("a", "a" * 40), Side("b", "b" * 40)


def paired(case: str, other: Side = ONE, *, settled: bool = True) -> Paired:
    return Paired(case, "seconds", ONE, other, (), "2026-11-30T00:00:00+00:00", settled=settled)


SAID = {
    "same": Verdict.SAME,
    "slower": Verdict.SLOWER,
    "open": Verdict.INCONCLUSIVE,
    "faster": Verdict.FASTER,
    "machine": Verdict.HOST,
    "failed": Verdict.FAILED,
}


@pytest.mark.parametrize(
    ("found", "of", "expected"),
    [(0, 1, 0.95), (0, 200, 0.014867), (1, 200, 0.023499), (3, 50, 0.147839), (5, 5, 1.0), (0, 0, 1.0)],
)
def test_the_upper_bound_is_that_of_clopper_and_pearson(found: int, of: int, expected: float) -> None:
    assert upper_bound(found, of) == pytest.approx(expected, rel=1e-4)


def test_only_pairs_of_the_same_code_count_and_each_verdict_as_what_it_is() -> None:
    found = [*map(paired, ("same", "slower", "open", "faster")), paired("slower", OTHER)]
    assert rate(found, lambda one: SAID[one.case]) == Rate(4, 1, 1, 1)


def test_what_came_to_no_verdict_is_no_part_of_the_rate_and_is_said() -> None:
    stopped = [paired(case, settled=False) for case in ("same", "slower", "open")]
    found = rate([*map(paired, SAID), *stopped], lambda one: SAID[one.case])
    assert found == Rate(4, 1, 1, 1, without=5)
    assert str(found).endswith("a verdict; 5 canaries without a verdict not counted")
    assert str(rate(stopped, lambda one: SAID[one.case])).startswith("false alarms: no canary was measured yet; 3")


def test_the_rate_is_said_with_its_bound_and_not_promised_without_a_verdict() -> None:
    assert str(Rate(200, 0, 0, 0)).endswith("at 95 % the rate is below 1.49% a verdict")
    assert str(Rate(0, 0, 0, 0)) == "false alarms: no canary was measured yet"


def test_every_case_has_its_turn_before_one_has_its_second() -> None:
    cases = [Case(name) for name in "edcba"]
    turns = [case.benchmark for night in range(5) for case in tonight(cases, night, 2)]
    assert turns == list("abcdeabcde")
    assert tonight(cases[:1], 7, 3) == (cases[0],)
