"""What is known of a target's guards as lines of a terminal."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Sequence

from pcbench.analysis.columns import aligned, grouped
from pcbench.analysis.guard_cause_lines import over, remedy_lines, subtree_lines
from pcbench.analysis.guard_report import GuardReport, measures, over_processes
from pcbench.analysis.guard_slope_lines import slope_lines
from pcbench.analysis.quantities import counted, digits, with_spread
from pcbench.guard_samples import DIFFERENCES, MEASURES, Cost, Counted, is_value

_WIDTH = 118
_MOST_UNSTABLE = 8
_TYPES = ": "
"""Between an entry and a type that is counted in it: ``guards: TENSOR_MATCH``."""


def guard_lines(reports: Sequence[GuardReport]) -> list[str]:
    """A block per target and part; families that were swept are one table."""
    alone = len(reports) == 1
    blocks = [_target_lines(report) for report in reports if alone or not report.sweeps]
    if any(report.sweeps for report in reports):
        blocks.append(slope_lines(reports))
    return "\n\n".join("\n".join(block) for block in blocks if block).splitlines()


def _target_lines(report: GuardReport) -> list[str]:
    blocks = [[headline(report)]]
    if report.counted is not None:
        blocks.append(census_lines(report.counted))
    if report.costs:
        blocks.append(cost_lines(report.costs))
    if report.subtrees:
        blocks.append(subtree_lines(report.subtrees))
    if report.remedies:
        blocks.append(remedy_lines(report.remedies))
    if report.instructions and not report.sweeps:
        blocks.append(instruction_lines(report))
    return "\n\n".join("\n".join(block) for block in blocks if block).splitlines()


def headline(report: GuardReport) -> str:
    """``encoder on torch 2.15.0: 154 guards on 85 values, 1 frame``."""
    if report.counted is None:
        return f"{report.target} on {report.build}"
    census = report.counted.census
    guarded = sum(bool(place.guards) for name, place in census.places.items() if is_value(name))
    told = f"{counted(census.counts.get('guards', 0), 'guard')} on {counted(guarded, 'value')}"
    frames = counted(census.counts.get("frames", 0), "frame")
    return f"{report.target} on torch {report.counted.torch}: {told}, {frames}"


def census_lines(counted: Counted) -> list[str]:
    """Every entry, those of a kind's types in one line; what this torch does not tell; what is not exact."""
    counts = counted.census.counts
    by_kind: dict[str, list[tuple[int, str]]] = {}
    for entry, count in counts.items():
        kind, separator, one = entry.partition(_TYPES)
        if separator:
            by_kind.setdefault(kind, []).append((count, one))
    rows = [
        (entry, digits(count), _types(by_kind.pop(entry, ()))) for entry, count in counts.items() if _TYPES not in entry
    ]
    rows += [(kind, "", _types(types)) for kind, types in by_kind.items()]
    lines = ["census: counts of guards", *(line for row in aligned(rows) for line in _wrapped(row))]
    lines += [f"unknown: {line}" for line in grouped(list(counted.census.unknown.items()))]
    return lines + unstable_lines(counted)


def _wrapped(row: str) -> list[str]:
    """A row whose last column goes on below itself."""
    start = re.match(r"\S+( \S+)*(  +\S+)?  +", row)
    indent = " " * (start.end() if start else 0)
    return textwrap.wrap(row, _WIDTH, subsequent_indent=indent, drop_whitespace=True) or [row]


def instruction_lines(report: GuardReport) -> list[str]:
    """Instructions of a check, and how they were counted."""
    return [
        f"instructions per check: {min(counts):,.0f}, by {report.counted_by}; the least of "
        f"{counted(len(counts), 'compilation')}, within {max(counts) / min(counts) - 1:.3%}"
        for counts in report.instructions.values()
    ]


def unstable_lines(counted: Counted) -> list[str]:
    """Entries that two processes with different hash seeds tell differently: no count can be judged by them."""
    lines = [
        f"not exact: {entry} is {one} in one process and {other} in another"
        for entry, (one, other) in counted.differing.items()
    ]
    more = len(lines) - _MOST_UNSTABLE
    lines = [*lines[:_MOST_UNSTABLE], f"not exact: {digits(more)} more"] if more > 0 else lines
    return [*lines, "two processes build it differently: seed what it makes at random"] if lines else []


def cost_lines(costs: Sequence[Cost]) -> list[str]:
    """A line per measure, then the differences, then why a measure has no number."""
    rows = [_row(costs, measure) for measure in measures(costs)]
    lines = [
        "time per call: graphs answer from memory, and run where gradients flow;",
        f"the least of a process's blocks, and of differences the middle of pairs of blocks{over(costs)}",
        *aligned([row for row in rows if row is not None]),
    ]
    return lines + [f"unavailable: {line}" for line in grouped(unavailable(costs))]


def unavailable(costs: Sequence[Cost]) -> list[tuple[str, str]]:
    """Measures and the reasons why they have no samples."""
    return list(dict.fromkeys(pair for cost in costs for pair in cost.unavailable.items()))


def _row(costs: Sequence[Cost], measure: str) -> tuple[str, str, str] | None:
    found = over_processes(costs, measure)
    meaning = MEASURES.get(
        measure,
        "pair by pair" if measure in DIFFERENCES else "of a function around it, whose entries differ in one string",
    )
    return None if found is None else (measure, with_spread(found, "seconds"), meaning)


def _types(types: Sequence[tuple[int, str]]) -> str:
    return ", ".join(f"{name} {digits(count)}" for count, name in sorted(types, key=lambda t: (-t[0], t[1])) if count)
