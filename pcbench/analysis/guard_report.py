"""What ``pcbench guards`` found out about one target on one torch build."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from pcbench.analysis.spread import Spread, spread
from pcbench.guard_causes import Remedies, Subtrees
from pcbench.guard_samples import DIFFERENCES, Cost, Counted, Sweep

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

    @property
    def torch(self) -> str | None:
        """The version of torch, where it is known."""
        return None if self.counted is None else self.counted.torch


def of_processes(costs: Sequence[Cost], measure: str) -> tuple[float, ...]:
    """A measure's seconds, one per process: the least of its blocks, or the middle of a difference's pairs."""
    if measure in DIFFERENCES:
        plus, minus = DIFFERENCES[measure]
        taken = [(cost.samples.get(plus, ()), cost.samples.get(minus, ())) for cost in costs]
        pairs = [[a - b for a, b in zip(first, second, strict=False)] for first, second in taken]
        return tuple(statistics.median(differences) for differences in pairs if differences)
    return tuple(min(cost.samples[measure]) for cost in costs if cost.samples.get(measure))


def over_processes(costs: Sequence[Cost], measure: str) -> Spread | None:
    """The middle of :func:`of_processes`, and their spread; None without samples."""
    return spread(of_processes(costs, measure))
