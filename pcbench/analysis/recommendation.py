"""One way of saving out of a comparison: the one that takes least time in all, and what that assumes."""

from __future__ import annotations

import math
import statistics
from dataclasses import asdict, dataclass

from pcbench.analysis.breakeven import Gain, break_even, gain, start_difference
from pcbench.analysis.comparison import Comparison, Row, with_calls
from pcbench.analysis.quantities import digits, seconds
from pcbench.samples import EAGER
from pcbench.status import Status

CALLS_PER_START = 1000
"""Calls that a process serves between its start and its end, where nobody said how many it does."""

_ENOUGH = 2
"""One sample has no spread: it cannot say that a difference is one."""

MEANING = {
    "cold": "a fresh process with empty compiler caches",
    "warm": "a fresh process with the caches that the capture left",
    "hot": "a second load in the same process",
}


@dataclass(frozen=True)
class Recommendation:
    """Which way to save, and why.

    Attributes:
        strategy: A strategy or ``eager``; None where nothing could be weighed.
        reason, assumes: A sentence each.
        temperature: The starts that were weighed; None where nothing was.
        toss_up: Strategies that differ from the recommended one by no more than the spread.
        n: The fewest samples behind any row that was weighed.
    """

    strategy: str | None
    reason: str
    assumes: str
    temperature: str | None
    calls_per_start: int
    toss_up: tuple[str, ...] = ()
    n: int = 0

    def __str__(self) -> str:
        if self.strategy is None:
            return f"Recommended: nothing; {self.reason}."
        return f"Recommended: {self.strategy}; {self.reason}. It assumes {self.assumes}."

    def to_json(self) -> dict[str, object]:
        """For the ``recommendation`` of a comparison's JSON."""
        return asdict(self) | {"toss_up": list(self.toss_up)}


@dataclass(frozen=True)
class _Candidate:
    row: Row
    gain: Gain
    total_s: float


def recommend(
    comparison: Comparison, *, calls_per_start: int = CALLS_PER_START, temperature: str | None = None
) -> Recommendation:
    """The strategy, or eager, whose start and calls take least time in all.

    Only rows with status OK are weighed, and those with one sample only where no strategy has two.

    Args:
        comparison: What was measured.
        calls_per_start: Calls assumed between a process's start and its end.
        temperature: Starts to weigh; without it cold ones, or the next warmer that have two samples.
    """
    comparison = with_calls(comparison)
    wanted = comparison.temperatures if temperature is None else (temperature,)
    choices = [(t, enough) for enough in (_ENOUGH, 1) for t in wanted]
    for chosen, enough in choices:
        candidates = _candidates(comparison, chosen, calls_per_start, enough)
        if any(candidate.row.strategy != EAGER for candidate in candidates):
            return _chosen(comparison, candidates, chosen, calls_per_start)
    assumes = f"{digits(calls_per_start)} calls per process start"
    return Recommendation(None, _nothing(comparison), assumes, None, calls_per_start)


def _candidates(comparison: Comparison, temperature: str, calls: int, enough: int) -> list[_Candidate]:
    """Those that can be weighed, the least total first."""
    eager_call_s = eager_call(comparison)
    found = []
    for row in comparison.rows:
        saved = Gain(0.0, 0.0, 0.0, 1.0, 0) if row.strategy == EAGER else gain(row)
        if row.temperature == temperature and row.counts and len(row.samples) >= enough and saved is not None:
            total_s = statistics.median(row.start_s) + calls * (eager_call_s - saved.median_s)
            found.append(_Candidate(row, saved, total_s))
    return sorted(found, key=lambda candidate: candidate.total_s)


def eager_call(comparison: Comparison) -> float:
    """Seconds of eager's later call: the median over all pairs; 0 where none was timed."""
    timed = [
        value
        for row in comparison.rows
        if row.counts
        for value in (row.eager_call_s or (row.call_s if row.strategy == EAGER else ()))
    ]
    return statistics.median(timed) if timed else 0.0


def _chosen(comparison: Comparison, candidates: list[_Candidate], temperature: str, calls: int) -> Recommendation:
    best, *others = candidates
    equal = tuple(other.row.strategy for other in others if not _apart(best, other, calls))
    n = min(len(candidate.row.samples) for candidate in candidates)
    many = f"{digits(calls)} calls per {temperature} start"
    reason = f"over {many} it takes {seconds(best.total_s)} in all"
    eager = next((c for c in candidates if c.row.strategy == EAGER), None)
    if eager is None:
        reason += ", eager could not be weighed"
    elif eager is not best:
        reason += f", eager {seconds(eager.total_s)} ({eager.total_s / best.total_s:.2f} times as long)"
    elif others:
        reason += _later(others, best)
    following = next((other for other in others if other is not eager), None)
    if following is not None:
        reason += f", the next best, {following.row.strategy}, {seconds(following.total_s)}"
    if n < _ENOUGH:
        reason += "; each rests on n=1 sample, which decides nothing: measure again with more samples"
    elif equal:
        reason += f"; {_list(equal)} {'is' if len(equal) == 1 else 'are'} within the spread of it: a toss-up"
    unweighed = sorted(
        {row.strategy for row in comparison.rows if row.temperature == temperature and row.status is Status.OK}
        - {candidate.row.strategy for candidate in candidates}
    )
    if unweighed:
        reason += f"; not weighed for want of samples or later calls: {_list(tuple(unweighed))}"
    assumes = f"{many} ({MEANING[temperature]}), and that time is what counts"
    return Recommendation(best.row.strategy, reason, assumes, temperature, calls, equal, n)


def _later(others: list[_Candidate], eager: _Candidate) -> str:
    """Which strategy is the first to overtake eager, and from how many calls."""
    evens = [(break_even(other.row, eager.row), other.row.strategy) for other in others]
    first = min(
        ((even, name) for even, name in evens if even is not None), key=lambda pair: pair[0].calls, default=None
    )
    if first is None or math.isinf(first[0].calls) or first[0].calls == 0:
        return ""
    return f" ({first[1]} costs less {first[0]})"


def _apart(one: _Candidate, other: _Candidate, calls: int) -> bool:
    """Whether the totals differ by more than the spread of starts and calls."""
    low, high = start_difference(one.row, other.row)
    low -= calls * (one.gain.high_s - other.gain.low_s)
    high -= calls * (one.gain.low_s - other.gain.high_s)
    return not low <= 0.0 <= high


def _list(names: tuple[str, ...]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _nothing(comparison: Comparison) -> str:
    if not any(row.strategy != EAGER for row in comparison.rows):
        return "no strategy was measured"
    if not any(row.counts and row.strategy != EAGER for row in comparison.rows):
        return "no strategy loaded and gave eager's answer"
    return "the later calls of no strategy were timed"
