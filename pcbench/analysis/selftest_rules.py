"""The rules that a selftest judges series by. A rule sees the nights up to tonight and says where they got slower."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from pcbench.analysis.kernel_cuts import Floats
from pcbench.analysis.policy import Policy
from pcbench.analysis.steps import Step, alarms, steps, tonight

Judge = Callable[[Floats], Mapping[str, Sequence[int]]]
"""Nights up to tonight to, by rule, the nights at which the rule now says that a slow-down began."""

ALERT = "pcbench: what it alerts on"
RUN = "pcbench: tonight's run"
LOCATED = "pcbench: located steps"

_Z_NIGHTS = 20
_RUSTC_NIGHTS = 30


def own_rules(policy: Policy) -> Judge:
    """pcbench's rules, with their numbers."""

    def judge(values: Floats) -> dict[str, list[int]]:
        run = tonight(values, policy)
        return {
            ALERT: _slower(alarms(values, policy)),
            RUN: _slower([run] if run is not None else []),
            LOCATED: _slower(steps(values, policy)),
        }

    return judge


def _slower(found: Sequence[Step]) -> list[int]:
    return [step.index for step in found if step.after > step.before]


def z_score(values: Floats) -> dict[str, list[int]]:
    """Tonight beside the mean and the standard deviation of the 20 nights before."""
    before = values[-1 - _Z_NIGHTS : -1]
    above, deviation = values[-1] - before.mean(), before.std(ddof=1)
    return {
        f"z-score of 20 nights, z > {limit}": [len(values) - 1] if above > limit * deviation else [] for limit in (3, 5)
    }


def rustc_perf(values: Floats) -> dict[str, list[int]]:
    """Tonight beside last night: rustc-perf's rule, the third quartile and three interquartile ranges of 30 changes.

    Of as many as there are where there are fewer: its fixed 0.2 % in their place would only add false alarms.
    """
    changes = values[1:] / values[:-1] - 1
    before = np.abs(changes[-1 - _RUSTC_NIGHTS : -1])
    q1, q3 = np.quantile(before, (0.25, 0.75))
    slower = changes[-1] >= q3 + 3 * (q3 - q1)
    return {"rustc-perf: Q3 + 3 IQR of 30 nights": [len(values) - 1] if slower and changes[-1] > 0 else []}
