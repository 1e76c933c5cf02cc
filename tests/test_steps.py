import math

import numpy as np
import pytest

from pcbench.analysis.kernel_cuts import cuts
from pcbench.analysis.policy import Policy
from pcbench.analysis.steps import alarms, alerts, exact_steps, steps, tonight

POLICY = Policy()


def noisy(nights: int = 80, *, seed: int = 3, spread: float = 0.01, level: float = 1e-3) -> np.ndarray:
    return level * np.exp(spread * np.random.default_rng(seed).standard_t(4, nights))


def stepped(at: int = 40, ratio: float = 1.05, **how: float) -> np.ndarray:
    values = noisy(**how)  # type: ignore[arg-type]
    values[at:] *= ratio
    return values


@pytest.mark.parametrize("least", [2, 4])
def test_cuts_are_those_of_ruptures(least: int) -> None:
    ruptures = pytest.importorskip("ruptures", reason="its releases need Python below 3.14")
    draws = np.random.default_rng(0)
    for _ in range(60):
        values = draws.standard_t(4, int(draws.integers(10, 90)))
        values[len(values) // 2 :] += draws.choice([0, 1, 2, 3])
        for penalty in (4.0, 6.0):
            found = ruptures.KernelCPD(kernel="rbf", min_size=least).fit(values).predict(pen=penalty)

            # Its kernel is at most exp(-0.01), which moves a penalty by 1 %.
            assert tuple(map(int, found[:-1])) in cuts(values, (penalty, 0.98 * penalty, 1.02 * penalty), least)


def test_a_series_that_is_too_short_for_two_segments_has_no_cut() -> None:
    assert cuts(np.arange(7.0), (1.0,), 4) == ((),)


def test_a_step_is_located_with_its_levels_and_an_interval_around_its_ratio() -> None:
    (step,) = steps(stepped(40, 1.05), POLICY)

    assert step.index == 40
    assert step.ratio == pytest.approx(1.05, abs=0.01)
    assert step.low is not None
    assert step.high is not None
    assert 1 < step.low < step.after / step.before < step.high < 1.1


def test_steps_of_both_directions_come_oldest_first() -> None:
    values = noisy(120)
    values[30:] *= 1.1
    values[70:] *= 0.9

    assert [step.index for step in steps(values, POLICY)] == [30, 70]


def test_noise_alone_holds_no_step_and_raises_no_alarm() -> None:
    found = [(steps(values, POLICY), alarms(values, POLICY)) for values in (noisy(seed=seed) for seed in range(8))]

    assert found == [((), ())] * 8


def test_outliers_are_no_steps() -> None:
    values = noisy()
    values[[10, 11, 45, 79]] *= 1.5

    assert steps(values, POLICY) == ()
    assert alarms(values, POLICY) == ()


def test_a_step_smaller_than_the_policy_says_is_none() -> None:
    values = stepped(40, 1.05, spread=0.001)

    assert len(steps(values, POLICY)) == 1
    assert steps(values, Policy(step_shift=0.06)) == ()
    assert steps(values, Policy(step_sigmas=100.0)) == ()


@pytest.mark.parametrize("values", [[], [1.0], [math.nan] * 30, [2.0] * 60, [0.0] * 60, [1.0, 2.0, 3.0]], ids=str)
def test_a_series_that_is_empty_or_constant_or_too_short_has_no_step(values: list[float]) -> None:
    assert steps(values, POLICY) == ()
    assert alarms(values, POLICY) == ()
    assert tonight(values, POLICY) is None


def test_nights_without_a_number_are_left_out_and_indexes_are_those_of_the_series() -> None:
    values = stepped(40)
    values[[3, 20, 38, 39]] = math.nan
    values[60] = math.inf

    assert [step.index for step in steps(values, POLICY)] == [40]


def test_a_constant_that_changes_is_a_step_although_its_noise_is_nothing() -> None:
    (step,) = steps([5.0] * 30 + [6.0] * 30, POLICY)

    assert (step.index, step.before, step.after, step.low, step.high) == (30, 5.0, 6.0, pytest.approx(1.2), 1.2)


def test_differences_below_0_have_steps_and_no_ratio() -> None:
    values = np.random.default_rng(1).normal(-1.0, 0.02, 60)
    values[30:] += 1.5

    (step,) = steps(values, POLICY)

    assert (step.index, step.ratio, step.low, step.high) == (30, None, None, None)


def test_a_size_does_not_depend_on_the_unit() -> None:
    values = stepped(40)

    assert [s.index for s in steps(values, POLICY)] == [s.index for s in steps(values * 1e9, POLICY)]


@pytest.mark.parametrize("ratio", [1.06, 0.94])
def test_tonight_speaks_when_all_of_the_newest_nights_moved_and_not_a_night_before(ratio: float) -> None:
    values = stepped(55, ratio, nights=60)

    found = tonight(values, POLICY)

    assert found is not None
    assert found.index == 55
    assert found.ratio == pytest.approx(ratio, abs=0.015)
    assert tonight(values[:-1], POLICY) is None


def test_tonight_is_silent_while_too_few_nights_lie_before() -> None:
    assert tonight(stepped(19, 1.1, nights=24), POLICY) is None
    assert tonight(stepped(20, 1.1, nights=25), POLICY) is not None


def test_one_good_night_among_the_newest_silences_tonight() -> None:
    values = stepped(55, 1.06, nights=60)
    values[57] /= 1.06

    assert tonight(values, POLICY) is None


def test_a_step_is_alerted_on_when_it_is_new_and_not_weeks_later() -> None:
    values = stepped(50, 1.1, nights=100)

    assert [step.index for step in alerts(values[:55], POLICY)] == [50]
    assert [step.index for step in alarms(values, POLICY)] == [50]
    assert alerts(values, POLICY) == ()


def test_every_change_of_an_exact_number_is_a_step() -> None:
    found = exact_steps([4, 4, math.nan, 5, 5, 4])

    assert [(step.index, step.before, step.after) for step in found] == [(3, 4, 5), (5, 5, 4)]
    assert found[0].ratio == found[0].low == found[0].high == 1.25


def test_a_count_that_leaves_0_is_a_step_without_a_ratio() -> None:
    (step,) = exact_steps([0, 0, 3])

    assert (step.before, step.after, step.ratio) == (0, 3, None)


def test_a_slow_swing_needs_more_to_be_a_step() -> None:
    noise = np.random.default_rng(3).normal(0, 0.02, 100)
    for night in range(1, 100):
        noise[night] += 0.85 * noise[night - 1]
    with_more = steps(np.exp(noise), POLICY)
    with_less = steps(np.exp(noise), Policy(step_correlation=0.99))

    assert len(with_more) < len(with_less)


def test_two_outliers_side_by_side_are_no_slow_swing() -> None:
    values = 0.01 * np.random.default_rng(5).standard_normal(60)
    values[30:] += 0.015
    values[10:12] += 0.5

    assert len(steps(np.exp(values), POLICY)) == 1
    assert steps(np.exp(values), Policy(step_far=1000.0)) == ()


def test_alerts_are_about_the_newest_nights_and_their_indexes_are_those_of_the_series() -> None:
    values = stepped(150, 1.1, nights=155)
    values[:30] *= 2

    assert [step.index for step in alarms(values, POLICY)] == [150]
    assert [step.index for step in alarms(values, Policy(alert_history=155))] == [30, 150]
