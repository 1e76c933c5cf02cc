"""Gives every case of a candidate its verdict, beside one run or more that it is compared with. Pure: no files."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

from pcbench.analysis.census_changes import sentences
from pcbench.analysis.codegen_verdicts import judge_codegen, judge_without_rows
from pcbench.analysis.comparability import difference
from pcbench.analysis.findings import IGNORED, WORST_FIRST, Finding, Judgement, worst_first
from pcbench.analysis.paired_verdicts import SameCode, host_moved, judge_paired, ratio_of
from pcbench.analysis.policy import Policy
from pcbench.analysis.records import LEFT_OUT, Absence, Case, Measurement, Run, Verdict
from pcbench.analysis.series import Place
from pcbench.analysis.stored_rules import Said, compared, unless_busy
from pcbench.paired import Paired


@dataclass(frozen=True)
class Reference:
    """What a candidate is compared with.

    Attributes:
        name: ``baseline`` or ``accepted``.
        run: None where it has no result.
        cases: The runs of cases that were accepted later than the rest.
    """

    name: str
    run: Run | None
    cases: Mapping[str, Run] = field(default_factory=dict)

    def of(self, case: Case) -> Run | None:
        """The run that has this case's number."""
        return self.cases.get(str(case), self.run)


@dataclass(frozen=True)
class Evidence:
    """What was measured in pairs, and what is on record of pairs of the same code.

    Attributes:
        paired: By case id; several where it was measured against several baselines.
        same_code: ln ratios by case and the benchmark's version.
        problems: What of it could not be read.
    """

    paired: Mapping[str, Sequence[Paired]] = field(default_factory=dict)
    same_code: SameCode = field(default_factory=dict)
    problems: tuple[str, ...] = ()


def judge(
    candidate: Run,
    references: Sequence[Reference],
    policy: Policy,
    evidence: Evidence | None = None,
    vary: Collection[str] = (),
) -> Judgement:
    """Verdicts on all cases that the candidate or a reference has; of several references the worst verdict counts.

    Args:
        references: At least one; only the first can make a case NEW.
        vary: What may differ between the runs, of :data:`pcbench.analysis.comparability.VARIABLE`.
    """
    judging = _Judging(candidate, policy, evidence or Evidence(), vary)
    cases = {*candidate.measurements, *candidate.absences}
    for reference in references:
        for run in (reference.run, *reference.cases.values()):
            if run is not None:
                cases |= {*run.measurements, *(case for case, a in run.absences.items() if not a.not_measured)}
    findings: list[Finding] = []
    unavailable: list[tuple[Case, str]] = []
    for case in sorted(cases, key=str):
        if policy.of(case).ignore:
            unavailable.append((case, IGNORED))
            continue
        found = [judging.finding(case, reference) for reference in references]
        known = [one for i, one in enumerate(found) if one is not None and (i == 0 or one.verdict is not Verdict.NEW)]
        if known:
            findings.append(min(known, key=lambda one: WORST_FIRST.index(one.verdict)))
        else:
            unavailable.append((case, _absence(candidate, case).reason or _absence(candidate, case).status))
    findings += judging.gone(references, {case.benchmark for case in cases})
    return Judgement(worst_first(_blame_the_machine(findings, policy)), tuple(unavailable))


