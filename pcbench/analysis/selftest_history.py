"""Measures rules for long series on series whose truth is known: false alarms, share caught, delay.

Each night from night 21 on a rule judges what lies before it. An alarm is new if it is located more than five nights
from every older one; only slow-downs count. A step is caught by a new alarm within five, or thirty, nights of its first
slow night that is located within five nights of it.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from pcbench.analysis.kernel_cuts import Floats
from pcbench.analysis.selftest_rules import Judge
from pcbench.analysis.selftest_series import NIGHTS, SCENARIOS, Planted, planted

SIZES = (0.0, 0.01, 0.02, 0.05, 0.10)
FIRST_NIGHT = 21
_NEAR = 5
_SOON, _LATE = 5, 30
_RATIOS = (1.3, 1.5, 2.0)


@dataclass(frozen=True)
class Share:
    """A share of series, with its standard error."""

    value: float
    error: float


@dataclass(frozen=True)
class Caught:
    """What became of steps of one size.

    Attributes:
        soon, late: Caught within 5 and within 30 nights.
        delay: Median nights from the first slow night to the alarm, of those caught; None where none is.
    """

    size: float
    soon: Share
    late: Share
    delay: float | None
    series: int


@dataclass(frozen=True)
class RuleResult:
    """A rule on a scenario; false alarms are per 1,000 nights and series, with their standard error over series."""

    scenario: str
    rule: str
    false_alarms: Share
    nights: int
    caught: tuple[Caught, ...]

    def of(self, size: float) -> Caught:
        """What became of steps of this size."""
        return next(caught for caught in self.caught if caught.size == size)


@dataclass(frozen=True)
class Excess:
    """Nights per 1,000 that are at least ``ratio`` times the median of all nights before, in series without a step."""

    scenario: str
    ratio: float
    nights: Share


@dataclass(frozen=True)
class _Heard:
    """What one rule said of one series: new alarms, and nights from the step to the one that caught it."""

    alarms: int
    delay: int | None


def measure(
    judges: Sequence[Judge], *, series: int, stepped: int, seed: int, real: Floats | None = None
) -> Iterator[tuple[str, float, tuple[RuleResult, ...]]]:
    """Measure each scenario, size by size: yields what it is about to measure, and at a scenario's end its results.

    Args:
        series: Without a step, of each scenario; of real ones at most as many as there are rows.
        stepped: With a step, of each scenario and size; likewise.
    """
    for scenario in SCENARIOS:
        if scenario == "real" and real is None:
            continue
        heard: dict[str, dict[float, list[_Heard]]] = {}
        for size in SIZES:
            yield scenario, size, ()
            made = planted(scenario, size, stepped if size else series, seed, real)
            for values, at in zip(made.values, made.at, strict=True):
                for rule, one in _judged(judges, values, at, None if size == 0 else at + _LATE).items():
                    heard.setdefault(rule, {}).setdefault(size, []).append(one)
        yield scenario, SIZES[-1], tuple(_result(scenario, rule, by_size) for rule, by_size in heard.items())


def _judged(judges: Sequence[Judge], values: Floats, at: int, last: int | None) -> dict[str, _Heard]:
    older: dict[str, list[int]] = {}
    alarms: dict[str, int] = {}
    delays: dict[str, int] = {}
    for night in range(FIRST_NIGHT, NIGHTS if last is None else min(NIGHTS, last + 1)):
        for judge in judges:
            for rule, located in judge(values[: night + 1]).items():
                known = older.setdefault(rule, [])
                for place in located:
                    if all(abs(place - old) > _NEAR for old in known):
                        alarms[rule] = alarms.get(rule, 0) + 1
                        if 0 <= night - at <= _LATE and abs(place - at) <= _NEAR:
                            delays.setdefault(rule, night - at)
                known += located
    return {rule: _Heard(alarms.get(rule, 0), delays.get(rule)) for rule in older}


def _result(scenario: str, rule: str, by_size: dict[float, list[_Heard]]) -> RuleResult:
    null = by_size[0.0]
    nights = NIGHTS - FIRST_NIGHT
    caught = tuple(_caught(size, heard) for size, heard in by_size.items())
    return RuleResult(scenario, rule, _rate([one.alarms for one in null], nights), nights * len(null), caught)


def _rate(counts: Sequence[int], nights: int) -> Share:
    error = statistics.stdev(counts) / math.sqrt(len(counts)) if len(counts) > 1 else math.nan
    return Share(1000 * statistics.fmean(counts) / nights, 1000 * error / nights)


def _caught(size: float, heard: Sequence[_Heard]) -> Caught:
    delays = [one.delay for one in heard if one.delay is not None]
    soon = sum(delay <= _SOON for delay in delays)
    middle = statistics.median(delays) if delays else None
    return Caught(size, _share(soon, len(heard)), _share(len(delays), len(heard)), middle, len(heard))


def _share(count: int, n: int) -> Share:
    return Share(count / n, math.sqrt(count / n * (1 - count / n) / n))


def excesses(scenario: str, made: Planted) -> tuple[Excess, ...]:
    """How often a single night of unchanged code looks much slower than the nights before."""
    nights = range(FIRST_NIGHT, NIGHTS)
    ratios = np.stack([made.values[:, n] / np.median(made.values[:, :n], axis=1) for n in nights], axis=1)
    return tuple(
        Excess(scenario, ratio, _rate([int(count) for count in (ratios >= ratio).sum(axis=1)], len(nights)))
        for ratio in _RATIOS
    )
