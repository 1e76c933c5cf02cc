"""A case's numbers over the nights of one place, cut where what they ran on changes: what steps are looked for in."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

import numpy as np

from pcbench.analysis.comparability import difference
from pcbench.analysis.kernel_cuts import Floats
from pcbench.analysis.records import Case, Kind, Measurement, Run, Worse
from pcbench.analysis.series import Place, by_place
from pcbench.analysis.stored_rules import compared


@dataclass(frozen=True)
class Night:
    """A commit that was measured."""

    commit: str
    date: datetime


@dataclass(frozen=True)
class Stretch:
    """Nights at one place, oldest first, over which all that they ran on stayed the same.

    Attributes:
        why: What changed at its first night; None where nothing was measured before.
        unknown: Runs left out of it, as nothing says what they ran on.
    """

    place: Place
    nights: tuple[Night, ...]
    why: str | None = None
    unknown: int = 0


@dataclass(frozen=True)
class NightSeries:
    """A case over a stretch.

    Attributes:
        values: One per night of the stretch, nan where it has none: the least of the samples, which other work on the
            machine disturbs least, else the number itself.
    """

    stretch: Stretch
    case: Case
    unit: str
    kind: Kind
    worse: Worse
    values: Floats

    @property
    def measured(self) -> int:
        """How many nights have a number."""
        return int(np.isfinite(self.values).sum())


def all_nights(runs: Sequence[Run]) -> list[NightSeries]:
    """A series for each case of each stretch, stretches oldest first within their place."""
    found = []
    for place, ordered in by_place(runs).items():
        for stretch, members in _stretches(place, ordered):
            found += _series(stretch, members)
    return found


def stretches_of(series: Collection[NightSeries]) -> tuple[Stretch, ...]:
    """The stretches that series are of, each once."""
    return tuple({id(one.stretch): one.stretch for one in series}.values())


def _stretches(place: Place, ordered: Sequence[Run]) -> list[tuple[Stretch, list[Run]]]:
    """Runs without a sidecar among runs with one belong to no stretch: what they ran on may be anything."""
    told = any(run.context is not None for run in ordered)
    found: list[tuple[Stretch, list[Run]]] = []
    unknown = 0
    for run in ordered:
        if told and run.context is None:
            unknown += 1
            continue
        why = difference(found[-1][1][-1], run) if found else None
        if not found or why is not None:
            found.append((Stretch(place, (), why), []))
        found[-1][1].append(run)
    return [
        (replace(stretch, nights=tuple(Night(run.commit, run.date) for run in members), unknown=unknown), members)
        for stretch, members in found
    ]


def _series(stretch: Stretch, members: Sequence[Run]) -> list[NightSeries]:
    values: dict[Case, Floats] = {}
    newest: dict[Case, Measurement] = {}
    for night, run in enumerate(members):
        for case, measurement in run.measurements.items():
            if case not in values:
                values[case] = np.full(len(members), math.nan)
            values[case][night] = compared(measurement)
            newest[case] = measurement
    return [
        NightSeries(stretch, case, newest[case].unit, newest[case].kind, newest[case].worse, values[case])
        for case in values
    ]
