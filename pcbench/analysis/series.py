"""Runs as series: the same case, machine and environment over commits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pcbench.analysis.records import Case, Measurement, Run


@dataclass(frozen=True)
class Place:
    """Where a run was measured; runs of different places are never one series."""

    machine: str
    environment: str

    def __str__(self) -> str:
        return f"{self.environment} on {self.machine}"


@dataclass(frozen=True)
class Series:
    """A case's measurements at one place, by commit date.

    Attributes:
        points: (index of the commit among the place's runs, measurement).
    """

    place: Place
    case: Case
    points: tuple[tuple[int, Measurement], ...]

    @property
    def latest_ratio(self) -> float | None:
        """The newest value by the one before it; None where there are not two, or the older is 0."""
        if len(self.points) < 2:
            return None
        (_, before), (_, after) = self.points[-2:]
        return after.value / before.value if before.value else None

    @property
    def left_spread(self) -> bool | None:
        """Whether the newest lies apart from the one before it: quartiles that do not overlap, or another count.

        None where that cannot be said: one of them is missing, or is a single sample.
        """
        if len(self.points) < 2:
            return None
        (_, before), (_, after) = self.points[-2:]
        if before.n is None and after.n is None:
            return before.value != after.value
        if before.low is None or before.high is None or after.low is None or after.high is None:
            return None
        return after.low > before.high or after.high < before.low


def by_place(runs: Sequence[Run]) -> dict[Place, list[Run]]:
    """The runs of each place, by commit date."""
    found: dict[Place, list[Run]] = {}
    for run in sorted(runs, key=lambda run: (run.date, run.commit)):
        found.setdefault(Place(run.machine.name, run.environment), []).append(run)
    return found


def all_series(runs: Sequence[Run]) -> list[Series]:
    """A series for every case that has a number in any run."""
    found: dict[tuple[Place, Case], list[tuple[int, Measurement]]] = {}
    for place, ordered in by_place(runs).items():
        for index, run in enumerate(ordered):
            for case, measurement in run.measurements.items():
                found.setdefault((place, case), []).append((index, measurement))
    return [Series(place, case, tuple(points)) for (place, case), points in found.items()]
