"""Decides a night's suspects in pairs of processes, and measures its canary: pairs of the same code."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from pcbench.analysis.canaries import Rate, rate, tonight
from pcbench.analysis.findings import Finding, Judgement
from pcbench.analysis.gating import same_code
from pcbench.analysis.paired_verdicts import judge_paired
from pcbench.analysis.policy import Policy
from pcbench.analysis.quantities import counted, listed
from pcbench.analysis.records import Case, Verdict
from pcbench.analysis.suspects import Suspect
from pcbench.commands._night_ground import Ground
from pcbench.commands._night_locating import Base, base_of, pairs_path
from pcbench.commands._night_pairs import At, compare, ready
from pcbench.commands._pair_cases import suite_of
from pcbench.paired import SUFFIX, Paired, append, read

_NAMED = 3
_CANARY = "canary-"


def record(ground: Ground) -> dict[str, list[float]]:
    """ln ratios of pairs of the same code on this machine, by case id."""
    return same_code(_files(ground))


def measured_rate(ground: Ground) -> Rate:
    """The false alarms of all canaries of this machine."""
    found = [one for path in _files(ground) for one in read(path) if one.is_canary]

    def verdict(paired: Paired) -> Verdict:
        # Without the record: a canary is not to be judged by a delta that it has set itself.
        return judge_paired(paired, ground.policy)[0]

    return rate(found, verdict)


def confirm(
    ground: Ground, candidate: str, chosen: Sequence[Suspect], ends: float, say: Callable[[str], None]
) -> list[str]:
    """Measure suspects in pairs, into the file beside the candidate's result; what could not be, in sentences."""
    groups: dict[tuple[Base, Path], list[Finding]] = {}
    notes = []
    for one in (suspect.finding for suspect in chosen):
        base = base_of(ground, one)
        if base is None:
            notes.append(f"{one.case} was not confirmed: git has no commit of {one.against}")
            continue
        groups.setdefault((base, pairs_path(ground, candidate, candidate, one.place)), []).append(one)
    known = record(ground)
    suite = suite_of(ground.root)[0]
    for (base, path), findings in groups.items():
        done = _done(path, base, candidate)
        cases = [str(one.case) for one in findings if str(one.case) not in done]
        left = ends - time.monotonic()
        if not cases or left <= 0:
            continue
        say(f"confirming {_names(cases)}: {base.commit[:8]} against {candidate[:8]}, in pairs of processes")
        other = At(candidate, ground.env if ground.env is not None else base.env)
        with ready(ground.root, suite, base.at, other) as pair:
            compare(pair, cases, ground.policy, same_code=known, budget_s=left, keep=_kept(ground, path, known, say))
    return notes


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
    base = base_of(ground, by_id[str(chosen[0])])
    left = ends - time.monotonic()
    if base is None or left <= 0:
        return ["no canary: " + ("git has no commit of the baseline" if base is None else "the budget is spent")]
    entry = ground.entry(candidate)
    assert entry is not None
    path = entry.path.with_name(f"{_CANARY}{started.translate({ord(c): None for c in ':-+'})}{SUFFIX}")
    done = {one.case for one in read(path)} if path.is_file() else set()
    names = [str(case) for case in chosen if str(case) not in done]
    if not names:
        return []
    say(f"canary: {base.commit[:8]} against itself, {_names(names)}")
    with ready(ground.root, suite_of(ground.root)[0], base.at, base.at) as pair:
        compare(pair, names, ground.policy, same_code={}, budget_s=left, keep=_kept(ground, path, {}, say))
    return []


def _kept(
    ground: Ground, path: Path, known: Mapping[str, Sequence[float]], say: Callable[[str], None]
) -> Callable[[Paired], None]:
    def keep(found: Paired) -> None:
        append(path, [found])
        verdict, reason, _ = judge_paired(found, ground.policy, known.get(found.case, ()))
        say(f"  {found.case}: {verdict}: {reason}")

    return keep


def _timings(judgement: Judgement, policy: Policy) -> list[Case]:
    """Cases that pairs can be taken of, as many as take no seconds a process; slow ones where there are no others."""
    timed = [one for one in judgement.findings if one.unit == "seconds" and one.ratio is not None]
    quick = [one.case for one in timed if (one.baseline or 0.0) < policy.of(one.case).slow_s]
    return quick or [one.case for one in timed]


def _done(path: Path, base: Base, candidate: str) -> set[str]:
    """The cases that a file has settled pairs of: an interrupted night need not take them again."""
    if not path.is_file():
        return set()
    return {
        one.case
        for one in read(path)
        if (one.baseline.commit, one.candidate.commit) == (base.commit, candidate)
        and judge_paired(one, Policy())[0] is not Verdict.INCONCLUSIVE
    }


def _files(ground: Ground) -> list[Path]:
    return sorted((ground.results / ground.machine).glob(f"*{SUFFIX}"))


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
