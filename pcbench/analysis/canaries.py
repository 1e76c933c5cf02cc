"""The rate of false alarms that a machine's canaries measured: pairs of the same code, whose every change is false."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from pcbench.analysis.quantities import counted
from pcbench.analysis.records import Case, Verdict
from pcbench.paired import Paired

_COVERAGE = 0.95
_CLOSE = 1e-12


@dataclass(frozen=True)
class Rate:
    """What canaries said.

    Attributes:
        verdicts: How many canaries were judged.
        slower, faster: Those that said that the same code differs.
        undecided: Those that allowed no verdict, or failed.
    """

    verdicts: int
    slower: int
    faster: int
    undecided: int

    @property
    def upper(self) -> float:
        """The upper end of the 95 % interval of the share of false SLOWER, exact for a binomial; 1 without verdicts."""
        return upper_bound(self.slower, self.verdicts)

    def __str__(self) -> str:
        if not self.verdicts:
            return "false alarms: no canary was measured yet"
        told = f"{self.slower} of {counted(self.verdicts, 'verdict')} on the same code said SLOWER"
        faster = f", {self.faster} FASTER" if self.faster else ""
        open_ = f", {self.undecided} undecided" if self.undecided else ""
        return f"false alarms: {told}{faster}{open_}; at 95 % the rate is below {self.upper:.2%} a verdict"


def rate(found: Sequence[Paired], judge: Callable[[Paired], Verdict]) -> Rate:
    """Count the verdicts of canaries; what else is in ``found`` is left out."""
    verdicts = [judge(one) for one in found if one.is_canary]
    slower, faster = verdicts.count(Verdict.SLOWER), verdicts.count(Verdict.FASTER)
    undecided = sum(verdict not in (Verdict.SAME, Verdict.SLOWER, Verdict.FASTER) for verdict in verdicts)
    return Rate(len(verdicts), slower, faster, undecided)


def upper_bound(found: int, of: int, coverage: float = _COVERAGE) -> float:
    """Clopper and Pearson's upper limit of a share: where so few or fewer come in 1 - ``coverage`` of all cases.

    One-sided; with ``found`` 0 it is near 3 / ``of``, the rule of three.
    """
    if found >= of:
        return 1.0
    low, high = found / of, 1.0
    while high - low > _CLOSE:
        middle = (low + high) / 2
        if _at_most(found, of, middle) > 1 - coverage:
            low = middle
        else:
            high = middle
    return high


def tonight(cases: Sequence[Case], night: int, count: int) -> tuple[Case, ...]:
    """The cases whose turn it is on a night: in ``len(cases) / count`` nights, each has had one."""
    ordered = sorted(cases, key=str)
    return tuple(ordered[(night * count + index) % len(ordered)] for index in range(min(count, len(ordered))))


def _at_most(found: int, of: int, share: float) -> float:
    if share >= 1:
        return 0.0
    return math.fsum(
        math.exp(_log_ways(of, k) + (k * math.log(share) if k else 0.0) + (of - k) * math.log1p(-share))
        for k in range(found + 1)
    )


def _log_ways(n: int, k: int) -> float:
    return math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)
