import itertools

import pytest

from pcbench.analysis.spread import kind_of, median_interval, spread


def test_no_samples_have_no_spread() -> None:
    assert spread([]) is None


def test_few_samples_show_their_range_and_say_so() -> None:
    found = spread([3.0, 1.0, 2.0])

    assert found is not None
    assert (found.median, found.low, found.high, found.n, kind_of(found.n)) == (2.0, 1.0, 3.0, 3, "min-max")


def test_many_samples_show_their_quartiles_and_say_so() -> None:
    found = spread([float(i) for i in range(101)])

    assert found is not None
    assert (found.median, found.low, found.high, kind_of(found.n)) == (50.0, 25.0, 75.0, "quartiles")


@pytest.mark.parametrize("n", [1, 2, 5, 7, 8, 9, 11, 12, 13])
def test_the_interval_is_the_narrowest_that_misses_the_median_in_one_of_a_hundred_series(n: int) -> None:
    """Reference: every way in which n samples can fall below or above the median, counted."""
    heads = [sum(flips) for flips in itertools.product((0, 1), repeat=n)]

    def missed(rank: int) -> float:
        return sum(count <= rank or count >= n - rank for count in heads) / len(heads)

    allowed = [rank for rank in range((n + 1) // 2) if missed(rank) <= 0.01]
    rank = max(allowed, default=0)
    values = [float(i) for i in range(n)]

    assert median_interval(values[::-1]) == (values[rank], values[n - 1 - rank])
