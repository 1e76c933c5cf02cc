"""What ``pcbench guards`` found out about one target on one torch build."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from pcbench.analysis.spread import Spread, spread
from pcbench.guard_causes import Remedies, Subtrees
from pcbench.guard_samples import DIFFERENCES, MEASURES, Cost, Counted, Sweep, seconds_of

SCHEMA = 1


@dataclass(frozen=True)
class GuardReport:
    """One target on one torch build.

    Attributes:
        build: What people call the build.
        counted: None where ``problems`` says why there is no census.
        costs, sweeps, subtrees, remedies: One per process.
        instructions: Of a check, some times over, by the size of a family; empty where they were not counted.
        counted_by: How instructions were counted.
        problems: Part to the reason why it is not known.
    """

    target: str
    build: str
    counted: Counted | None = None
    costs: tuple[Cost, ...] = ()
    sweeps: tuple[Sweep, ...] = ()
    subtrees: tuple[Subtrees, ...] = ()
    remedies: tuple[Remedies, ...] = ()
    instructions: Mapping[int, tuple[float, ...]] = field(default_factory=dict)
    counted_by: str | None = None
    problems: Mapping[str, str] = field(default_factory=dict)


def of_processes(costs: Sequence[Cost], measure: str) -> tuple[float, ...]:
    """A measure's seconds, one per process that has samples."""
    return tuple(found for cost in costs if (found := seconds_of(cost, measure)) is not None)


def measures(costs: Sequence[Cost]) -> list[str]:
    """Those that a process has samples of, and the differences, in the order in which they are shown."""
    taken = dict.fromkeys(measure for cost in costs for measure in cost.samples)
    further = (measure for measure in taken if measure not in MEASURES)
    return [*(measure for measure in MEASURES if measure in taken), *further, *DIFFERENCES]


def over_processes(costs: Sequence[Cost], measure: str) -> Spread | None:
    """The middle of :func:`of_processes`, and their spread; None without samples."""
    return spread(of_processes(costs, measure))
