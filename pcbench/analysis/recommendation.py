"""One way of saving out of a comparison: the one that takes least time in all, and what that assumes."""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace

from pcbench.analysis.breakeven import Gain, break_even, by_process, gain, start_difference
from pcbench.analysis.comparison import Comparison, Row, with_calls
from pcbench.analysis.quantities import counted, listed, seconds
from pcbench.samples import EAGER
from pcbench.status import Status

CALLS_PER_START = 1000
"""Calls that a process serves between its start and its end, where nobody said how many it does."""

_ENOUGH = 2
"""One sample has no spread: it cannot say that a difference is one."""

MEANING = {
    "cold": "a fresh process with empty compiler caches",
    "bundled": "a fresh process with the caches that its artifact carries",
    "warm": "a fresh process with the caches that the capture left",
    "hot": "a second load in the same process",
}


_WEIGHED = "time alone, not memory, size, or whether the model's code must be present"

_NOISY = 5.0
"""Median by minimum of eager's calls within a process from which on something else had the CPUs: quiet ones stay
below 2."""


@dataclass(frozen=True)
class Recommendation:
    """Which way to save, and why.

    Attributes:
        strategy: A strategy or ``eager``; None where nothing could be weighed. With ``n`` 1 it leads, no more.
        reason: What it needs and the others need, or why nothing could be weighed.
        assumes: The starts and calls that the totals are of.
        temperature: The starts that were weighed; None where nothing was.
        toss_up: Strategies that differ from the recommended one by no more than the spread.
        n: The fewest samples behind any row that was weighed.
        totals_s: Seconds of one start and its calls, by strategy, the least first.
        warning: Why the calls may not be worth much; None where nothing was noticed.
    """

    strategy: str | None
    reason: str
    assumes: str
    temperature: str | None
    calls_per_start: int
    toss_up: tuple[str, ...] = ()
    n: int = 0
    totals_s: Mapping[str, float] = field(default_factory=dict)
    warning: str | None = None

    def __str__(self) -> str:
        if self.strategy is None:
            said = f"No recommendation: {self.reason}."
        elif not self.totals_s:
            said = f"Recommended: {self.strategy}, since nothing else worked: {self.reason}."
        elif self.n < _ENOUGH:
            said = (
                f"No recommendation from n=1 (one sample decides nothing); so far {self.strategy} leads: "
                f"with {self.assumes} it {self.reason}. Weighed: {_WEIGHED}."
            )
        else:
            said = f"Recommended: {self.strategy}. With {self.assumes} it {self.reason}. Weighed: {_WEIGHED}."
        return said if self.warning is None else f"{said} {self.warning}"

    def to_json(self) -> dict[str, object]:
        """For the ``recommendation`` of a comparison's JSON."""
        return asdict(self) | {"toss_up": list(self.toss_up)}


@dataclass(frozen=True)
class _Candidate:
    row: Row
    gain: Gain
    total_s: float


def recommend(comparison: Comparison, *, calls_per_start: int = CALLS_PER_START) -> Recommendation:
    """The strategy, or eager, whose start and calls take least time in all.

    Only rows with status OK are weighed, and those with one sample only where no strategy has two: cold starts, or the
    next warmer that have two samples. A gain per call that lies within its spread counts as none, as in the table.
    """
    comparison = with_calls(comparison)
    warning = _warning(comparison)
    for enough in (_ENOUGH, 1):
        for temperature in comparison.temperatures:
            candidates = _candidates(comparison, temperature, calls_per_start, enough)
            if any(candidate.row.strategy != EAGER for candidate in candidates):
                chosen = _chosen(comparison, candidates, temperature, calls_per_start)
                said = [text for text in (_failings(comparison, chosen.strategy), warning) if text is not None]
                return replace(chosen, warning=" ".join(said) or None)
    strategy, reason, n = _nothing(comparison)
    assumes = f"{counted(calls_per_start, 'call')} per process start"
    return Recommendation(strategy, reason, assumes, None, calls_per_start, n=n, warning=warning)


def _candidates(comparison: Comparison, temperature: str, calls: int, enough: int) -> list[_Candidate]:
    """Those that can be weighed, the least total first."""
    eager_call_s = eager_call(comparison)
    found = []
    for row in comparison.rows:
        saved = Gain(0.0, 0.0, 0.0, 1.0, 1.0, 1.0, 0) if row.strategy == EAGER else gain(row)
        if row.temperature == temperature and row.counts and len(row.samples) >= enough and saved is not None:
            total_s = statistics.median(row.start_s) + calls * (eager_call_s - saved.real_s)
            found.append(_Candidate(row, saved, total_s))
    return sorted(found, key=lambda candidate: candidate.total_s)


