"""What a report is drawn from: runs, and what is known of them beside: verdicts, accepted values and steps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from pcbench.analysis.baseline import Baseline
from pcbench.analysis.findings import Finding
from pcbench.analysis.policy import Policy
from pcbench.analysis.records import Case, Run
from pcbench.analysis.series import Place, Series, all_series, by_place
from pcbench.analysis.series_steps import all_steps
from pcbench.analysis.steps import Step


def accepted_values(baseline: Baseline, places: Mapping[Place, Sequence[Run]]) -> dict[tuple[Place, Case], float]:
    """The value of each case at the commit that was accepted for it; none where that commit has no number of it."""
    found = {}
    for place, runs in places.items():
        told = baseline.places.get(str(place))
        if told is None:
            continue
        by_commit = {run.commit: run.measurements for run in runs}
        for measured, measurement in by_commit.get(told.commit, {}).items():
            found[place, measured] = measurement.value
        names = {str(case): case for run in runs[-1:] for case in (*run.measurements, *run.absences)}
        for name, later in told.cases.items():
            case, there = names.get(name), by_commit.get(later.commit, {})
            if case is not None and case in there:
                found[place, case] = there[case].value
    return found


@dataclass(frozen=True)
class Shown:
    """Runs, and what is known of them. Series and steps are made once, however many reports ask for them.

    Attributes:
        findings: The verdicts on the newest run of a place, where it has a baseline.
        accepted: The accepted value of a case, in its unit.
        against: The torch build that releases are compared with; None for the oldest.
    """

    runs: Sequence[Run]
    findings: Sequence[Finding] = ()
    accepted: Mapping[tuple[Place, Case], float] = field(default_factory=dict)
    policy: Policy = field(default_factory=Policy)
    against: str | None = None

    @cached_property
    def places(self) -> dict[Place, list[Run]]:
        """The runs of each place, by commit date."""
        return by_place(self.runs)

    @cached_property
    def series(self) -> list[Series]:
        """A series for every case that has a number in any run, by case and place."""
        return sorted(all_series(self.runs), key=lambda one: (str(one.case), str(one.place)))

    @cached_property
    def steps(self) -> dict[tuple[Place, Case], tuple[Step, ...]]:
        """Where series changed their level, by commit, oldest first; only series that did."""
        return all_steps(self.runs, self.policy)
