"""The steps of many series, for reports: where each case's level changed, and at which commit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from pcbench.analysis.history import steps_of
from pcbench.analysis.nights import all_nights
from pcbench.analysis.policy import Policy
from pcbench.analysis.records import Case, Run
from pcbench.analysis.series import Place, by_place
from pcbench.analysis.steps import Step


def all_steps(runs: Sequence[Run], policy: Policy) -> dict[tuple[Place, Case], tuple[Step, ...]]:
    """The steps of each case that has any: those of ``pcbench history``, among the newest commits of each stretch.

    A step's index is that of its commit among the place's runs.
    """
    index = {place: {run.commit: at for at, run in enumerate(ordered)} for place, ordered in by_place(runs).items()}
    found: dict[tuple[Place, Case], tuple[Step, ...]] = {}
    for one in all_nights(runs):
        place, own = one.stretch.place, policy.of(one.case)
        located = steps_of(one, own, own.report_nights)
        if located:
            here = (replace(step, index=index[place][one.stretch.nights[step.index].commit]) for step in located)
            found[place, one.case] = (*found.get((place, one.case), ()), *here)
    return found
