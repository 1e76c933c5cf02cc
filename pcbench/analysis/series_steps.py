"""The steps of many series, for reports: where each case's level changed, and at which commit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pcbench.analysis.history import exact
from pcbench.analysis.nights import all_nights
from pcbench.analysis.policy import Policy
from pcbench.analysis.records import Case, Run
from pcbench.analysis.series import Place, by_place
from pcbench.analysis.steps import exact_steps, steps

NEWEST = 250
"""Commits that are searched, the newest: the search takes time that grows with their square."""


@dataclass(frozen=True)
class StepAt:
    """A lasting change of a series.

    Attributes:
        at: The first commit of the new level: its index among the place's runs.
        before, after: The levels, in the series' unit: of the least of the samples, where there are several.
    """

    at: int
    before: float
    after: float

    @property
    def ratio(self) -> float | None:
        """after / before, where both are above 0."""
        return self.after / self.before if self.before > 0 and self.after > 0 else None


def all_steps(runs: Sequence[Run], policy: Policy) -> dict[tuple[Place, Case], tuple[StepAt, ...]]:
    """The steps of each case that has any: those of ``pcbench history``, among the newest commits of each stretch."""
    index = {place: {run.commit: at for at, run in enumerate(ordered)} for place, ordered in by_place(runs).items()}
    found: dict[tuple[Place, Case], tuple[StepAt, ...]] = {}
    for one in all_nights(runs):
        place, key = one.stretch.place, (one.stretch.place, one.case)
        first = max(0, len(one.values) - NEWEST)
        values = one.values[first:]
        located = exact_steps(values) if exact(one) else steps(values, policy.of(one.case))
        if located:
            nights = one.stretch.nights
            at = [index[place][nights[first + step.index].commit] for step in located]
            here = tuple(StepAt(a, step.before, step.after) for a, step in zip(at, located, strict=True))
            found[key] = found.get(key, ()) + here
    return found
