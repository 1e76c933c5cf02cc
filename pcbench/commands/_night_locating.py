"""Names the commit of each finding that is worse, and what changed there; where the evidence names none, the range."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from pcbench.analysis.asv_results import read_some
from pcbench.analysis.bisection import Narrowed
from pcbench.analysis.findings import Finding, Judgement
from pcbench.analysis.pairs import locate as locate_ratios
from pcbench.analysis.pairs import log_ratios
from pcbench.analysis.records import Measurement, Run, Verdict
from pcbench.analysis.series import Place
from pcbench.analysis.stored_rules import judge_stored
from pcbench.commands._bisecting import Walk
from pcbench.commands._night_ground import Ground, about, between, environment_of, git
from pcbench.commands._night_pairs import At
from pcbench.commands._pair_cases import suite_of
from pcbench.paired import SUFFIX, Paired, append, read

_LOCATED = (Verdict.SLOWER, Verdict.CHANGED, Verdict.FAILED)
_NAMES = 5


@dataclass(frozen=True)
class Base:
    """What a finding is compared with: a commit; where there are several builds, its torch and the environment."""

    commit: str
    torch: str | None = None
    env: str | None = None

    @property
    def at(self) -> At:
        """The side to measure."""
        return At(self.commit, self.env)


def base_of(ground: Ground, finding: Finding) -> Base | None:
    """The commit that a finding is compared with; None where it is compared with none, or git has it no more."""
    kind, _, short = finding.against.partition(" ")
    if kind == "no":
        return None
    commit = git(ground.root, "rev-parse", "--verify", "--quiet", f"{short}^{{commit}}")
    if commit is None or ground.env is None:
        return None if commit is None else _base(ground, commit, ground.build(finding.place))
    torches = [one.torch for one in ground.entries() if one.commit == commit and one.torch not in (None, ground.torch)]
    return _base(ground, commit, torches[-1] if torches else None)


def _base(ground: Ground, commit: str, torch: str | None) -> Base:
    return Base(commit, torch, None if torch is None else environment_of(ground.conf, torch))


def locate(
    ground: Ground,
    judgement: Judgement,
    candidate: str,
    same_code: Mapping[str, Sequence[float]],
    ends: float,
    say: Callable[[str], None],
) -> Judgement:
    """The judgement, with what is known of where in its reasons."""
    found = [
        _located(ground, one, candidate, same_code, ends, say) if one.verdict in _LOCATED else one
        for one in judgement.findings
    ]
    return replace(judgement, findings=tuple(found))


def _located(
    ground: Ground,
    finding: Finding,
    candidate: str,
    same_code: Mapping[str, Sequence[float]],
    ends: float,
    say: Callable[[str], None],
) -> Finding:
    base = base_of(ground, finding)
    if base is None:
        return finding
    told = [finding.reason]
    if ground.env is not None:
        told.append(f"torch {base.torch or 'of the baseline'} -> {ground.torch}, both at {base.commit[:8]}")
    else:
        told.append(_where(ground, finding, base, candidate, same_code, ends, say))
    return replace(finding, reason="; ".join(filter(None, told)))


def _where(
    ground: Ground,
    finding: Finding,
    base: Base,
    candidate: str,
    same_code: Mapping[str, Sequence[float]],
    ends: float,
    say: Callable[[str], None],
) -> str:
    commits = between(ground.root, base.commit, candidate)
    if not commits:
        return f"no commit lies between {base.commit[:8]} and {candidate[:8]} on this branch"
    chain = [base.commit, *commits]
    found = Narrowed(0, 1) if len(commits) == 1 else _search(ground, finding, chain, base, same_code, ends, say)
    if found.named:
        return f"since {_commit(ground.root, chain[found.changed])}"
    suspected = chain[found.unchanged + 1 : found.changed + 1]
    names = ", ".join(commit[:8] for commit in suspected[:_NAMES])
    more = f" and {len(suspected) - _NAMES} more" if len(suspected) > _NAMES else ""
    return f"since one of {names}{more}: the evidence names none: {found.stopped}"


def _search(
    ground: Ground,
    finding: Finding,
    chain: Sequence[str],
    base: Base,
    same_code: Mapping[str, Sequence[float]],
    ends: float,
    say: Callable[[str], None],
) -> Narrowed:
    candidate = chain[-1]
    stored = _stored(ground, finding, chain)
    if stored.get(len(chain) - 1) is not True:
        stored = {}  # pairs found what stored numbers do not show
    changed = min((i for i, differs in stored.items() if differs), default=len(chain) - 1)
    low = max((i for i, differs in stored.items() if not differs and i < changed), default=0)
    if changed == low + 1:
        return Narrowed(low, changed)
    walk = Walk(
        ground.root,
        suite_of(ground.root)[0],
        [At(commit, base.env) for commit in chain],
        [commit[:8] for commit in chain],
        str(finding.case),
        ground.policy,
        same_code,
        ends,
        lambda line: say(f"  {finding.case} at {line}"),
        lambda index, paired: append(pairs_path(ground, chain[index], candidate, finding.place), [paired]),
        _on_record(ground, finding, chain, base),
    )
    if time.monotonic() > ends:
        return Narrowed(low, changed, "the budget is spent")
    if finding.verdict is not Verdict.FAILED and finding.unit == "seconds":
        if not finding.paired:
            return walk.find(walk.gross, finding.verdict, low, changed)
        last = walk.known.get(walk.places[-1])
        if last is not None:
            walk.sharpen(locate_ratios([r for look in last.looks for r in log_ratios(look.pairs)]).middle)
        return walk.find(walk.timing, finding.verdict, low, changed)
    ending = Verdict.FAILED if finding.verdict is Verdict.FAILED else Verdict.CHANGED
    return walk.find(walk.count, ending, low, changed)


def _stored(ground: Ground, finding: Finding, chain: Sequence[str]) -> dict[int, bool]:
    """Which measured commits of the range have what was found, and which have not; none, of what pairs found."""
    if finding.paired:
        return {}
    runs = {commit: run for commit in chain if (run := _run(ground, commit)) is not None}
    base = runs.get(chain[0])
    before = None if base is None else base.measurements.get(finding.case)
    found = {}
    for index, commit in enumerate(chain):
        run = runs.get(commit)
        differs = None if run is None else _differs(ground, finding, before, run)
        if differs is not None:
            found[index] = differs
    return found


def _differs(ground: Ground, finding: Finding, before: Measurement | None, run: Run) -> bool | None:
    now, absence = run.measurements.get(finding.case), run.absences.get(finding.case)
    if finding.verdict is Verdict.FAILED:
        failed = absence is not None and absence.status not in ("n/a", "UNAVAILABLE", "INTERRUPTED")
        return True if failed else False if now is not None else None
    if now is None or before is None:
        return None
    verdict = judge_stored(before, now, ground.policy.of(finding.case)).verdict
    return None if verdict is Verdict.INCONCLUSIVE else verdict is finding.verdict


def _run(ground: Ground, commit: str, torch: str | None = None) -> Run | None:
    there = [one for one in ground.entries() if one.commit == commit and torch in (None, one.torch)]
    if not there:
        return None
    newest = max(there, key=lambda one: one.path.stat().st_mtime)
    return next(iter(read_some(ground.results, [newest.path]).runs), None)


def _on_record(ground: Ground, finding: Finding, chain: Sequence[str], base: Base) -> dict[At, Paired]:
    """Comparisons of the case with the first of the range that were kept, by what they compared."""
    found = {}
    for path in (ground.results / ground.machine).glob(f"*{SUFFIX}"):
        for one in read(path):
            of_range = one.baseline.commit == chain[0] and one.candidate.commit in chain[1:]
            if not of_range or one.case != str(finding.case) or base.torch not in (None, one.candidate.torch):
                continue
            found[At(str(one.candidate.commit), base.env)] = one
    return found


def pairs_path(ground: Ground, commit: str, candidate: str, place: Place) -> Path:
    """Where the pairs of a commit are kept: beside its result, or where that would be, by the candidate's."""
    beside = next(e.path for e in ground.entries() if (e.commit, e.environment) == (candidate, place.environment))
    return beside.with_name(beside.name.replace(candidate[:8], commit[:8], 1)).with_suffix(SUFFIX)


def _commit(root: Path, commit: str) -> str:
    date, subject = about(root, commit)
    return f"{commit[:8]} of {date} ({subject})"
