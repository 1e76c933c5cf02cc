"""The slope of a guard family: a line through known times is found again."""

from __future__ import annotations

import pytest
from examples import guard_slopes, run

from pcbench.analysis.guard_slopes import range_words, slopes, slopes_of
from pcbench.errors import PcbenchError
from pcbench.guard_samples import Sweep
from pcbench.slopes import fitted, slope

SIZES = (1, 8, 64, 512)


def swept(per_item_s: float, intercept_s: float = 1e-6, *, family: str = "tensors", guards_per_item: int = 2) -> Sweep:
    """Times on a line; the second block of each size is the least."""
    times = {size: intercept_s + per_item_s * size for size in SIZES}
    guards = {size: 8 + guards_per_item * size for size in SIZES}
    return Sweep(family, guards, {size: (2 * time, time, 3 * time) for size, time in times.items()})


def test_a_line_is_found_again_through_the_least_blocks_and_a_guard_is_its_share_of_an_item() -> None:
    found = slope(swept(60e-9, guards_per_item=3))

    assert found.per_item_s == pytest.approx(60e-9)
    assert found.per_guard_s == pytest.approx(20e-9)
    assert found.intercept_s == pytest.approx(1e-6)


def test_an_error_in_proportion_to_the_largest_time_does_not_drown_the_smallest() -> None:
    points = {size: 1e-6 + 60e-9 * size for size in SIZES}
    intercept, _ = fitted(points | {512: 1.1 * points[512]})

    assert intercept == pytest.approx(1e-6, rel=0.05)


def test_a_line_takes_two_sizes_and_guards_that_grow() -> None:
    whole = swept(60e-9)
    one = Sweep("tensors", whole.guards, {8: whole.samples[8], 64: ()})

    with pytest.raises(PcbenchError, match="family tensors was timed at 1 size"):
        slope(one)
    with pytest.raises(PcbenchError, match="family tensors has no more guards at size 512 than at size 1"):
        slope(swept(60e-9, guards_per_item=0))


def test_over_processes_a_family_has_the_median_of_its_lines_and_their_range_the_dearest_first() -> None:
    sweeps = [swept(per_item, family="a") for per_item in (30e-9, 10e-9, 20e-9)] + [swept(50e-9, family="b")]
    dear, cheap = slopes(sweeps)

    assert (dear.family, cheap.family) == ("b", "a")
    middle = cheap.per_item_s
    assert (middle.low, middle.median, middle.high) == pytest.approx((10e-9, 20e-9, 30e-9))
    assert cheap.per_guard_s.median == pytest.approx(10e-9)
    assert (middle.n, dear.per_guard_s.n) == (3, 1)


def test_what_asv_stored_of_a_run_is_read_as_the_same_lines() -> None:
    measurements = guard_slopes({"a": 10e-9, "b": 50e-9})
    incomplete = {
        case: m for case, m in measurements.items() if str(case) != "bench_guards.Slope.track_seconds(b, per item)"
    }

    assert [line.family for line in slopes_of(run(0, measurements))] == ["b", "a"]
    (line,) = slopes_of(run(0, incomplete))
    stored = next(m for case, m in measurements.items() if case.params == (("family", "a"), ("part", "per guard")))
    assert stored.samples is not None
    spread = line.per_guard_s
    assert (spread.low, spread.high, spread.n) == (min(stored.samples), max(stored.samples), 5)


@pytest.mark.parametrize(
    ("n", "words"),
    [
        (1, "one process has no spread"),
        (3, "min-max, which holds the median with 75 % confidence, whatever the distribution"),
        (5, "min-max, which holds the median with 94 % confidence, whatever the distribution"),
        (8, "quartiles"),
    ],
)
def test_how_far_a_range_is_to_be_trusted_is_said_by_its_number_of_processes(n: int, words: str) -> None:
    assert range_words(n) == words
