"""Measures cases on two sides in pairs of fresh processes, until the rule has settled each."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import UTC, datetime

from pcbench import processes
from pcbench.analysis import pairs
from pcbench.analysis.paired_verdicts import SameCode
from pcbench.analysis.pairs import Rule, log_ratios, rule_for
from pcbench.analysis.policy import Policy
from pcbench.commands._pair_processes import Answers, Ends, Listed, Plan, Told, measured
from pcbench.paired import Look, Pair, Paired
from pcbench.sides import Ready

SIDES = ("baseline", "candidate")

_BATCH_S = 10.0  # the two sides of a case are not to lie further apart than this, as the machine drifts
_UNKNOWN_S = 0.3  # what a case is taken to need before its first process told
_FIRST_SEEDS = (1, 100_001)  # of either look; a pair's seed is the look's first and the pair's place in it


@dataclass(frozen=True)
class Progress:
    """How far it is.

    Attributes:
        pairs: Pairs that were taken, over all cases.
        open: Cases that are not settled.
        left_s: Seconds that these need if each takes all pairs of the stage that it is in.
    """

    pairs: int
    open: int
    cases: int
    left_s: float


_EITHER = "does not apply on baseline and candidate: "


def absence(absent: Mapping[str, Told]) -> tuple[tuple[str, ...], str]:
    """Of sides without a number, those where the case does not apply, unless it failed on one; and why, in words."""
    failed = {side: each for side, each in absent.items() if each.failed}
    reasons = {side: each.failed or each.skipped or "it gave no number" for side, each in (failed or absent).items()}
    if len(reasons) == 2 and len(set(reasons.values())) == 1:
        reasons = {" and ".join(reasons): next(iter(reasons.values()))}
    verb = "failed on" if failed else "does not apply on"
    return () if failed else tuple(absent), "; ".join(f"{verb} {side}: {reason}" for side, reason in reasons.items())


def neither_has(lacking: Sequence[str], why: str) -> bool:
    """Whether what :func:`absence` says is that the case does not apply on either side, for one reason."""
    return len(lacking) == len(SIDES) and why.startswith(_EITHER)


@dataclass
class _Measuring:
    """A case, and what was measured of it so far."""

    listed: Listed
    same_code: Sequence[float]
    policy: Policy
    looks: list[list[Pair]] = field(default_factory=lambda: [[]])
    controls: list[list[Pair]] = field(default_factory=lambda: [[]])
    rule: Rule | None = None
    failed: str = ""
    lacking: tuple[str, ...] = ()
    pair_s: float = 2 * _UNKNOWN_S
    settled: bool = False

    @property
    def id(self) -> str:
        return str(self.listed.case)

    def add(self, told: Sequence[Told | None], control: Pair) -> None:
        """Take what the two sides told, baseline first; None is a side that was not asked."""
        self.pair_s = sum(each.seconds for each in told if each is not None)
        absent = {side: each for side, each in zip(SIDES, told, strict=True) if each is not None and each.value is None}
        if absent:
            self._fail(absent)
            return
        one, other = (each for each in told if each is not None)
        self.looks[-1].append(pairs.pair_of((one.value, other.value), one.blocks, other.blocks))
        self.controls[-1].append(control)
        if self.rule is None:
            value = self.looks[-1][-1][0]
            self.rule = rule_for(self.policy.of(self.id), self.listed.unit, value, self.same_code)
        verdict, look = pairs.verdict([log_ratios(each) for each in self.looks], self.rule)
        self.settled = verdict is not None
        if not self.settled and look == len(self.looks):
            self.looks.append([])
            self.controls.append([])

    def _fail(self, absent: Mapping[str, Told]) -> None:
        self.settled = True
        self.lacking, self.failed = absence(absent)

    def left_s(self) -> float:
        taken = len(self.looks[-1])
        stage = self.rule.pairs if self.rule else self.policy.of(self.id).pairs
        return self.pair_s * ((stage if taken < stage else 2 * stage) - taken)

    def paired(self, baseline: Ready, candidate: Ready) -> Paired:
        looks = tuple(
            Look(tuple(taken), tuple(control))
            for taken, control in zip(self.looks, self.controls, strict=True)
            if taken
        )
        date = datetime.now(UTC).isoformat(timespec="seconds")
        return Paired(
            self.id,
            self.listed.unit,
            baseline.side,
            candidate.side,
            looks,
            date,
            self.failed,
            self.lacking,
            version=self.listed.benchmark.version,
            delta=None if self.rule is None else self.rule.delta,
            pairs=0 if self.rule is None else self.rule.pairs,
            quorum=0.0 if self.rule is None else self.rule.quorum,
            settled=self.settled and not self.failed,
        )


def measure(
    baseline: Ready,
    candidate: Ready,
    cases: Sequence[Listed],
    policy: Policy,
    *,
    same_code: SameCode | None = None,
    budget_s: float | None = None,
    tell: Callable[[Progress], None] = lambda progress: None,
) -> Iterator[Paired]:
    """Each case once, when it is settled, has failed, or the budget is spent.

    At Ctrl-C those that are open come, too, with the pairs that they have; then KeyboardInterrupt goes on.

    Args:
        same_code: What is on record of pairs of the same code on this machine.
        budget_s: No pair is begun after so many seconds.
    """
    known = same_code or {}
    left = [_Measuring(case, known.get(case.versioned, ()), policy) for case in cases]
    run = _Pairs(baseline, candidate, {})
    ends = None if budget_s is None else time.monotonic() + budget_s
    taken = 0
    try:
        for look in range(len(_FIRST_SEEDS)):
            index = 0
            while now := [each for each in left if len(each.looks) == look + 1]:
                for batch in _batches(now):
                    if ends is not None and time.monotonic() > ends:
                        yield from (each.paired(baseline, candidate) for each in left)
                        return
                    run.take(batch, _FIRST_SEEDS[look] + index, baseline_first=index % 2 == 0)
                    taken += len(batch)
                    settled = [each for each in batch if each.settled]
                    left = [each for each in left if not each.settled]
                    tell(Progress(taken, len(left), len(cases), sum(each.left_s() for each in left)))
                    yield from (each.paired(baseline, candidate) for each in settled)
                index += 1
    except KeyboardInterrupt:
        yield from (each.paired(baseline, candidate) for each in left)
        raise


@dataclass
class _Pairs:
    baseline: Ready
    candidate: Ready
    plans: dict[str, Plan]

    def take(self, batch: Sequence[_Measuring], seed: int, *, baseline_first: bool) -> None:
        """One pair of processes: block by block in turn, where asv times the cases, else one after the other."""
        order = (self.baseline, self.candidate) if baseline_first else (self.candidate, self.baseline)
        answers = (self._in_turn if batch[0].listed.timed else self._one_by_one)(batch, seed, order)
        for answer in answers:
            for case, told in answer.told.items():
                if told.plan is not None:
                    self.plans.setdefault(case, told.plan)
        if not baseline_first:
            answers.reverse()
        one, other = answers
        least = [min(each.control, default=math.nan) for each in answers]
        control = pairs.pair_of((least[0], least[1]), one.control, other.control)
        for each in batch:
            each.add([answer.told.get(each.id) for answer in answers], control)

    def _one_by_one(self, batch: Sequence[_Measuring], seed: int, order: Sequence[Ready]) -> list[Answers]:
        """What fails in the first is not asked of the second, but in the case's first pair."""
        answers: list[Answers] = []
        for ready in order:
            asked = [each for each in batch if not each.looks[0] or not answers or _has(answers[0], each)]
            answers.append(measured(ready, [each.listed for each in asked], self.plans, seed))
        return answers

    def _in_turn(self, batch: Sequence[_Measuring], seed: int, order: Sequence[Ready]) -> list[Answers]:
        cpus = sorted(os.sched_getaffinity(0))
        (heard, answer), (question, said) = os.pipe(), os.pipe()
        ends = [Ends(heard, said, True, cpus[seed % len(cpus)]), Ends(question, answer, False, cpus[seed % len(cpus)])]
        asked = [each.listed for each in batch]
        with ThreadPoolExecutor(len(ends)) as pool:
            found = [
                pool.submit(measured, ready, asked, self.plans, seed, each)
                for ready, each in zip(order, ends, strict=True)
            ]
            try:
                return [each.result() for each in found]
            except BaseException:  # Ctrl-C, too: neither process is to outlive it
                for each in ends:
                    each.stopped = True
                processes.kill_running()
                raise


def _has(answers: Answers, case: _Measuring) -> bool:
    return answers.told[case.id].value is not None


def _batches(cases: Sequence[_Measuring]) -> Iterator[list[_Measuring]]:
    """Cases that share their processes: of one kind, and as many as take no longer than a few seconds on a side."""
    for timed in (True, False):
        batch: list[_Measuring] = []
        for case in (each for each in cases if each.listed.timed is timed):
            if batch and sum(each.pair_s for each in batch) + case.pair_s > 2 * _BATCH_S:
                yield batch
                batch = []
            batch.append(case)
        if batch:
            yield batch
