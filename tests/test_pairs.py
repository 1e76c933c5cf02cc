"""The verdict on pairs, on numbers that are known."""

from __future__ import annotations

import math
import random

import pytest

from pcbench.analysis.pairs import Rule, false_alarm_rate, locate, log_ratios, of_look, rule_for, verdict
from pcbench.analysis.policy import Policy
from pcbench.analysis.records import Verdict

RULE = Rule(math.log1p(0.02), 20, 0.75)


def around(centre: float, n: int = 40) -> list[float]:
    return [math.log1p(centre) + 0.001 * (i % 3 - 1) for i in range(n)]


def test_a_quorum_of_one_look_is_no_verdict_before_the_second_says_so_too() -> None:
    assert verdict([around(0.05, 14)], RULE) == (None, 0)
    assert verdict([around(0.05, 15)], RULE) == (None, 1)
    assert verdict([around(0.05, 15), around(0.05, 15)], RULE) == (Verdict.SLOWER, 1)
    assert verdict([around(-0.05, 15), around(-0.05, 15)], RULE) == (Verdict.FASTER, 1)


def test_a_second_look_that_does_not_confirm_makes_it_inconclusive() -> None:
    assert verdict([around(0.05, 20), around(0.0, 20)], RULE) == (Verdict.INCONCLUSIVE, 1)


def test_pairs_that_stay_within_the_threshold_are_the_same_and_end_the_look_early() -> None:
    assert of_look(around(0.0, 7), RULE) is None
    assert of_look(around(0.0, 8), RULE) is Verdict.SAME


def test_a_look_that_its_pairs_leave_open_goes_on_to_twice_as_many_and_ends_inconclusive() -> None:
    open_ended = [0.05 if i % 2 else -0.05 for i in range(40)]

    assert of_look(open_ended[:20], RULE) is None
    assert of_look(open_ended[:39], RULE) is None
    assert of_look(open_ended, RULE) is Verdict.INCONCLUSIVE


def test_outliers_on_less_than_a_quarter_of_the_pairs_do_not_decide() -> None:
    struck = [0.5 if i % 5 == 0 else value for i, value in enumerate(around(0.0))]

    assert of_look(struck, RULE) is not Verdict.SLOWER


def test_the_location_and_its_interval_are_those_of_the_signed_rank_test() -> None:
    place = locate([1.0, 2.0, 3.0, 4.0, 5.0, 6.0])

    assert (place.low, place.middle, place.high) == (1.0, 3.5, 6.0)


def test_the_interval_covers_the_centre_in_95_of_100() -> None:
    rng = random.Random(3)
    covered = 0
    for _ in range(1000):
        place = locate([rng.gauss(0.0, 1.0) for _ in range(12)])
        covered += place.low <= 0.0 <= place.high

    assert 935 <= covered <= 975


def test_a_pair_that_is_no_ratio_counts_for_no_side_and_never_for_the_same() -> None:
    ratios = log_ratios([(1.0, -1.0)] * 40)

    assert all(map(math.isnan, ratios))
    assert of_look(ratios, RULE) is Verdict.INCONCLUSIVE


def test_numbers_without_a_ratio_raise_nothing() -> None:
    strange = [
        (1.0, math.inf),
        (math.inf, 1.0),
        (0.0, 1.0),
        (1.0, 0.0),
        (math.nan, 1.0),
        (1e308, 1e-308),
        (1e-308, 1e308),
    ]

    assert all(map(math.isnan, log_ratios(strange)))


def test_how_many_pairs_say_the_same_at_the_earliest_is_the_policy_s() -> None:
    rule = rule_for(Policy(same_pairs=12), "seconds", 1e-5)

    assert of_look(around(0.0, 11), rule) is None
    assert of_look(around(0.0, 12), rule) is Verdict.SAME


def test_a_look_whose_pairs_are_no_ratios_ends_as_soon_as_they_rule_out_a_quorum() -> None:
    assert of_look([math.nan] * 10, RULE) is None
    assert of_look([math.nan] * 11, RULE) is Verdict.INCONCLUSIVE


def test_the_threshold_is_finer_where_pairs_of_the_same_code_allow_it() -> None:
    quiet = [0.001] * 40
    noisy = [0.05 if i % 2 else 0.001 for i in range(40)]

    assert rule_for(Policy(), "seconds", 1e-5, quiet).delta == pytest.approx(math.log1p(0.01))
    assert rule_for(Policy(), "seconds", 1e-5, noisy).delta == pytest.approx(math.log1p(0.015))
    assert rule_for(Policy(), "seconds", 1e-5, quiet[:39]).delta == pytest.approx(math.log1p(0.015))


def test_a_difference_of_a_few_cycles_is_no_change_however_large_its_share() -> None:
    assert rule_for(Policy(), "seconds", 50e-9).delta == pytest.approx(math.log1p(0.1))


def test_what_takes_seconds_has_fewer_pairs_and_a_larger_threshold() -> None:
    rule = rule_for(Policy(), "seconds", 2.0)

    assert (rule.pairs, rule.needed(rule.pairs)) == (10, 7)
    assert rule.delta == pytest.approx(math.log1p(0.05))


def test_the_false_alarm_rate_is_that_of_resampled_looks() -> None:
    rng = random.Random(7)
    rule = Rule(0.01, 20, 0.75)
    found = sum(
        of_look([rng.choice([0.02, 0.0, 0.02]) for _ in range(40)], rule) is Verdict.SLOWER for _ in range(4000)
    )

    assert math.sqrt(false_alarm_rate(2 / 3, rule)) == pytest.approx(found / 4000, abs=0.03)
    assert false_alarm_rate(0.25, rule) < 1e-9
