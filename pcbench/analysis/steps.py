"""Steps in a long series of nights: what to look at in the morning, and where a level changed. None fails a job.

A series is an array of one number per night, oldest first; nan and infinity are nights without a number. Series of
numbers above 0 are judged by their logarithms, others by shares of their median size. Nights of a constant series hold
no step, nor does a series that is too short for a rule.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pcbench.analysis.kernel_cuts import Floats, cuts
from pcbench.analysis.policy import Policy

_TO_SIGMA = 1.4826
"""From a median absolute deviation to a standard deviation, of normal numbers."""
_Z_95 = 1.96
"""Of a normal number, 95 % lie within so many standard deviations."""


@dataclass(frozen=True)
class Step:
    """A change of level.

    Attributes:
        index: The first night of the new level.
        before, after: Medians of the nights on either side, up to the next step; in the series' unit.
        low, high: What after / before lies between with 95 % confidence (rank sums of the nights, taken as
            independent); None where there is no ratio.
    """

    index: int
    before: float
    after: float
    low: float | None = None
    high: float | None = None

    @property
    def ratio(self) -> float | None:
        """after / before; None unless both are above 0."""
        return self.after / self.before if self.before > 0 and self.after > 0 else None


@dataclass(frozen=True)
class _Series:
    """The nights that have a number: where they are, the numbers, and those on the scale that they are judged on."""

    at: tuple[int, ...]
    values: Floats
    scaled: Floats
    logarithmic: bool


def tonight(values: Sequence[float] | Floats, policy: Policy) -> Step | None:
    """What the newest nights say: all of them lie beyond most of the nights before, to the same side."""
    series = _series(values)
    return None if series is None else _tonight(series, policy)


def steps(values: Sequence[float] | Floats, policy: Policy) -> tuple[Step, ...]:
    """Where the level changed, oldest first."""
    series = _series(values)
    if series is None:
        return ()
    sets = cuts(series.scaled, (policy.step_penalty, policy.step_correlated), policy.step_nights)
    chosen = sets[_correlation(series.scaled, sets[0], policy.step_far) > policy.step_correlation]
    return _kept(series, chosen, policy.step_shift, policy.step_sigmas)


def alarms(values: Sequence[float] | Floats, policy: Policy) -> tuple[Step, ...]:
    """All that is worth an alert in a series that ends tonight: what ``tonight`` says, and steps beyond doubt.

    Looked for in the newest ``policy.alert_history`` nights; a step's levels are those of these nights.
    """
    begin = max(0, len(values) - policy.alert_history)
    series = _series(values[begin:], begin)
    if series is None:
        return ()
    now = _tonight(series, policy)
    (found,) = cuts(series.scaled, (policy.alert_penalty,), policy.run_nights)
    located = _kept(series, found, policy.run_shift, policy.run_sigmas)
    told = () if now is None else (now,)
    return (*(step for step in located if not _near(step, told, policy)), *told)


def alerts(values: Sequence[float] | Floats, policy: Policy) -> tuple[Step, ...]:
    """The alarms that are new: those that were not there ``policy.alert_nights`` nights ago."""
    found = alarms(values, policy)
    old = alarms(values[: -policy.alert_nights], policy) if found else ()
    return tuple(step for step in found if not _near(step, old, policy))


def exact_steps(values: Sequence[float] | Floats) -> tuple[Step, ...]:
    """Of exact numbers, such as counts: every change of the value."""
    known = [(night, float(value)) for night, value in enumerate(values) if math.isfinite(value)]
    return tuple(
        _with_interval(Step(night, before, after))
        for (_, before), (night, after) in itertools.pairwise(known)
        if after != before
    )


def _with_interval(step: Step) -> Step:
    return Step(step.index, step.before, step.after, step.ratio, step.ratio)


def _near(step: Step, others: Sequence[Step], policy: Policy) -> bool:
    return any(abs(step.index - other.index) <= policy.alert_nights for other in others)


def _series(values: Sequence[float] | Floats, begin: int = 0) -> _Series | None:
    """Of values whose first is the night ``begin``; None for a series without a change."""
    raw = np.asarray(values, dtype=float)
    known = np.flatnonzero(np.isfinite(raw))
    kept = raw[known]
    if len(kept) == 0 or bool((kept == kept[0]).all()):
        return None
    logarithmic = bool((kept > 0).all())
    if logarithmic:
        scaled = np.log(kept)
    else:
        sizes = np.abs(kept)
        scaled = kept / (float(np.median(sizes)) or float(sizes.max()))
    return _Series(tuple((known + begin).tolist()), kept, scaled, logarithmic)


def _tonight(series: _Series, policy: Policy) -> Step | None:
    first = len(series.scaled) - policy.run_nights
    if first < policy.run_least:
        return None
    begin = max(0, first - policy.run_history)
    before, run = series.scaled[begin:first], series.scaled[first:]
    shift = float(np.median(run) - np.median(before))
    if abs(shift) <= max(math.log1p(policy.run_shift), policy.run_sigmas * _sigma(before, ())):
        return None
    sign = math.copysign(1.0, shift)
    if float((sign * run).min()) <= float(np.quantile(sign * before, policy.run_quantile)):
        return None
    return _step(series, begin, first, len(series.scaled))


def _kept(series: _Series, found: tuple[int, ...], shift: float, sigmas: float) -> tuple[Step, ...]:
    """The steps that are large enough; what is not is joined, smallest first."""
    left = list(found)
    y = series.scaled
    while left:
        levels = [float(np.median(part)) for part in np.split(y, left)]
        sizes = [abs(after - before) for before, after in itertools.pairwise(levels)]
        least = min(range(len(sizes)), key=sizes.__getitem__)
        if sizes[least] >= max(math.log1p(shift), sigmas * _sigma(y, left)):
            break
        del left[least]
    ends = [0, *left, len(y)]
    return tuple(_step(series, *ends[place : place + 3]) for place in range(len(left)))


def _step(series: _Series, begin: int, at: int, end: int) -> Step:
    before, after = (float(np.median(part)) for part in (series.values[begin:at], series.values[at:end]))
    if not series.logarithmic:
        return Step(series.at[at], before, after)
    low, high = _interval(series.scaled[begin:at], series.scaled[at:end])
    return Step(series.at[at], before, after, math.exp(low), math.exp(high))


def _interval(before: Floats, after: Floats) -> tuple[float, float]:
    """Of the shift, by the normal approximation to rank sums; the whole range where nights are too few for it."""
    apart = np.sort((after[:, None] - before[None, :]).ravel())
    n, m = len(before), len(after)
    cut = max(0, math.floor(n * m / 2 - _Z_95 * math.sqrt(n * m * (n + m + 1) / 12)))
    return float(apart[cut]), float(apart[-1 - cut])


def _sigma(y: Floats, found: Sequence[int]) -> float:
    """A night's robust standard deviation: the larger of what neighbours and what levels say.

    A slow swing hides from neighbours, a step that no cut has found from neither.
    """
    apart = np.diff(y)
    return max(_TO_SIGMA * _mad(apart) / math.sqrt(2), _TO_SIGMA * _mad(_residuals(y, found)))


def _mad(values: Floats) -> float:
    return float(np.median(np.abs(values - np.median(values))))


def _residuals(y: Floats, found: Sequence[int]) -> Floats:
    return np.concatenate([part - np.median(part) for part in np.split(y, list(found))])


def _correlation(y: Floats, found: Sequence[int], most: float) -> float:
    """Of neighbouring nights about their levels; outliers count as ``most`` standard deviations."""
    residuals = _residuals(y, found)
    far = most * _TO_SIGMA * _mad(residuals)
    clipped = np.clip(residuals, -far, far)
    whole = float(clipped @ clipped)
    return float(clipped[1:] @ clipped[:-1]) / whole if whole > 0 else 0.0
