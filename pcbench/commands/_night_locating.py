"""Names the commit of each finding that is worse, and what changed there; where the evidence names none, the range."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from pcbench.analysis.asv_results import read_some
from pcbench.analysis.baseline import FILE, read_baseline
from pcbench.analysis.bisection import Narrowed
from pcbench.analysis.codegen_verdicts import UNTOLD, judge_codegen, judge_without_rows
from pcbench.analysis.comparability import difference
from pcbench.analysis.findings import Finding, Judgement
from pcbench.analysis.pairs import locate as locate_ratios
from pcbench.analysis.pairs import log_ratios
from pcbench.analysis.records import LEFT_OUT, Run, Verdict
from pcbench.analysis.series import Place
from pcbench.commands._bisecting import Walk
from pcbench.commands._night_ground import PROFILE, Ground, about, between, environment_of
from pcbench.commands._night_pairs import At
from pcbench.commands._pair_cases import suite_of
from pcbench.errors import PcbenchError
from pcbench.paired import SUFFIX, Paired, append, read
from pcbench.side_trees import resolve

_LOCATED = (Verdict.SLOWER, Verdict.CHANGED, Verdict.FAILED)
_UNMEASURED = ("n/a", "UNAVAILABLE", "INTERRUPTED", LEFT_OUT)
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
    commit = None if kind == "no" else resolve(ground.root, short)
    if commit is None:
        return None
    torch = (
        ground.build(finding.place)
        if ground.env is None
        else _torch_of(ground, commit, finding, named=kind == "baseline")
    )
    return _base(ground, commit, torch)


def _torch_of(ground: Ground, commit: str, finding: Finding, *, named: bool) -> str | None:
    """The torch of the result that the gate compares another build with: what was accepted last, where not named."""
    there = {one.environment: one.torch for one in ground.entries() if one.commit == commit}
    there.pop(finding.place.environment, None)
    if named:
        return next(reversed(there.values()), None)
    candidate = _run(ground, commit, finding.place.environment)
    accepted = sorted(read_baseline(ground.results / FILE).places.items(), key=lambda item: item[1].date)
    for name, _ in reversed(accepted):
        environment, _, machine = name.rpartition(" on ")
        run = _run(ground, commit, environment) if machine == ground.machine and environment in there else None
        if run is not None and (candidate is None or difference(run, candidate, ("torch",)) is None):
            return there[environment]
    return None


def _base(ground: Ground, commit: str, torch: str | None) -> Base:
    return Base(commit, torch, None if torch is None else environment_of(ground.conf, torch))


def locate(
    ground: Ground,
    judgement: Judgement,
    candidate: str,
    ends: float,
    say: Callable[[str], None],
) -> Judgement:
    """The judgement, with what is known of where in its reasons."""
    found = [
        _located(ground, one, candidate, ends, say) if one.verdict in _LOCATED else one for one in judgement.findings
    ]
    return replace(judgement, findings=tuple(found))


def _located(
    ground: Ground,
    finding: Finding,
    candidate: str,
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
        try:
            told.append(_where(ground, finding, base, candidate, ends, say))
        except PcbenchError as error:  # the other findings, and their verdicts, are still to be told
            told.append(f"since which commit is not known: {error.problem}")
    return replace(finding, reason="; ".join(filter(None, told)))


def _where(
    ground: Ground,
    finding: Finding,
    base: Base,
    candidate: str,
    ends: float,
    say: Callable[[str], None],
) -> str:
    commits = between(ground.root, base.commit, candidate)
    if not commits:
        return f"no commit lies between {base.commit[:8]} and {candidate[:8]} on this branch"
    chain = [base.commit, *commits]
    found = Narrowed(0, 1) if len(commits) == 1 else _search(ground, finding, chain, base, ends, say)
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
    known = ground.suite().get(finding.case.benchmark)
    if known is not None and known.codegen and finding.verdict is not Verdict.FAILED:
        return Narrowed(low, changed, UNTOLD)
    run = _run(ground, candidate, finding.place.environment)
    walk = Walk(
        ground.root,
        suite_of(ground.root)[0],
        [At(commit, base.env) for commit in chain],
        [commit[:8] for commit in chain],
        str(finding.case),
        ground.policy,
        ground.same_code(None if run is None or run.context is None else run.context.torch),
        ends,
        lambda line: say(f"  {finding.case} at {line}"),
        lambda index, paired: append(pairs_path(ground, chain[index], candidate, finding.place), [paired]),
        _on_record(ground, finding, chain, base),
        {PROFILE: ground.profile},
    )
    if time.monotonic() > ends:
        return Narrowed(low, changed, "the budget is spent")
    if finding.verdict is not Verdict.FAILED and (finding.unit == "seconds" or finding.paired):
        if not finding.paired:
            return walk.find(walk.gross, finding.verdict, low, changed)
        last = walk.known.get(walk.places[-1])
        if last is not None:
            walk.sharpen(locate_ratios([r for look in last.looks for r in log_ratios(look.pairs)]).middle)
        return walk.find(walk.timing, finding.verdict, low, changed)
    return walk.find(walk.count, finding.verdict, low, changed)


def _stored(ground: Ground, finding: Finding, chain: Sequence[str]) -> dict[int, bool]:
    """Which measured commits of the range have what was found, and which have not; none, of what pairs found."""
    if finding.paired:
        return {}
    runs = {commit: run for commit in chain if (run := _run(ground, commit, finding.place.environment)) is not None}
    base = runs.get(chain[0])
    found = {}
    for index, commit in enumerate(chain):
        run = runs.get(commit)
        differs = None if run is None else _differs(ground, finding, base, run)
        if differs is not None:
            found[index] = differs
    return found


def _differs(ground: Ground, finding: Finding, base: Run | None, run: Run) -> bool | None:
    now, absence = run.measurements.get(finding.case), run.absences.get(finding.case)
    if finding.verdict is Verdict.FAILED:
        failed = absence is not None and absence.status not in _UNMEASURED
        return True if failed else False if now is not None else None
    before = None if base is None else base.measurements.get(finding.case)
    if base is None or before is None:
        return None
    policy = ground.policy.of(finding.case)
    ruled = judge_codegen(finding.case, before, now, (base, run), policy)
    said = judge_without_rows(before, now, policy) if ruled is None and now is not None else ruled
    if said is None or said.verdict in (Verdict.INCONCLUSIVE, Verdict.UNJUDGED):
        return None
    return said.verdict is finding.verdict


def _run(ground: Ground, commit: str, environment: str) -> Run | None:
    there = [one.path for one in ground.entries() if (one.commit, one.environment) == (commit, environment)]
    return next(iter(read_some(ground.results, there).runs), None)


def _on_record(ground: Ground, finding: Finding, chain: Sequence[str], base: Base) -> dict[At, Paired]:
    """Comparisons of the case with the first of the range that were kept, by what they compared; settled ones first."""
    version = ground.version(finding.case.benchmark)
    found: dict[At, Paired] = {}
    for path in sorted((ground.results / ground.machine).glob(f"*{SUFFIX}")):
        for one in read(path, []):  # the canaries' rate names what cannot be read
            of_range = one.baseline.commit == chain[0] and one.candidate.commit in chain[1:]
            same = one.case == str(finding.case) and one.version in ("", version)
            build = one.baseline.env == one.candidate.env and base.torch in (None, one.candidate.torch)
            at = At(str(one.candidate.commit), base.env)
            if of_range and same and build and (at not in found or not found[at].settled):
                found[at] = one
    last = found.get(At(chain[-1], base.env))
    return found if last is None or last.settled else {at: one for at, one in found.items() if one is not last}


def pairs_path(ground: Ground, commit: str, candidate: str, place: Place) -> Path:
    """Where the pairs of a commit are kept: beside its result, or where that would be, by the candidate's.

    Raises:
        PcbenchError: The candidate has no result there.
    """
    for one in ground.entries():
        if (one.commit, one.environment) == (candidate, place.environment):
            return one.path.with_name(one.path.name.replace(candidate[:8], commit[:8], 1)).with_suffix(SUFFIX)
    raise PcbenchError(f"{candidate[:8]} has no result in {place}", hint="the gate reads pairs beside a result")


def _commit(root: Path, commit: str) -> str:
    date, subject = about(root, commit)
    return f"{commit[:8]} of {date} ({subject})"
