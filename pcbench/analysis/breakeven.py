"""From how many calls a strategy's start is paid for, and from how many starts its capture is.

Starts are compared by their medians; later calls pair by pair, since strategy and eager were timed in turn. Where
several processes took pairs, each gives one value, its median: the pairs of a process share what it was lucky with.
"""

from __future__ import annotations

import itertools
import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from pcbench.analysis.comparison import Row
from pcbench.analysis.quantities import counted
from pcbench.analysis.spread import median_interval


@dataclass(frozen=True)
class Gain:
    """Seconds that a later call takes less than eager's: the median, and the interval it lies in.

    Attributes:
        ratio: Median of strategy / eager: below 1 is faster than eager; ``ratio_low`` and ``ratio_high`` as above.
        n: Processes that timed calls, or pairs where it was one process.
    """

    median_s: float
    low_s: float
    high_s: float
    ratio: float
    ratio_low: float
    ratio_high: float
    n: int

    @property
    def real_s(self) -> float:
        """The median, or 0 where the interval holds 0: a gain within the spread is none."""
        return 0.0 if self.low_s <= 0.0 <= self.high_s else self.median_s


def gain(row: Row) -> Gain | None:
    """What a later call of the row's strategy saves; None where the later calls were not timed."""
    pairs = list(zip(row.eager_call_s, row.call_s, strict=False))
    if not pairs:
        return None
    differences = _independent([eager - call for eager, call in pairs], row.pairs_by_process)
    ratios = _independent([call / eager for eager, call in pairs], row.pairs_by_process)
    return Gain(
        statistics.median(differences),
        *median_interval(differences),
        statistics.median(ratios),
        *median_interval(ratios),
        len(differences),
    )


def _independent(values: list[float], counts: tuple[int, ...]) -> list[float]:
    """The median of each process's values, where there are several processes; else the values."""
    processes = by_process(values, counts)
    return [statistics.median(own) for own in processes] if len(processes) > 1 else values


def by_process(values: Sequence[float], counts: tuple[int, ...]) -> list[Sequence[float]]:
    """Values of pairs as their processes took them; all as one where that is not known."""
    if len(counts) < 2 or sum(counts) != len(values):
        return [values]
    ends = list(itertools.accumulate(counts))
    return [values[end - count : end] for end, count in zip(ends, counts, strict=True) if count]


def start_difference(row: Row, other: Row) -> tuple[float, float]:
    """Bounds of the seconds by which the row's start is longer; negative is shorter. Both rows must have samples.

    Samples of the same round are compared pair by pair; rows with different numbers of samples by their extremes.
    """
    ours, theirs = row.start_s, other.start_s
    if len(ours) == len(theirs):
        return median_interval([a - b for a, b in zip(ours, theirs, strict=True)])
    return min(ours) - max(theirs), max(ours) - min(theirs)


@dataclass(frozen=True)
class BreakEven:
    """The calls per process start for which a strategy costs less than eager: from ``calls``, below ``until``.

    Attributes:
        calls: 0 where it is ahead at its first output, infinite where it never is.
        until: Infinite where it stays ahead; a strategy that starts faster and calls slower is ahead below this.
    """

    calls: float
    until: float = math.inf

    def __str__(self) -> str:
        if math.isinf(self.calls):
            return "never"
        if math.isfinite(self.until):
            return f"up to {counted(math.ceil(self.until), 'call')}"
        return "at once" if self.calls == 0 else f"from {counted(math.ceil(self.calls), 'call')}"


def break_even(row: Row, eager: Row | None) -> BreakEven | None:
    """Where the strategy's total time crosses eager's; None where either was not measured.

    (strategy's start to first output - eager's) / (eager's call - strategy's call), where the latter is the median over
    pairs and counts as 0 when it lies within their spread.
    """
    saved = gain(row)
    if saved is None or eager is None or not (row.counts and eager.counts):
        return None
    return crossing(statistics.median(row.start_s) - statistics.median(eager.start_s), saved.real_s)


def crossing(penalty_s: float, gain_s: float) -> BreakEven:
    """The crossing for a start that takes ``penalty_s`` longer than eager's and a call that takes ``gain_s`` less."""
    if penalty_s <= 0:
        return BreakEven(0.0) if gain_s >= 0 else BreakEven(0.0, penalty_s / gain_s)
    return BreakEven(penalty_s / gain_s if gain_s > 0 else math.inf)


def pays_back(row: Row, eager: Row | None, calls_per_start: int) -> float | None:
    """Process starts, of so many calls each, until capture and save have paid for themselves: infinite for never.

    None where capture, start or calls were not measured.
    """
    saved = gain(row)
    if not row.capture_s or saved is None or eager is None or not (row.counts and eager.counts):
        return None
    spent = statistics.median(row.capture_s) + (statistics.median(row.save_s) if row.save_s else 0.0)
    penalty = statistics.median(row.start_s) - statistics.median(eager.start_s)
    per_start = calls_per_start * saved.real_s - penalty
    return spent / per_start if per_start > 0 else math.inf
