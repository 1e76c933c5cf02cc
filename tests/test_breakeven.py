import itertools
import math
import random
from dataclasses import replace

import pytest
from examples import crashed, row

from pcbench.analysis.breakeven import break_even, crossing, gain, pays_back
from pcbench.analysis.comparison import Row

EAGER = row("eager", [2.0, 2.1, 1.9])
CALLS = [300e-6 + i * 1e-6 for i in range(20)]


def paired(starts: list[float], factor: float) -> Row:
    return row("aoti", starts, call_s=[factor * call for call in CALLS], eager_call_s=CALLS, capture_s=[9.0])


@pytest.mark.parametrize("seed", range(50))
def test_the_crossing_is_the_first_number_of_calls_at_which_the_strategy_costs_no_more(seed: int) -> None:
    """Reference: count calls one by one until the totals cross."""
    draw = random.Random(seed)
    penalty_s, gain_s = draw.uniform(0.001, 1.0), draw.uniform(0.001, 0.1)
    counted = next(n for n in itertools.count() if penalty_s - n * gain_s <= 0)

    assert math.ceil(crossing(penalty_s, gain_s).calls) == counted


@pytest.mark.parametrize("seed", range(50))
def test_a_strategy_that_starts_faster_and_calls_slower_is_ahead_up_to_the_crossing(seed: int) -> None:
    """Reference: count calls one by one while the strategy costs less."""
    draw = random.Random(seed)
    penalty_s, gain_s = -draw.uniform(0.001, 1.0), -draw.uniform(0.001, 0.1)
    counted = next(n for n in itertools.count() if penalty_s - n * gain_s >= 0)
    found = crossing(penalty_s, gain_s)

    assert found.calls == 0
    assert math.ceil(found.until) == counted


def test_break_even_is_the_longer_start_over_the_shorter_call() -> None:
    found = break_even(paired([2.4, 2.3, 2.5], 0.5), EAGER)

    assert found is not None
    assert found.calls == pytest.approx(0.4 / (0.5 * 309.5e-6))
    assert str(found) == "from 2,585 calls"


def test_a_strategy_that_starts_first_and_calls_no_slower_breaks_even_at_once() -> None:
    assert str(break_even(paired([1.0, 1.1, 1.2], 0.5), EAGER)) == "at once"


def test_a_strategy_that_starts_later_and_calls_slower_never_breaks_even() -> None:
    assert str(break_even(paired([2.4, 2.3, 2.5], 1.5), EAGER)) == "never"


def test_calls_that_are_faster_only_within_the_spread_of_their_pairs_never_break_even() -> None:
    noisy = [call * (0.5 if i % 2 else 1.49) for i, call in enumerate(CALLS)]
    found = row("aoti", [2.4, 2.3, 2.5], call_s=noisy, eager_call_s=CALLS)
    saved = gain(found)

    assert saved is not None
    assert saved.median_s > 0
    assert saved.real_s == 0
    assert str(break_even(found, EAGER)) == "never"


def test_calls_are_compared_pair_by_pair_so_that_a_drift_of_the_machine_cancels() -> None:
    drifting = [300e-6 * 1.1**i for i in range(20)]
    found = gain(row("aoti", [2.0], call_s=[0.95 * call for call in drifting], eager_call_s=drifting))

    assert found is not None
    assert found.ratio == pytest.approx(0.95)
    assert found.real_s > 0


def test_a_gain_is_the_median_of_the_differences_not_the_difference_of_the_medians() -> None:
    found = gain(row("aoti", [2.0], call_s=[0.9, 5.0, 1.0], eager_call_s=[1.0, 2.0, 9.0]))

    assert found is not None
    assert found.median_s == pytest.approx(0.1)


def test_what_was_not_measured_is_unknown_not_never() -> None:
    assert gain(row("aoti", [2.4])) is None
    assert break_even(row("aoti", [2.4]), EAGER) is None
    assert break_even(crashed("aoti"), EAGER) is None
    assert break_even(paired([2.4], 0.5), None) is None
    assert break_even(paired([2.4], 0.5), crashed("eager")) is None


@pytest.mark.parametrize("calls", [3000, 10_000, 100_000])
def test_a_capture_has_paid_for_itself_after_the_first_start_at_which_the_savings_reach_it(calls: int) -> None:
    """Reference: add up the savings start by start."""
    found = paired([2.4, 2.3, 2.5], 0.5)
    saved_per_start = calls * 0.5 * 309.5e-6 - 0.4
    counted = next(n for n in itertools.count() if n * saved_per_start >= 9.5)
    starts = pays_back(found, EAGER, calls)

    assert starts is not None
    assert math.ceil(starts) == counted


def test_a_capture_never_pays_where_no_start_saves_anything() -> None:
    assert pays_back(paired([2.4, 2.3, 2.5], 0.5), EAGER, 1000) == math.inf


def test_a_capture_whose_time_is_unknown_has_no_pay_back() -> None:
    assert pays_back(row("aoti", [2.4], call_s=CALLS, eager_call_s=CALLS), EAGER, 1000) is None


def test_pairs_of_one_process_count_as_one_value_where_several_processes_took_them() -> None:
    calls = [1.0, 1.0, 1.0, 3.0, 3.0, 3.0, 2.2, 2.2, 2.2]
    eagers = [2.0] * 9
    one = gain(row("aoti", [2.0], call_s=calls, eager_call_s=eagers))
    several = gain(replace(row("aoti", [2.0], call_s=calls, eager_call_s=eagers), pairs_by_process=(3, 3, 3)))

    assert one is not None
    assert several is not None
    assert one.n == 9
    assert (several.n, several.low_s, several.high_s) == (3, -1.0, 1.0)
    assert several.real_s == 0.0
    assert several.ratio == pytest.approx(1.1)
