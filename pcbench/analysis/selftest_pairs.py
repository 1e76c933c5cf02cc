"""What verdicts in pairs are worth: how often they are false on the same code, and find what was planted."""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from pcbench.analysis.canaries import upper_bound
from pcbench.analysis.pairs import Rule, verdict
from pcbench.analysis.records import Verdict

CHECKS, LOADS = "checks", "loads"
OURS = "pairs"
RECORD = 40
"""Pairs of the same code that a case has on record where a selftest says so."""

_MOVED = (Verdict.SLOWER, Verdict.FASTER)
_BOTH_ENDS = 0.975


@dataclass(frozen=True)
class Trial:
    """One verdict on a case of which it is known what was planted.

    Attributes:
        planted: How much slower the candidate was made: 0.03 is 3 %; 0 is the same code.
        recorded: Whether pairs of the same code were on record before.
        kind: :data:`CHECKS` or :data:`LOADS`.
        rule: What it was judged by.
        ratios: ln ratios of the pairs that it took, over its looks.
        seconds: Wall seconds that it took; of several cases in a process, its part by pairs.
        others: What other rules say of the samples of the same processes: 1 slower, -1 faster, 0 neither.
    """

    case: str
    planted: float
    recorded: bool
    kind: str
    verdict: Verdict
    rule: Rule
    ratios: tuple[float, ...]
    seconds: float
    others: Mapping[str, int] = field(default_factory=dict)

    @property
    def pairs(self) -> int:
        return len(self.ratios)


@dataclass(frozen=True)
class Share:
    """So many of so many."""

    found: int
    of: int

    @property
    def share(self) -> float:
        return self.found / self.of

    @property
    def low(self) -> float:
        """The lower end of Clopper and Pearson's 95 % interval."""
        return 1.0 - upper_bound(self.of - self.found, self.of, _BOTH_ENDS)

    @property
    def high(self) -> float:
        """Its upper end."""
        return upper_bound(self.found, self.of, _BOTH_ENDS)

    @property
    def bound(self) -> float:
        """What the true share lies below with 95 %, if each is independent of the others."""
        return upper_bound(self.found, self.of)


@dataclass(frozen=True)
class Group:
    """The verdicts on one planted size.

    Attributes:
        planted, recorded: Of all its trials.
        counted: How many more instructions the candidate's calls take, less 1, the mean over checks; None where they
            were not counted.
        timed: The median of all pairs' ratios, less 1.
        verdicts: How many there are of each kind.
        moved: By rule, :data:`OURS` first, what it called slower; of the same code, slower or faster.
        fine: How many were judged by the smaller threshold that a record allows.
        pairs: Pairs to a verdict, the mean.
        seconds: Wall seconds to a verdict, the mean.
    """

    planted: float
    recorded: bool
    counted: float | None
    timed: float
    verdicts: Mapping[Verdict, int]
    moved: Mapping[str, Share]
    fine: int
    pairs: float
    seconds: float

    @property
    def of(self) -> int:
        return sum(self.verdicts.values())


@dataclass(frozen=True)
class Resampled:
    """Verdicts on pairs that were drawn anew from those of the same code.

    Attributes:
        false: Those that found it slower or faster, of all pools.
        worst: Those of the pool that has most of them.
        recorded: Whether the rules were those of cases with pairs of the same code on record.
    """

    false: Share
    worst: Share
    pools: int
    recorded: bool


def group(trials: Sequence[Trial], counted: Mapping[str, float] | None, fine_delta: float) -> Group:
    """Sum up the trials of one size; at least one.

    Args:
        counted: By case, how many times the instructions the candidate's call takes; None where unknown.
    """
    first = trials[0]
    ratios = [ratio for trial in trials for ratio in trial.ratios]
    more = [counted[trial.case] for trial in trials] if counted else []
    names = list(dict.fromkeys(name for trial in trials for name in trial.others))
    moved = {OURS: Share(sum(_counts(trial, _way(trial.verdict)) for trial in trials), len(trials))}
    for name in names:
        known = [trial for trial in trials if name in trial.others]
        moved[name] = Share(sum(_counts(trial, trial.others[name]) for trial in known), len(known))
    return Group(
        first.planted,
        first.recorded,
        statistics.fmean(more) - 1 if more else None,
        float(np.expm1(np.median(ratios))),
        {kind: n for kind in Verdict if (n := sum(trial.verdict is kind for trial in trials))},
        moved,
        sum(math.expm1(trial.rule.delta) <= fine_delta * (1 + 1e-9) for trial in trials),
        statistics.fmean(trial.pairs for trial in trials),
        statistics.fmean(trial.seconds for trial in trials),
    )


def _way(found: Verdict) -> int:
    return {Verdict.SLOWER: 1, Verdict.FASTER: -1}.get(found, 0)


def _counts(trial: Trial, way: int) -> bool:
    """Whether what a rule said is what is counted: any change of the same code, else a slow-down."""
    return way != 0 if trial.planted == 0 else way == 1


def resample(trials: Sequence[Trial], *, verdicts: int = 4000, seed: int = 7) -> Resampled:
    """Draw verdicts from the pairs of the same code of each case, centred and each with a sign by chance.

    So it takes pairs to be independent and as likely above as below: a drift over a run, or a layout that favours one
    side, is not in it.

    Args:
        trials: On the same code, at least one; a case's last says by which rule.
        verdicts: How many for each case.
    """
    random = np.random.default_rng(seed)
    rules = {trial.case: trial.rule for trial in trials}
    false = []
    for case, rule in rules.items():
        pool = np.concatenate([trial.ratios for trial in trials if trial.case == case])
        shape = (verdicts, 2, 2 * rule.pairs)
        drawn = random.choice(pool - np.median(pool), shape) * random.choice((-1.0, 1.0), shape)
        # A look that never reaches its quorum is no alarm, whatever else it is: most need not be looked at.
        beyond = np.maximum((drawn > rule.delta).sum(axis=2), (drawn < -rule.delta).sum(axis=2)).min(axis=1)
        near = drawn[beyond >= rule.needed(rule.pairs)]
        false.append(sum(verdict(looks, rule)[0] in _MOVED for looks in near.tolist()))
    return Resampled(
        Share(sum(false), verdicts * len(false)), Share(max(false), verdicts), len(false), trials[0].recorded
    )


def runs(cases: Sequence[str], sizes: Sequence[float], verdicts: int) -> list[dict[str, float]]:
    """What to plant in which case, comparison by comparison, until each size has so many verdicts.

    Each case has its turn at each size.
    """
    left = dict.fromkeys(sizes, verdicts)
    found: list[dict[str, float]] = []
    while any(left.values()):
        planted = {}
        for at, case in enumerate(cases, len(found)):
            size = sizes[at % len(sizes)]
            if left[size]:
                planted[case] = size
                left[size] -= 1
        found.append(planted)
    return found


def records(trials: Sequence[Trial]) -> dict[str, tuple[float, ...]]:
    """By case, the last :data:`RECORD` pairs of the same code, as a machine that measures them nightly has them."""
    found: dict[str, list[float]] = {}
    for trial in trials:
        if trial.planted == 0:
            found.setdefault(trial.case, []).extend(trial.ratios)
    return {case: tuple(ratios[-RECORD:]) for case, ratios in found.items()}