def eager_call(comparison: Comparison) -> float:
    """Seconds of eager's later call: the median over all pairs; 0 where none was timed."""
    timed = [value for row in comparison.rows if row.counts for value in _eager_calls(row)]
    return statistics.median(timed) if timed else 0.0


def _eager_calls(row: Row) -> tuple[float, ...]:
    return row.eager_call_s or (row.call_s if row.strategy == EAGER else ())


def _failings(comparison: Comparison, strategy: str | None) -> str | None:
    """Where a strategy failed beyond the ladder, which alone is weighed; None if nowhere."""
    known = (Status.OK, Status.UNAVAILABLE)
    failed = [f"with shape {r.shape}" for r in comparison.shapes if r.strategy == strategy and r.failed is not None]
    deployed = (r for r in comparison.deployed if r.strategy == strategy and r.status not in known)
    workers = (r for r in comparison.workers if r.strategy == strategy and r.status not in known)
    failed += [f"deployed ({row.condition})" for row in deployed]
    failed += [f"with {row.workers} workers ({row.temperature})" for row in workers]
    return f"Mind that {strategy} failed {listed(failed)}." if failed else None


def _warning(comparison: Comparison) -> str | None:
    processes = [
        own for row in comparison.rows if row.counts for own in by_process(_eager_calls(row), row.pairs_by_process)
    ]
    most = max((statistics.median(own) / min(own) for own in processes if own and min(own) > 0), default=0.0)
    if most <= _NOISY:
        return None
    return (
        f"eager's calls vary {most:.0f}-fold within a process: other work shares the CPUs; "
        "try --threads 1 or a quiet machine."
    )


def _chosen(comparison: Comparison, candidates: list[_Candidate], temperature: str, calls: int) -> Recommendation:
    best, *others = candidates
    equal = tuple(other.row.strategy for other in others if not _apart(best, other, calls))
    n = min(len(candidate.row.samples) for candidate in candidates)
    reason = f"needs {seconds(best.total_s)}"
    eager = next((c for c in candidates if c.row.strategy == EAGER), None)
    if others:
        reason += f"; {others[0].row.strategy}, the next best, {seconds(others[0].total_s)}"
    if eager is None:
        reason += "; eager could not be weighed"
    elif eager is best:
        reason += _later(others, best)
    elif eager is not others[0]:
        reason += f"; eager {seconds(eager.total_s)}"
    if equal and n >= _ENOUGH:
        reason += f"; {listed(equal)} {'is' if len(equal) == 1 else 'are'} within the spread of it: a toss-up"
    unweighed = sorted(
        {row.strategy for row in comparison.rows if row.temperature == temperature and row.status is Status.OK}
        - {candidate.row.strategy for candidate in candidates}
    )
    if unweighed:
        reason += f"; not weighed for want of samples or later calls: {listed(unweighed)}"
    assumes = f"{counted(calls, 'call')} per {temperature} start ({MEANING[temperature]})"
    totals = {candidate.row.strategy: candidate.total_s for candidate in candidates}
    return Recommendation(best.row.strategy, reason, assumes, temperature, calls, equal, n, totals)


def _later(others: list[_Candidate], eager: _Candidate) -> str:
    """Which strategy is the first to overtake eager, and from how many calls."""
    evens = [(break_even(other.row, eager.row), other.row.strategy) for other in others]
    first = min(
        ((even, name) for even, name in evens if even is not None), key=lambda pair: pair[0].calls, default=None
    )
    if first is None or math.isinf(first[0].calls) or first[0].calls == 0:
        return ""
    return f"; {first[1]} needs less {first[0]}"


def _apart(one: _Candidate, other: _Candidate, calls: int) -> bool:
    """Whether the totals differ by more than the spread of starts and calls."""
    low, high = start_difference(one.row, other.row)
    low -= calls * (one.gain.high_s - other.gain.low_s)
    high -= calls * (one.gain.low_s - other.gain.high_s)
    return not low <= 0.0 <= high


def _nothing(comparison: Comparison) -> tuple[str | None, str, int]:
    """What is left where no strategy can be weighed: eager where all others failed, why, and eager's samples."""
    others = [row for row in comparison.rows if row.strategy != EAGER]
    if not others:
        return None, "no strategy was measured", 0
    if any(row.counts for row in others):
        return None, "the later calls of no strategy were timed", 0
    failed = {row.strategy: row.status.value for row in others}
    reason = ", ".join(f"{strategy} {status}" for strategy, status in failed.items())
    eager = max((len(row.samples) for row in comparison.rows if row.strategy == EAGER and row.counts), default=0)
    if not eager:
        return None, f"no strategy loaded and gave eager's answer ({reason}), eager neither", 0
    return EAGER, f"no strategy loaded and gave eager's answer ({reason})", eager
