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
_VERDICTS = (Verdict.SAME, Verdict.SLOWER, Verdict.FASTER, Verdict.INCONCLUSIVE)


@dataclass(frozen=True)
class Rate:
    """What canaries said.

    Attributes:
        verdicts: How many canaries came to a verdict.
        slower, faster: Those that said that the same code differs.
        undecided: Those that took all their pairs and said neither.
        without: Those that came to none: stopped, failed, or the machine's; they are no part of the rate.
    """

    verdicts: int
    slower: int
    faster: int
    undecided: int
    without: int = 0

    @property
    def upper(self) -> float:
        """The upper end of the 95 % interval of the share of false SLOWER, exact for a binomial; 1 without verdicts."""
        return upper_bound(self.slower, self.verdicts)

    def __str__(self) -> str:
        apart = f"; {counted(self.without, 'canary', 'canaries')} without a verdict not counted" if self.without else ""
        if not self.verdicts:
            return f"false alarms: no canary was measured yet{apart}"
        told = f"{self.slower} of {counted(self.verdicts, 'verdict')} on the same code said SLOWER"
        faster = f", {self.faster} FASTER" if self.faster else ""
        open_ = f", {self.undecided} undecided" if self.undecided else ""
        return f"false alarms: {told}{faster}{open_}; at 95 % the rate is below {self.upper:.2%} a verdict{apart}"


def rate(found: Sequence[Paired], judge: Callable[[Paired], Verdict]) -> Rate:
    """Count the verdicts of canaries; what else is in ``found`` is left out."""
    canaries = [one for one in found if one.is_canary]
    judged = [judge(one) for one in canaries if one.settled]
    verdicts = [verdict for verdict in judged if verdict in _VERDICTS]
    slower, faster = verdicts.count(Verdict.SLOWER), verdicts.count(Verdict.FASTER)
    undecided = verdicts.count(Verdict.INCONCLUSIVE)
    return Rate(len(verdicts), slower, faster, undecided, len(canaries) - len(verdicts))


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
