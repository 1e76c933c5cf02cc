"""What ``pcbench ab`` found, as findings, as a table for people, and as JSON."""

from __future__ import annotations

import json
import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace

from pcbench.analysis.findings import Finding, Judgement, worst_first
from pcbench.analysis.paired_verdicts import SameCode, false_alarms, host_moved, judge_paired, rule_of
from pcbench.analysis.pairs import Location, locate, log_ratios
from pcbench.analysis.policy import Policy
from pcbench.analysis.quantities import counted, quantity
from pcbench.analysis.records import Case, Verdict
from pcbench.analysis.series import Place
from pcbench.analysis.verdict_groups import visible
from pcbench.commands._pairing import neither_has
from pcbench.paired import Paired, Side

SCHEMA = 1


@dataclass(frozen=True)
class Compared:
    """What was compared, and what of it was measured.

    Attributes:
        same_code: Pairs of the same code that were on record before.
    """

    baseline: Side
    candidate: Side
    machine: str
    policy: Policy
    same_code: SameCode

    @property
    def place(self) -> Place:
        return Place(self.machine, self.candidate.env)

    @property
    def against(self) -> str:
        return f"baseline {self.baseline.commit[:8] if self.baseline.commit else self.baseline.name}"


def judged(
    compared: Compared, found: Sequence[Paired], cases: Mapping[str, Case], counts: Sequence[Finding]
) -> Judgement:
    """The verdicts on pairs, beside those on counts; a case that neither side has is listed, not judged."""
    absent = [one for one in found if neither_has(one.lacking, one.failed)]
    findings = {one.case: _finding(compared, one, cases[one.case]) for one in found if one not in absent}
    # Another torch may well make most cases slower; of the same interpreter, most that move together moved by the host.
    if compared.baseline.env == compared.candidate.env:
        verdicts = {case: finding.verdict for case, finding in findings.items()}
        blamed = host_moved(verdicts, compared.policy)
        share = f"{len(blamed)} of {counted(len(findings), 'case')} moved the same way: the machine"
        for case in blamed:
            was = findings[case]
            findings[case] = replace(was, verdict=Verdict.HOST, reason=f"{was.reason}; {share}")
    unavailable = tuple((cases[one.case], one.failed) for one in absent)
    return Judgement(worst_first([*findings.values(), *counts]), unavailable, compared.against, str(compared.place))


def _finding(compared: Compared, paired: Paired, case: Case) -> Finding:
    verdict, reason, rule = judge_paired(paired, compared.policy, compared.same_code.get(paired.versioned, ()))
    pairs = [pair for look in paired.looks for pair in look.pairs]
    one, other = (statistics.median(side) for side in zip(*pairs, strict=True)) if pairs else (None, None)
    return Finding(case, verdict, reason, compared.place, rule, paired.unit, one, other, compared.against, paired=True)


def table(judgement: Judgement, found: Sequence[Paired]) -> list[str]:
    """A line a case, worst first, with what is to be known of those that are not the same below it."""
    pairs = {one.case: one for one in found}
    rows = [("verdict", "case", "ratio", "95 %", "pairs", "baseline")]
    for finding in judgement.findings:
        paired = pairs.get(str(finding.case))
        place = None if paired is None else location(paired)
        taken = "" if paired is None else "+".join(str(len(look.pairs)) for look in paired.looks)
        value = "" if finding.baseline is None else quantity(finding.baseline, finding.unit)
        ratio = "" if place is None else f"{math.exp(place.middle):.3f}"
        interval = "" if place is None else f"{math.exp(place.low):.3f} to {math.exp(place.high):.3f}"
        rows.append((finding.verdict, visible(str(finding.case)), ratio, interval, taken, value))
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = []
    for row, told in zip(rows, (None, *judgement.findings), strict=True):
        lines.append("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())
        if told is not None and told.verdict is not Verdict.SAME:
            lines.append(f"    {visible(told.reason)}")
    return lines


def footing(compared: Compared, judgement: Judgement, found: Sequence[Paired]) -> list[str]:
    """What the verdicts stand on: the rules, how often they are false, the control, and what was not judged."""
    lines = []
    rules: dict[str, int] = {}
    for one in found:
        if one.looks and not one.failed:
            same = compared.same_code.get(one.versioned, ())
            rule = rule_of(one, compared.policy, same)
            said = f"{rule}; {false_alarms(rule, same)}"
            rules[said] = rules.get(said, 0) + 1
    for said, count in sorted(rules.items(), key=lambda item: -item[1]):
        lines.append(f"rule for {counted(count, 'case')}: {said}")
    controls = sorted({pair for one in found for look in one.looks for pair in look.control})
    if controls:
        ratios = sorted(map(math.exp, log_ratios(controls)))
        cut = len(ratios) // 40
        middle, low, high = statistics.median(ratios), ratios[cut], ratios[-1 - cut]
        spread = f"the middle 95 % of {counted(len(ratios), 'pair')} lie from {low:.3f} to {high:.3f}"
        lines.append(f"control, the same code on both sides: {middle:.3f} times; {spread}")
    reasons: dict[str, int] = {}
    for _, reason in judgement.unavailable:
        reasons[reason] = reasons.get(reason, 0) + 1
    lines += [f"not judged, {counted(count, 'case')}: {visible(reason)}" for reason, count in reasons.items()]
    return lines


def location(paired: Paired) -> Location | None:
    """Where the ln ratios of all pairs lie; None where there is none."""
    ratios = [ratio for look in paired.looks for ratio in log_ratios(look.pairs)]
    return locate(ratios) if any(not math.isnan(ratio) for ratio in ratios) else None


def as_json(compared: Compared, judgement: Judgement, found: Sequence[Paired], code: int) -> str:
    """All of it, with every pair; ratios, not their logarithms."""
    pairs = {one.case: one for one in found}
    cases = []
    for finding in judgement.findings:
        paired = pairs.get(str(finding.case))
        place = None if paired is None else location(paired)
        ratios = {} if place is None else {name: math.exp(value) for name, value in asdict(place).items()}
        looks = [] if paired is None else [asdict(look) for look in paired.looks]
        told = {name: getattr(finding, name) for name in ("verdict", "reason", "rule", "unit", "baseline", "candidate")}
        cases.append({"case": str(finding.case), **told, "ratio": ratios or None, "looks": looks})
    whole = {
        "schema": SCHEMA,
        "baseline": asdict(compared.baseline),
        "candidate": asdict(compared.candidate),
        "machine": compared.machine,
        "exit_code": code,
        "cases": cases,
        "unavailable": [{"case": str(case), "reason": reason} for case, reason in judgement.unavailable],
    }
    return json.dumps(whole, indent=1)
