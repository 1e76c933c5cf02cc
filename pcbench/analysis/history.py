"""What long series tell: steps of every case, each with its commits and what it stands on."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from pcbench.analysis.nights import Night, NightSeries
from pcbench.analysis.policy import Policy
from pcbench.analysis.steps import Step, alerts, exact_steps, steps

Way = Literal["worse", "changed", "better"]
_WORST_FIRST: tuple[Way, ...] = ("worse", "changed", "better")


@dataclass(frozen=True)
class Change:
    """A step of a case, and the commits that it lies between.

    Attributes:
        last, first: The last night of the old level and the first of the new one that have a number.
        rule: What found it, with its numbers.
    """

    series: NightSeries
    step: Step
    last: Night
    first: Night
    rule: str

    @property
    def way(self) -> Way:
        """Whether it moved in the direction that is worse."""
        if self.series.worse == "any":
            return "changed"
        return "worse" if (self.step.after > self.step.before) == (self.series.worse == "up") else "better"

    @property
    def size(self) -> float:
        """How far it moved: of a ratio its logarithm, else the share of the larger of both."""
        if self.step.ratio is not None:
            return abs(math.log(self.step.ratio))
        return abs(self.step.after - self.step.before) / max(abs(self.step.after), abs(self.step.before))


def changes(series: Iterable[NightSeries], policy: Policy) -> list[Change]:
    """All steps, worst first: what got worse before what got better, and of these the newest and then the largest."""
    return _ordered(change for one in series for change in _changes(one, policy.of(one.case)))


def steps_of(series: NightSeries, policy: Policy, newest: int | None = None) -> tuple[Step, ...]:
    """Where a series' level changed, oldest first; looked for among so many of its newest nights, None for all."""
    first = 0 if newest is None else max(0, len(series.values) - newest)
    values = series.values[first:]
    found = exact_steps(values) if exact(series) else steps(values, policy)
    return tuple(replace(step, index=first + step.index) for step in found)


def new_changes(series: Iterable[NightSeries], policy: Policy) -> list[Change]:
    """What is worth a look this morning, of series that end with their stretch's newest night; ordered likewise."""
    return _ordered(change for one in series for change in _new(one, policy.of(one.case)))


def exact(series: NightSeries) -> bool:
    """Whether every change of the number is a step: of counts, and of numbers of no other kind that are all whole."""
    if series.kind == "number":
        known = series.values[np.isfinite(series.values)]
        return bool((known == np.floor(known)).all())
    return series.kind == "count"


def needed(series: NightSeries, policy: Policy, *, alert: bool = False) -> int:
    """How many nights a series must have before a step, or tonight's run, can be seen in it."""
    if exact(series):
        return 2
    return policy.run_least + policy.run_nights if alert else 2 * policy.step_nights


def rule_of(series: NightSeries, policy: Policy, *, alert: bool = False) -> str:
    """How steps of a series are found, with the numbers that it stands on."""
    if exact(series):
        return f"any change within {policy.alert_nights} nights" if alert else "any change"
    if alert:
        return (
            f"the newest {policy.run_nights} nights beyond the {policy.run_quantile:.0%} quantile of "
            f"{policy.run_least} to {policy.run_history} before, or kernel penalty {policy.alert_penalty:g}; at least "
            f"{policy.run_shift:.1%} and {policy.run_sigmas:g} robust standard deviations"
        )
    return (
        f"kernel penalty {policy.step_penalty:g} ({policy.step_correlated:g} if nights correlate by more than "
        f"{policy.step_correlation:g}), {policy.step_nights} nights on either side, at least {policy.step_shift:.1%} "
        f"and {policy.step_sigmas:g} robust standard deviations"
    )


def _changes(series: NightSeries, policy: Policy) -> list[Change]:
    rule = rule_of(series, policy)
    return [_change(series, step, rule) for step in steps_of(series, policy)]


def _new(series: NightSeries, policy: Policy) -> list[Change]:
    rule = rule_of(series, policy, alert=True)
    if exact(series):
        begin = len(series.values) - policy.alert_nights
        return [_change(series, step, rule) for step in exact_steps(series.values) if step.index >= begin]
    return [_change(series, step, rule) for step in alerts(series.values, policy)]


def _change(series: NightSeries, step: Step, rule: str) -> Change:
    nights = series.stretch.nights
    last = next(night for night in range(step.index - 1, -1, -1) if math.isfinite(series.values[night]))
    return Change(series, step, nights[last], nights[step.index], rule)


def _ordered(found: Iterable[Change]) -> list[Change]:
    def order(change: Change) -> tuple[int, float, float, str]:
        return _WORST_FIRST.index(change.way), -change.first.date.timestamp(), -change.size, str(change.series.case)

    return sorted(found, key=order)
