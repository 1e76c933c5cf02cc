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
        commits: How many commits the place has, with and without a number of this case.
    """

    place: Place
    case: Case
    points: tuple[tuple[int, Measurement], ...]
    commits: int

    @property
    def newest(self) -> Measurement | None:
        """The number at the place's newest commit; None where the case has none there."""
        index, measurement = self.points[-1]
        return measurement if index == self.commits - 1 else None

    @property
    def latest_ratio(self) -> float | None:
        """The newest commit's value by that of the commit before; None without a ratio.

        There is none where either has no value, the older is 0, or a difference has changed its sign.
        """
        if [index for index, _ in self.points[-2:]] != [self.commits - 2, self.commits - 1]:
            return None
        (_, before), (_, after) = self.points[-2:]
        return after.value / before.value if before.value and after.value * before.value >= 0 else None


def by_place(runs: Sequence[Run]) -> dict[Place, list[Run]]:
    """The runs of each place, by commit date."""
    found: dict[Place, list[Run]] = {}
    for run in sorted(runs, key=lambda run: (run.date, run.commit)):
        found.setdefault(Place(run.machine.name, run.environment), []).append(run)
    return found


def newest_runs(runs: Sequence[Run]) -> list[Run]:
    """The newest run of each place: that of the newest commit first, then of the place with the most commits."""
    ordered = sorted(by_place(runs).values(), key=lambda each: (each[-1].date, len(each)), reverse=True)
    return [each[-1] for each in ordered]


def all_series(runs: Sequence[Run]) -> list[Series]:
    """A series for every case that has a number in any run."""
    series = []
    for place, ordered in by_place(runs).items():
        found: dict[Case, list[tuple[int, Measurement]]] = {}
        for index, run in enumerate(ordered):
            for case, measurement in run.measurements.items():
                found.setdefault(case, []).append((index, measurement))
        series += [Series(place, case, tuple(points), len(ordered)) for case, points in found.items()]
    return series


def lost(runs: Sequence[Run]) -> list[tuple[Place, Case]]:
    """The cases that have no number at their place's newest commit and had one before; not those that it left out."""
    return [
        (place, case)
        for place, (*earlier, newest) in by_place(runs).items()
        for case, absence in newest.absences.items()
        if not absence.not_measured and any(case in run.measurements for run in earlier)
    ]
