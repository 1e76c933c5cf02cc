"""All cases, a row each: the newest number, beside the one before, with its verdict and its steps."""

from __future__ import annotations

from dataclasses import dataclass

from pcbench.analysis.findings import WORST_FIRST
from pcbench.analysis.records import Absence, Case, Measurement, Verdict
from pcbench.analysis.series import Place
from pcbench.analysis.shown import Shown
from pcbench.analysis.steps import Step


@dataclass(frozen=True)
class CaseRow:
    """A case at a place.

    Attributes:
        newest: Its number at the newest commit; None where it has none there: see ``absence``.
        ratio: newest / the commit before.
        steps: Lasting changes, oldest first, each with its commit.
        commits: At how many commits it has a number.
    """

    case: Case
    place: Place
    newest: Measurement | None
    absence: Absence | None
    ratio: float | None
    verdict: Verdict | None
    steps: tuple[tuple[Step, str], ...]
    commits: int

    @property
    def rank(self) -> int:
        """Orders verdicts, the worst first; no verdict comes last."""
        return len(WORST_FIRST) if self.verdict is None else WORST_FIRST.index(self.verdict)


def case_rows(shown: Shown) -> list[CaseRow]:
    """A row for each case that has a number in any run."""
    verdicts = {(finding.place, finding.case): finding.verdict for finding in shown.findings}
    rows = []
    for one in shown.series:
        ordered, key = shown.places[one.place], (one.place, one.case)
        steps = tuple((step, ordered[step.index].commit) for step in shown.steps.get(key, ()))
        absence = None if one.newest else ordered[-1].absences.get(one.case)
        told = (one.newest, absence, one.latest_ratio, verdicts.get(key))
        rows.append(CaseRow(one.case, one.place, *told, steps, len(one.points)))
    return rows
