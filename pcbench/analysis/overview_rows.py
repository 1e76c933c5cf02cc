"""What changed at the newest commit of each place, worst first; what could not be compared; how many stayed."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from pcbench.analysis.census_changes import sentences
from pcbench.analysis.contract_changes import changes
from pcbench.analysis.findings import UNKNOWN, WORST_FIRST, Finding
from pcbench.analysis.judge import Reference, judge
from pcbench.analysis.quantities import counted
from pcbench.analysis.records import Case, Run, Verdict
from pcbench.analysis.series import Place
from pcbench.analysis.shown import Shown

_ALONE = 3
"""More cases than this that could not be compared for one reason are one line."""


@dataclass(frozen=True)
class Row:
    """Something that the newest commit of a place changed, or of which that cannot be said.

    Attributes:
        subject: The case, or what else changed.
        verdict: None where no baseline was accepted: nothing was judged.
        reason: What changed, with its numbers.
        ratio: newest / what it is compared with, where that is a number.
        against: What it is compared with.
        rule: The threshold that decided.
        cases: How many cases the row stands for.
    """

    place: Place
    subject: Case | str
    verdict: Verdict | None
    reason: str
    ratio: float | None = None
    against: str = ""
    rule: str = ""
    cases: int = 1

    @property
    def moved(self) -> float:
        """How far the number moved, up or down: |ln ratio|; infinite where a change has no ratio."""
        return abs(math.log(self.ratio)) if self.ratio else math.inf


@dataclass(frozen=True)
class Overview:
    """What the newest commits changed.

    Attributes:
        changed: Worst first.
        unknown: What could not be compared, and why.
        same: How many cases did not change beyond their threshold.
        judged: How many places had a verdict.
        alone: Places with one commit and no baseline: there is nothing to compare with.
    """

    changed: tuple[Row, ...]
    unknown: tuple[Row, ...]
    same: int
    judged: int = 0
    alone: tuple[Place, ...] = ()


def overview(shown: Shown) -> Overview:
    """Beside the baseline where verdicts are given, else beside the commit before, by the same thresholds."""
    changed: list[tuple[Finding, Row]] = []
    unknown: list[tuple[Finding, Row]] = []
    others: list[Row] = []
    same, judged, alone = 0, 0, []
    for place, ordered in shown.places.items():
        findings = [finding for finding in shown.findings if finding.place == place]
        is_judged = bool(findings)
        judged += is_judged
        if not is_judged and len(ordered) > 1:
            reference = Reference("the commit before,", ordered[-2])
            findings = list(judge(ordered[-1], [reference], shown.policy).findings)
        if not findings and len(ordered) == 1:
            alone.append(place)
        for finding in findings:
            if finding.verdict is Verdict.SAME:
                same += 1
            elif finding.verdict in UNKNOWN:
                unknown.append((finding, _row(finding, is_judged)))
            else:
                changed.append((finding, _row(finding, is_judged)))
        others += _others(place, ordered)
    ranked = [*(row for _, row in sorted(changed, key=_rank)), *others]
    return Overview(tuple(ranked), tuple(_together(unknown)), same, judged, tuple(alone))


def _row(finding: Finding, judged: bool) -> Row:
    verdict = finding.verdict if judged or finding.verdict in (Verdict.FAILED, Verdict.MISSING) else None
    # What is new beside the commit before is not asked to be accepted.
    reason = finding.reason if judged or finding.verdict is not Verdict.NEW else "new at this commit"
    return Row(finding.place, finding.case, verdict, reason, finding.ratio, finding.against, finding.rule)


def _rank(item: tuple[Finding, Row]) -> tuple[int, float, str]:
    """Verdicts worst first; of what was not judged, what went up is worse than what went down."""
    finding, row = item
    verdict = finding.verdict
    if row.verdict is None:
        down = verdict is Verdict.INCONCLUSIVE and row.ratio is not None and row.ratio < 1
        verdict = Verdict.FASTER if down or verdict is Verdict.FASTER else Verdict.CHANGED
    return WORST_FIRST.index(verdict), -row.moved, str(finding.case)


def _others(place: Place, ordered: Sequence[Run]) -> Iterable[Row]:
    """Censuses and claims that the newest run changed."""
    if len(ordered) < 2:
        return
    before, newest = ordered[-2:]
    against = f"the commit before, {before.commit[:8]}"
    for model in sorted({*before.censuses} & {*newest.censuses}):
        said = sentences(before.censuses[model], newest.censuses[model])
        if said:
            yield Row(place, f"guards of {model}", None, "; ".join(said), None, against)
    for change in changes([before, newest]):
        told = f"{change.old.outcome} -> {change.new.outcome}: {change.new.evidence}"
        yield Row(place, f"claim {change.new.id}", None, told, None, against)


def _together(found: Sequence[tuple[Finding, Row]]) -> Iterable[Row]:
    """The rows in the order of their verdicts; many cases of one reason as one."""

    def key(item: tuple[Finding, Row]) -> tuple[int, str, str]:
        return WORST_FIRST.index(item[0].verdict), str(item[0].place), item[1].reason

    groups: dict[tuple[int, str, str], list[Row]] = {}
    for item in sorted(found, key=key):
        groups.setdefault(key(item), []).append(item[1])
    for rows in groups.values():
        if len(rows) <= _ALONE:
            yield from rows
            continue
        first = rows[0]
        yield replace(first, subject=counted(len(rows), "case"), ratio=None, cases=len(rows))