@dataclass(frozen=True)
class _Judging:
    candidate: Run
    policy: Policy
    evidence: Evidence
    vary: Collection[str]

    def finding(self, case: Case, reference: Reference) -> Finding | None:
        """The verdict on a case beside a reference; None where neither has it, for the same reason."""
        run = reference.of(case)
        before = None if run is None else run.measurements.get(case)
        now = self.candidate.measurements.get(case)
        place = Place(self.candidate.machine.name, self.candidate.environment)
        against = f"{reference.name} {run.commit[:8]}" if run is not None else f"no {reference.name}"
        blank = Finding(case, Verdict.NEW, "", place, against=against)
        if now is None:
            return self._absent(blank, before, run)
        blank = replace(blank, unit=now.unit, candidate=compared(now))
        if before is None:
            why = "it has no baseline" if run is None else _why_no_number(run, case)
            return replace(blank, reason=f"{why}; pcbench accept makes this one its baseline")
        assert run is not None
        blank = replace(blank, baseline=compared(before))
        differing = difference(run, self.candidate, self.vary)
        if differing is not None:
            return replace(blank, verdict=Verdict.UNJUDGED, reason=differing)
        return self._compared(blank, before, now, run)

    def gone(self, references: Sequence[Reference], there: Collection[str]) -> list[Finding]:
        """A finding for each benchmark that the suite has no more, and a reference has a result of."""
        found: dict[str, Finding] = {}
        place = Place(self.candidate.machine.name, self.candidate.environment)
        for reference in references:
            for run in filter(None, (reference.run, *reference.cases.values())):
                for name, why in run.left_out.items():
                    if name not in {*there, *found, *reference.cases}:
                        against = f"{reference.name} {run.commit[:8]}"
                        found[name] = Finding(Case(name), Verdict.MISSING, why, place, against=against)
        return list(found.values())

    def _absent(self, blank: Finding, before: Measurement | None, run: Run | None) -> Finding | None:
        absence = _absence(self.candidate, blank.case)
        then = None if run is None or before is not None else run.absences.get(blank.case)
        if run is not None and then is not None and self._same_reason(then, run, absence):
            return None
        if before is None and absence.not_measured:
            return None
        commit, benchmark = self.candidate.commit[:8], blank.case.benchmark
        shown = f"no reason recorded; asv run --show-stderr --bench {benchmark} {commit}^! shows it"
        reason = absence.reason or shown
        if before is not None:
            blank = replace(blank, unit=before.unit, baseline=compared(before))
        if absence.status == LEFT_OUT:
            return replace(blank, verdict=Verdict.INCONCLUSIVE, reason=f"not measured: {reason}")
        if absence.status in ("n/a", "UNAVAILABLE", "INTERRUPTED", "left out"):
            if before is None:
                return replace(blank, reason=f"{absence.status}: {reason}; pcbench accept takes it as it is")
            said = "it was not measured" if absence.not_measured else f"{absence.status}: {reason}"
            return replace(blank, verdict=Verdict.MISSING, reason=said)
        failed = replace(blank, verdict=Verdict.FAILED, reason=f"{absence.status}: {reason}")
        if before is None or run is None or difference(run, self.candidate, self.vary) is not None:
            return failed
        ruled = judge_codegen(blank.case, before, None, (run, self.candidate), self.policy.of(blank.case))
        return failed if ruled is None or ruled.verdict is not Verdict.SLOWER else _found(blank, ruled)

    def _same_reason(self, then: Absence, run: Run, now: Absence) -> bool:
        """Whether neither has the case for the same stated reason, but for torch's version where that may differ."""
        if then.not_measured and now.not_measured:
            return True
        reasons = [(then.reason, run), (now.reason, self.candidate)]
        stated = {_without_torch(reason, one) if self.vary else reason for reason, one in reasons if reason}
        return then.status == now.status and None not in (then.reason, now.reason) and len(stated) == 1

    def _compared(self, blank: Finding, before: Measurement, now: Measurement, run: Run) -> Finding:
        policy = self.policy.of(blank.case)
        if now.kind in ("time", "number"):
            # What was stopped before it was settled decides nothing.
            for paired in self.evidence.paired.get(str(blank.case), ()):
                if (
                    (paired.settled or paired.failed)
                    and paired.unit == now.unit
                    and _is_of(paired, run, self.candidate)
                ):
                    record = self.evidence.same_code.get(paired.versioned, ())
                    said = Said(*judge_paired(paired, policy, record))
                    return replace(_found(blank, said), paired=True, paired_ratio=ratio_of(paired))
        runs = (run, self.candidate)
        if (ruled := judge_codegen(blank.case, before, now, runs, policy)) is not None:
            return _found(blank, ruled)
        said = unless_busy(judge_without_rows(before, now, policy), (before, now), runs, policy)
        words = "" if said.verdict is Verdict.SAME else _census_words(blank.case, run, self.candidate)
        if said.verdict is Verdict.INCONCLUSIVE and self.evidence.paired.get(str(blank.case)):
            words = f"; pairs are on record, but not settled ones against {run.commit[:8]}"
        return _found(blank, replace(said, reason=said.reason + words))


def _found(blank: Finding, said: Said) -> Finding:
    return replace(blank, verdict=said.verdict, reason=said.reason, rule=said.rule, confirm=said.confirm)


def _why_no_number(run: Run, case: Case) -> str:
    changed = run.left_out.get(case.benchmark)
    if changed is not None:
        return f"the benchmark is another one than in {run.commit[:8]}: {changed}"
    return f"{run.commit[:8]} has no number of it"


def _census_words(case: Case, baseline: Run, candidate: Run) -> str:
    """What changed in the census that a case counts an entry of, in words; empty where it counts none."""
    model = case.param("model") or ""
    if case.param("entry") is None or model not in baseline.censuses or model not in candidate.censuses:
        return ""
    words = sentences(baseline.censuses[model], candidate.censuses[model])
    return f"; {'; '.join(words)}" if words else ""


def _without_torch(reason: str, run: Run) -> str:
    version = None if run.context is None else run.context.torch
    return reason.replace(version, "this").replace(version.partition("+")[0], "this") if version else reason


def _absence(run: Run, case: Case) -> Absence:
    left_out = run.left_out.get(case.benchmark)
    if left_out is not None:
        return Absence("left out", left_out)
    return run.absences.get(case, Absence("n/a"))


def _is_of(paired: Paired, baseline: Run, candidate: Run) -> bool:
    """Whether a paired measurement compared just these two."""
    sides = ((paired.baseline, baseline), (paired.candidate, candidate))
    return all(
        side.commit == run.commit and (run.context is None or side.torch in (None, run.context.torch))
        for side, run in sides
    )


def _blame_the_machine(findings: Sequence[Finding], policy: Policy) -> list[Finding]:
    """Where too many timings moved the same way, gross stored ones of them are HOST, and suspects are told of it."""
    moved = {str(one.case): _moved(one, policy) for one in findings if one.unit == "seconds" and _is_compared(one)}
    blamed = host_moved(moved, policy)
    share = f"{len(blamed)} of {len(moved)} timings moved the same way: the machine"
    return [_blamed(one, share, policy) if str(one.case) in blamed and not one.paired else one for one in findings]


def _blamed(finding: Finding, share: str, policy: Policy) -> Finding:
    said = replace(finding, reason=f"{finding.reason}; {share}")
    if finding.verdict not in (Verdict.SLOWER, Verdict.FASTER):
        return said
    return replace(said, verdict=Verdict.HOST, rule=f"more than {policy.host_share:.0%} of timings are the machine")


def _is_compared(finding: Finding) -> bool:
    return finding.ratio is not None and finding.verdict is not Verdict.UNJUDGED


def _moved(finding: Finding, policy: Policy) -> Verdict:
    """Which way a timing moved, beyond what makes a suspect."""
    ratio, delta = finding.ratio or 1.0, policy.of(finding.case).stored_delta
    if max(ratio, 1 / ratio) - 1 <= delta:
        return Verdict.SAME
    return Verdict.SLOWER if ratio > 1 else Verdict.FASTER
