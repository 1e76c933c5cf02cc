"""The middle of samples and how far they spread; nothing else in pcbench computes either."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

_FEW = 8
"""Fewer samples have no quartiles of their own, only values between neighbours: their range is shown."""

_CONFIDENCE = 0.99


@dataclass(frozen=True)
class Spread:
    """A median with the spread around it; :func:`kind_of` says what low and high are."""

    median: float
    low: float
    high: float
    n: int


def kind_of(n: int) -> str:
    """Which spread is shown for ``n`` samples: ``min-max`` for fewer than 8, else ``quartiles``."""
    return "min-max" if n < _FEW else "quartiles"


def spread(samples: Sequence[float]) -> Spread | None:
    """The median of the samples and their spread; None without samples."""
    if not samples:
        return None
    low, high = min(samples), max(samples)
    if len(samples) >= _FEW:
        low, _, high = statistics.quantiles(samples, n=4, method="inclusive")
    return Spread(statistics.median(samples), low, high, len(samples))


def median_interval(samples: Sequence[float]) -> tuple[float, float]:
    """Bounds that hold the true median with 99 % confidence, whatever the distribution; min and max of fewer than 8.

    The samples must be independent, and at least one.
    """
    ordered = sorted(samples)
    n = len(ordered)
    outside, rank = 0.5**n, 0
    # The interval from rank to n-1-rank misses the median with probability 2 * P(at most rank of n heads).
    while rank + 1 < n / 2 and 2 * (outside + math.comb(n, rank + 1) * 0.5**n) <= 1 - _CONFIDENCE:
        rank += 1
        outside += math.comb(n, rank) * 0.5**n
    return ordered[rank], ordered[n - 1 - rank]
