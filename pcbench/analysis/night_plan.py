"""What a night measures within its budget: what earlier nights took, and what is left out first. Pure: no clock.

Repetitions go first, of timings that have been quiet; then the older commits of the range; then the slowest timings,
those that were measured most recently. Exact counts and the newest commit are never left out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pcbench.analysis.policy import Policy
from pcbench.analysis.quantities import counted, listed

_NAMED = 3


@dataclass(frozen=True)
class Cost:
    """What a benchmark, with all its parameters, took the last times.

    Attributes:
        seconds: With all repetitions; None where no earlier night measured it so.
        few_seconds: With few; None likewise.
        timing: Whether it gives times: only those may be left out, or repeated less.
        quiet: Whether none of its cases was a suspect when it was last judged.
        idle: Since how many results it has not been measured; 0 is the newest.
    """

    benchmark: str
    seconds: float | None
    timing: bool
    few_seconds: float | None = None
    quiet: bool = True
    idle: int = 0


@dataclass(frozen=True)
class Plan:
    """What is measured of a night.

    Attributes:
        commits: Newest first; at least one.
        few: Benchmarks that are repeated less.
        left_out: Benchmarks that are not measured tonight.
        seconds: What it is expected to take; None where no earlier night tells.
        dropped: What is not measured and why, a sentence each.
    """

    commits: tuple[str, ...]
    few: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
    seconds: float | None = None
    dropped: tuple[str, ...] = ()


def plan(commits: Sequence[str], benchmarks: Sequence[Cost], budget_s: float, policy: Policy) -> Plan:
    """What fits into the suite's share of a budget.

    Args:
        commits: Those that are new, newest first; at least one.
        benchmarks: Those of the suite; of what no earlier night measured nothing is known, and it is measured in any
            case.
        budget_s: The suite's share.
    """
    known = [cost for cost in benchmarks if _seconds(cost, policy) is not None]
    if not known:
        if len(commits) > 1:
            older = counted(len(commits) - 1, "older commit")
            return Plan(tuple(commits[:1]), dropped=(f"left out {older}: no earlier night tells what a commit takes",))
        return Plan(tuple(commits))
    chosen, few, left = list(commits), set[str](), set[str]()
    dropped: list[str] = []

    def a_commit() -> float:
        return sum(_of(cost, few, policy) for cost in known if cost.benchmark not in left)

    whole = a_commit()
    if len(chosen) * whole > budget_s:
        few |= {cost.benchmark for cost in known if cost.timing and cost.quiet}
        if few and a_commit() < whole:
            dropped.append(f"fewer repetitions of {_names(sorted(few))}: quiet in the last results")
        else:
            few.clear()
    fits = max(1, int(budget_s // a_commit()) if a_commit() > 0 else len(chosen))
    if fits < len(chosen):
        dropped.append(f"left out {counted(len(chosen) - fits, 'older commit')} of {len(chosen)}")
        del chosen[fits:]
    # The most recently measured first, so that what is left out tonight is measured tomorrow; of those, the slowest.
    by_turn = sorted(known, key=lambda each: (each.idle, -_of(each, few, policy), each.benchmark))
    for cost in by_turn:
        if a_commit() <= budget_s:
            break
        if cost.timing and cost.quiet and cost.idle < policy.night_idle:
            left.add(cost.benchmark)
    for cost in reversed(by_turn):
        if cost.benchmark in left and a_commit() + _of(cost, few, policy) <= budget_s:
            left.remove(cost.benchmark)
    if left:
        saved = sum(_of(cost, few, policy) for cost in known if cost.benchmark in left)
        dropped.append(f"left out {_names(sorted(left))}: {_minutes(saved)} of timings that were measured last")
    total = len(chosen) * a_commit()
    if total > budget_s:
        dropped.append(
            f"over its share of {_minutes(budget_s)}: the rest is never left out, and takes {_minutes(total)}"
        )
    return Plan(tuple(chosen), tuple(sorted(few - left)), tuple(sorted(left)), total, tuple(dropped))


def costs(
    results: Sequence[Mapping[str, tuple[float, bool]]], timings: Mapping[str, bool], restless: Sequence[str]
) -> list[Cost]:
    """The cost of each benchmark of the suite.

    Args:
        results: Of each result, newest first: benchmark to (seconds, whether it was repeated less).
        timings: The suite's benchmarks, and which are timings.
        restless: Benchmarks with a suspect when they were last judged.
    """
    found = []
    for name, timing in timings.items():
        full = next((told[name][0] for told in results if name in told and not told[name][1]), None)
        few = next((told[name][0] for told in results if name in told and told[name][1]), None)
        idle = next((index for index, told in enumerate(results) if name in told), len(results))
        found.append(Cost(name, full, timing, few, name not in restless, idle))
    return found


def _seconds(cost: Cost, policy: Policy) -> float | None:
    if cost.seconds is not None:
        return cost.seconds
    return None if cost.few_seconds is None else cost.few_seconds / policy.night_few


def _of(cost: Cost, few: set[str], policy: Policy) -> float:
    whole = _seconds(cost, policy) or 0.0
    if cost.benchmark not in few:
        return whole
    return cost.few_seconds if cost.few_seconds is not None else policy.night_few * whole


def _names(names: Sequence[str]) -> str:
    if len(names) <= _NAMED:
        return listed(names)
    return f"{', '.join(names[:_NAMED])} and {len(names) - _NAMED} more"


def _minutes(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 120 else f"{seconds / 60:.0f} minutes"
