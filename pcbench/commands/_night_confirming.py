"""Decides a night's suspects in pairs of processes, and measures its canary: pairs of the same code."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from pcbench.analysis.canaries import Rate, rate, tonight
from pcbench.analysis.findings import Judgement
from pcbench.analysis.paired_verdicts import judge_paired
from pcbench.analysis.policy import Policy
from pcbench.analysis.quantities import counted, listed
from pcbench.analysis.records import Case
from pcbench.analysis.suspects import Suspect
from pcbench.commands._night_ground import PROFILE, Ground
from pcbench.commands._night_locating import Base, base_of, pairs_path
from pcbench.commands._night_pairs import At, compare, ready
from pcbench.commands._pair_cases import suite_of
from pcbench.errors import PcbenchError
from pcbench.paired import SUFFIX, Paired, append, read
from pcbench.sides import Suite

_NAMED = 3
_CANARY = "canary-"


def measured_rate(ground: Ground) -> Rate:
    """The false alarms of all canaries of this machine, each by the rule that it was measured by."""
    files = sorted((ground.results / ground.machine).glob(f"*{SUFFIX}"))
    problems: list[str] = []
    found = [one for path in files for one in read(path, problems)]
    for problem in problems:
        print(f"not read, and so not among the canaries: {problem}", file=sys.stderr)
    return rate(found, lambda one: judge_paired(one, ground.policy)[0])


def confirm(
    ground: Ground, candidate: str, chosen: Sequence[Suspect], ends: float, say: Callable[[str], None]
) -> list[str]:
    """Measure suspects in pairs, into the file beside the candidate's result; what could not be, in sentences."""
    groups: dict[tuple[Base, Path], list[str]] = {}
    notes = []
    for one in (suspect.finding for suspect in chosen):
        try:
            base = base_of(ground, one)
            if base is None:
                notes.append(f"{one.case} was not confirmed: git has no commit of {one.against}")
            else:
                path = pairs_path(ground, candidate, candidate, one.place)
                groups.setdefault((base, path), []).append(str(one.case))
        except PcbenchError as error:
            notes.append(f"{one.case} was not confirmed: {error.problem}")
    suite = suite_of(ground.root)[0]
    for (base, path), cases in groups.items():
        other = At(candidate, ground.env if ground.env is not None else base.env)
        if time.monotonic() >= ends:
            notes += [out_of_budget(case) for case in cases]
            continue
        say(f"confirming {_names(cases)}: {base.commit[:8]} against {candidate[:8]}, in pairs of processes")
        try:
            found = _measured(ground, suite, (base.at, other), cases, path, ends, say)
        except PcbenchError as error:  # other suspects may be compared with another commit, and can be decided
            notes.append(f"{_names(cases)} could not be confirmed: {error.problem}")
            continue
        notes += [f"the suspect {one.case} gave no pairs: {one.failed}" for one in found if one.failed]
        notes += [out_of_budget(one.case) for one in found if not one.failed and not one.settled]
    return notes


def out_of_budget(case: object) -> str:
    """What to say of a suspect that the budget left undecided."""
    return f"budget: the suspect {case} was not decided in pairs"


def canary(
    ground: Ground,
    candidate: str,
    judgement: Judgement,
    number: int,
    started: str,
    ends: float,
    say: Callable[[str], None],
) -> list[str]:
    """Measure the baseline against itself, in cases that take turns; what could not be, in sentences."""
    cases = _timings(judgement, ground.policy)
    if not cases:
        return ["no canary: no timing has a baseline"]
    by_id = {str(one.case): one for one in judgement.findings}
    chosen = tonight(cases, number, ground.policy.canary_cases)
    try:
        finding = by_id[str(chosen[0])]
        base = base_of(ground, finding)
        if base is None or time.monotonic() >= ends:
            return ["no canary: " + ("git has no commit of the baseline" if base is None else "the budget is spent")]
        beside = pairs_path(ground, candidate, candidate, finding.place)
        path = beside.with_name(f"{_CANARY}{started.translate({ord(c): None for c in ':-+'})}{SUFFIX}")
        done = {one.case for one in read(path) if one.settled} if path.is_file() else set()
        names = [str(case) for case in chosen if str(case) not in done]
        if not names:
            return []
        say(f"canary: {base.commit[:8]} against itself, {_names(names)}")
        found = _measured(ground, suite_of(ground.root)[0], (base.at, base.at), names, path, ends, say)
    except PcbenchError as error:
        return [f"no canary: {error.problem}"]
    return [f"the canary {one.case} gave no pairs: {one.failed}" for one in found if one.failed]


def _measured(
    ground: Ground,
    suite: Suite,
    places: tuple[At, At],
    cases: Sequence[str],
    path: Path,
    ends: float,
    say: Callable[[str], None],
) -> list[Paired]:
    """Pairs of these cases; each is kept as soon as it is settled."""

    def keep(found: Paired) -> None:
        append(path, [found])
        verdict, reason, _ = judge_paired(found, ground.policy)
        say(f"  {found.case}: {verdict}: {reason}")

    with ready(ground.root, suite, *places, {PROFILE: ground.profile}) as pair:
        # A canary is judged by what the others have on record, as any case: it is not on record yet itself.
        known = ground.same_code(pair[1].side.torch)
        left = max(0.0, ends - time.monotonic())
        return compare(pair, cases, ground.policy, same_code=known, budget_s=left, keep=keep)


def _timings(judgement: Judgement, policy: Policy) -> list[Case]:
    """Cases that pairs can be taken of, as many as take no seconds a process; slow ones where there are no others."""
    timed = [one for one in judgement.findings if one.unit == "seconds" and one.ratio is not None]
    quick = [one.case for one in timed if (one.baseline or 0.0) < policy.of(one.case).slow_s]
    return quick or [one.case for one in timed]


def _names(cases: Sequence[str]) -> str:
    if len(cases) <= _NAMED:
        return listed(list(cases))
    return f"{counted(len(cases), 'case')} ({', '.join(cases[:_NAMED])}, ...)"


def known_seconds(costs: Mapping[str, float], cases: Sequence[Case]) -> dict[str, float]:
    """What one process of each case is taken to need: its share of its benchmark's last duration."""
    counts: dict[str, int] = {}
    for case in cases:
        counts[case.benchmark] = counts.get(case.benchmark, 0) + 1
    return {str(case): costs[case.benchmark] / counts[case.benchmark] for case in cases if case.benchmark in costs}
