"""What the judge says: a verdict for each case, and the exit code that they add up to."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from pcbench.analysis.records import Case, Verdict
from pcbench.analysis.series import Place

WORST_FIRST = (
    Verdict.SLOWER,
    Verdict.CHANGED,
    Verdict.FAILED,
    Verdict.MISSING,
    Verdict.HOST,
    Verdict.UNJUDGED,
    Verdict.NEW,
    Verdict.INCONCLUSIVE,
    Verdict.FASTER,
    Verdict.SAME,
)
WORSE = (Verdict.SLOWER, Verdict.CHANGED)
UNKNOWN = (Verdict.FAILED, Verdict.MISSING, Verdict.HOST, Verdict.UNJUDGED, Verdict.NEW)

IGNORED = "the policy ignores it"
"""The reason in :attr:`Judgement.unavailable` of a case that the policy says not to judge."""


@dataclass(frozen=True)
class Finding:
    """The verdict on one case at one place.

    Attributes:
        reason: A sentence: what was found, with its numbers.
        rule: The threshold that decided, with its number; empty where none did.
        baseline, candidate: The two numbers, in ``unit``; None where there is none.
        against: What the candidate was compared with: ``baseline 1a2b3c4d``, or ``accepted 1a2b3c4d``.
        paired: Whether pairs of processes decided; ``baseline`` and ``candidate`` are the stored numbers even then.
        paired_ratio: The ratio of the pairs, where they decided and have one.
        confirm: What would decide, or confirm it, where pairs of processes would not; empty where they would.
    """

    case: Case
    verdict: Verdict
    reason: str
    place: Place
    rule: str = ""
    unit: str = ""
    baseline: float | None = None
    candidate: float | None = None
    against: str = ""
    paired: bool = False
    paired_ratio: float | None = None
    confirm: str = ""

    @property
    def ratio(self) -> float | None:
        """That of the pairs, where they have one; else candidate / baseline, where both are numbers above 0."""
        if self.paired_ratio is not None:
            return self.paired_ratio
        if self.baseline is None or self.candidate is None or self.baseline <= 0 or self.candidate <= 0:
            return None
        return self.candidate / self.baseline


@dataclass(frozen=True)
class Judgement:
    """A candidate's findings.

    Attributes:
        findings: Worst first.
        unavailable: Cases that neither side has, and the reason that both state: listed, not judged.
        baseline, candidate: What was compared, in words.
        notes: What else is to be said, such as a file that could not be read.
    """

    findings: tuple[Finding, ...]
    unavailable: tuple[tuple[Case, str], ...] = ()
    baseline: str = ""
    candidate: str = ""
    notes: tuple[str, ...] = ()

    @property
    def exit_code(self) -> int:
        """1 if something is worse, whatever else could not be judged; 2 if something could not be; else 0."""
        found = {finding.verdict for finding in self.findings}
        if found & set(WORSE):
            return 1
        return 2 if found & set(UNKNOWN) or not self.findings else 0

    def of(self, *verdicts: Verdict) -> tuple[Finding, ...]:
        """The findings with one of these verdicts, worst first."""
        return tuple(finding for finding in self.findings if finding.verdict in verdicts)


def worst_first(findings: Sequence[Finding]) -> tuple[Finding, ...]:
    """By verdict, then by how far the number moved, then by name."""
    return tuple(sorted(findings, key=_order))


def _order(finding: Finding) -> tuple[int, float, str, str]:
    moved = abs(math.log(finding.ratio)) if finding.ratio else 0.0
    return WORST_FIRST.index(finding.verdict), -moved, str(finding.case), str(finding.place)
