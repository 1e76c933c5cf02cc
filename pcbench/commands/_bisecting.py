"""Walks a range of commits or of torch builds for one case: what each is beside the first, and which changed first."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from pcbench.analysis.bisection import Narrowed, narrow
from pcbench.analysis.paired_verdicts import MOVED, SameCode, judge_paired
from pcbench.analysis.policy import Policy
from pcbench.analysis.quantities import quantity
from pcbench.analysis.records import Measurement, Verdict
from pcbench.analysis.stored_rules import judge_stored
from pcbench.commands._night_pairs import At, cases_of, compare, ready, ready_one
from pcbench.commands._pair_processes import Listed, Told, measured
from pcbench.paired import Paired
from pcbench.sides import Suite

_SEED = 1


@dataclass
class Walk:
    """A case, and the places to look for the first that changed it, in order.

    Attributes:
        names: What to call the places.
        same_code: Pairs of the same code that are on record.
        ends: When the budget is spent, by the monotonic clock.
        say: Told a line about each step.
        keep: Handed each comparison with the first place.
        known: Comparisons with the first place that are on record, by place.
        variables: For the processes, beside those of this one.
    """

    root: Path
    suite: Suite
    places: Sequence[At]
    names: Sequence[str]
    case: str
    policy: Policy
    same_code: SameCode = field(default_factory=dict)
    ends: float = math.inf
    say: Callable[[str], None] = lambda line: None
    keep: Callable[[int, Paired], None] = lambda index, paired: None
    known: dict[At, Paired] = field(default_factory=dict)
    variables: Mapping[str, str] = field(default_factory=dict)
    _values: dict[At, Told] = field(default_factory=dict)
    _fresh: set[At] = field(default_factory=set)
    _told_of: set[int] = field(default_factory=set)
    _listed: Listed | None = None
    _sharpened: bool = False

    def timing(self, index: int) -> tuple[Verdict, str]:
        """The verdict on a place beside the first, in pairs, and its numbers."""
        place = self.places[index]
        if place not in self.known or (place not in self._fresh and self._judged(index)[0] is Verdict.INCONCLUSIVE):
            if time.monotonic() > self.ends:
                return self._said(index, Verdict.INCONCLUSIVE, "the budget is spent")
            left = None if math.isinf(self.ends) else self.ends - time.monotonic()
            with ready(self.root, self.suite, self.places[0], place, self.variables) as pair:
                (found,) = compare(pair, [self.case], self.policy, same_code=self.same_code, budget_s=left)
            self.known[place] = found
            self._fresh.add(place)
            # Pairs that ended by a sharpened rule have not come to the policy's verdict.
            self.keep(index, replace(found, delta=None, settled=False) if self._sharpened else found)
            return self._said(index, *self._judged(index))
        return self._judged(index)

    def sharpen(self, log_ratio: float) -> None:
        """Ask of each place whether it is nearer to the first or to the last, which differ by so much.

        A step of a fifth need not be told from one of 2 %, and the noise of a case may be as large as that.
        """
        near = math.expm1(abs(log_ratio) / 2)
        own = self.policy.of(self.case)
        deltas = {name: max(getattr(own, name), near) for name in ("delta", "fine_delta", "slow_delta")}
        self.policy = replace(self.policy, overrides=(*self.policy.overrides, ("*", deltas)))
        self._sharpened = True

    def gross(self, index: int) -> tuple[Verdict, str]:
        """The verdict on a place beside the first where they are far apart: one process each tells."""
        first, here = self._value(0), self._value(index)
        if first is None or here is None or not first.value or not here.value:
            return self._said(index, Verdict.INCONCLUSIVE, "the budget is spent, or it has no number there")
        ratio, least = here.value / first.value, self.policy.of(self.case).stored_ratio
        way = Verdict.SLOWER if ratio >= least else Verdict.FASTER if 1 / ratio >= least else Verdict.SAME
        return self._said(index, way, f"{_told(first, self.unit)} -> {_told(here, self.unit)}")

    def count(self, index: int) -> tuple[Verdict, str]:
        """What a place's number is beside the first's by the rule of stored numbers; of a time, whether it has one.

        Without a number at the first place there is nothing to judge by.
        """
        first, here = self._value(0), self._value(index)
        if first is None or here is None or self._listed is None:
            return self._said(index, Verdict.INCONCLUSIVE, "the budget is spent")
        told = _told(here, self.unit)
        if first.value is None:
            return self._said(index, Verdict.UNJUDGED, f"{self.names[0]} has no number: {_told(first, self.unit)}")
        if here.value is None:
            return self._said(index, Verdict.FAILED if here.failed else Verdict.UNJUDGED, told)
        kind, worse = self._listed.benchmark.kind, self._listed.benchmark.worse_for(self._listed.case)
        if kind == "time":
            return self._said(index, Verdict.SAME, told)
        before, now = (Measurement(value, self.unit, worse=worse, kind=kind) for value in (first.value, here.value))
        said = judge_stored(before, now, self.policy.of(self.case))
        return self._said(index, said.verdict, said.reason)

    def find(
        self, ask: Callable[[int], tuple[Verdict, str]], ending: Verdict, low: int = 0, high: int = -1
    ) -> Narrowed:
        """The first place that differs as the last does.

        Args:
            ending: What the last place is beside the first.
            low, high: Where it is known to lie: after ``low``, up to ``high``.
        """
        last = len(self.places) - 1 if high < 0 else high
        verdict, reason = ask(last)
        if verdict is not ending:
            return Narrowed(low, last, f"measured now, the last is {verdict} beside the first: {reason}")

        # Of what fails at last, each number is another end than that.
        unlike = (Verdict.SAME, Verdict.CHANGED, *MOVED) if ending is Verdict.FAILED else (Verdict.SAME,)

        def differs(step: int) -> bool | None:
            verdict, _ = ask(low + step)
            return True if verdict is ending else False if verdict in unlike else None

        found = narrow(last - low + 1, differs)
        return Narrowed(low + found.unchanged, low + found.changed, found.stopped)

    @property
    def unit(self) -> str:
        """The case's."""
        return self._listed.unit if self._listed is not None else ""

    def _judged(self, index: int) -> tuple[Verdict, str]:
        """By the policy as it is now: the rule that the pairs were taken by may have been another."""
        found = self.known[self.places[index]]
        verdict, reason, _ = judge_paired(
            replace(found, delta=None), self.policy, self.same_code.get(found.versioned, ())
        )
        if verdict is not Verdict.FAILED:
            return verdict, reason
        # What failed at the first place, too, is no change.
        alone, why = self.count(index)
        again = (alone, why) if alone in (Verdict.FAILED, Verdict.UNJUDGED) else None
        return again or (Verdict.INCONCLUSIVE, f"{reason}; measured alone, it does not fail")

    def _value(self, index: int) -> Told | None:
        place = self.places[index]
        if place not in self._values:
            if time.monotonic() > self.ends:
                return None
            with ready_one(self.root, self.suite, place, self.variables) as side:
                (self._listed,) = cases_of([side], [self.case])
                self._values[place] = measured(side, [self._listed], {}, _SEED).told[self.case]
        return self._values[place]

    def _said(self, index: int, verdict: Verdict, reason: str) -> tuple[Verdict, str]:
        if index not in self._told_of:
            self._told_of.add(index)
            self.say(f"{self.names[index]}: {verdict}: {reason}")
        return verdict, reason


def _told(told: Told, unit: str) -> str:
    if told.value is not None:
        return quantity(told.value, unit)
    return told.failed or told.skipped or "no number"
