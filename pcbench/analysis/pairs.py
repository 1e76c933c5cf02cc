"""The verdict on a timing, out of pairs of fresh processes: a quorum beyond a threshold, twice.

The unit is the pair, not the sample: each process is one draw of memory layout, so that more samples of one process
tell nothing new. A pair's number is ln(candidate / baseline). The rule assumes no distribution; its false-alarm rate is
binomial: :func:`false_alarm_rate`.
"""

from __future__ import annotations

import functools
import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from pcbench.analysis.policy import Policy
from pcbench.analysis.records import Verdict
from pcbench.paired import Pair

_COVERAGE = 0.95  # what verdicts print, and policy.LEAST_PAIRS stands on


@dataclass(frozen=True)
class Rule:
    """How a case is judged in pairs.

    Attributes:
        delta: ln of the ratio beyond which a pair speaks for a change.
        pairs: Pairs of a look; a look that leaves it open goes on to twice as many.
        quorum: The share of them that must speak for it.
        least: Fewer pairs than this are never enough to say that a case is the same.
    """

    delta: float
    pairs: int
    quorum: float
    least: int = Policy.same_pairs

    def needed(self, pairs: int) -> int:
        """How many of so many pairs must lie beyond ``delta``."""
        return math.ceil(self.quorum * pairs - 1e-9)

    def __str__(self) -> str:
        return f"{self.needed(self.pairs)} of {self.pairs} pairs beyond {math.expm1(self.delta):.1%}, twice"


@dataclass(frozen=True)
class Location:
    """Hodges and Lehmann's estimate of ln(ratio), and the interval of Wilcoxon's signed ranks around it."""

    middle: float
    low: float
    high: float


def rule_for(policy: Policy, unit: str, value: float, same_code: Sequence[float] = ()) -> Rule:
    """The rule of a case.

    Args:
        policy: The case's own, :meth:`Policy.of`.
        unit: The case's.
        value: The baseline's number.
        same_code: ln ratios of pairs of the same code on this machine, if there are any on record.
    """
    slow = unit == "seconds" and value >= policy.slow_s
    delta = policy.slow_delta if slow else policy.delta
    if not slow and len(same_code) >= policy.fine_pairs:
        fine = math.log1p(policy.fine_delta)
        if sum(abs(ratio) > fine for ratio in same_code) <= policy.fine_share * len(same_code):
            delta = policy.fine_delta
    if unit == "seconds" and value > 0:
        delta = max(delta, policy.floor_s / value)
    if slow:
        return Rule(math.log1p(delta), policy.slow_pairs, policy.slow_quorum, policy.same_pairs)
    return Rule(math.log1p(delta), policy.pairs, policy.quorum, policy.same_pairs)


def pair_of(values: tuple[float | None, float | None], blocks: Sequence[float], others: Sequence[float]) -> Pair:
    """The numbers of both sides; of blocks that were taken in turn (A B B A ...), in the median ratio of neighbours.

    What disturbs the machine for longer than a block meets both neighbours, and is in no ratio. Which of them came
    first is not, either: a ratio is the geometric mean of two that follow on one another, once this and once that.
    """
    one, other = (math.nan if value is None else value for value in values)
    if not blocks or len(blocks) != len(others):
        return one, other
    ratios = [b / a for a, b in zip(blocks, others, strict=True)]
    both = [math.sqrt(first * second) for first, second in zip(ratios[::2], ratios[1::2], strict=False)]
    return one, one * statistics.median(both or ratios)


def log_ratios(pairs: Sequence[Pair]) -> list[float]:
    """ln(candidate / baseline) of each pair; of a pair that is no ratio, as of a difference below 0, nan."""
    ratios = [other / one if one > 0 else math.nan for one, other in pairs]
    return [math.log(ratio) if 0 < ratio < math.inf else math.nan for ratio in ratios]


def verdict(looks: Sequence[Sequence[float]], rule: Rule) -> tuple[Verdict | None, int]:
    """The verdict on the ln ratios of up to two looks, and the look that it stands on.

    Without a verdict (None) that look needs one more pair.
    """
    first = of_look(looks[0] if looks else (), rule)
    if first not in (Verdict.SLOWER, Verdict.FASTER):
        return first, 0
    second = of_look(looks[1] if len(looks) > 1 else (), rule)
    if second is None:
        return None, 1
    return (first if second is first else Verdict.INCONCLUSIVE), 1


def of_look(ratios: Sequence[float], rule: Rule) -> Verdict | None:
    """What one look says; None while its pairs leave it open."""
    last = 2 * rule.pairs
    without = sum(map(math.isnan, ratios))
    if without and last - without < rule.needed(last):  # neither a quorum nor the same can come of it any more
        return Verdict.INCONCLUSIVE
    for size in (rule.pairs, last):
        found = _of_stage(ratios[:size], size, rule)
        if found is not None or len(ratios) < size:
            return found
    return Verdict.INCONCLUSIVE


def _of_stage(ratios: Sequence[float], size: int, rule: Rule) -> Verdict | None:
    needed, left = rule.needed(size), size - len(ratios)
    over = sum(ratio > rule.delta for ratio in ratios)
    under = sum(ratio < -rule.delta for ratio in ratios)
    if over >= needed and locate(ratios).middle > rule.delta:
        return Verdict.SLOWER
    if under >= needed and locate(ratios).middle < -rule.delta:
        return Verdict.FASTER
    if max(over, under) + left >= needed or len(ratios) < min(rule.least, rule.pairs):
        return None
    # The interval alone would call pairs that lie as far above as below the same.
    if any(map(math.isnan, ratios)) or 2 * sum(abs(ratio) <= rule.delta for ratio in ratios) <= len(ratios):
        return None
    place = locate(ratios)
    return Verdict.SAME if -rule.delta <= place.low and place.high <= rule.delta else None


def locate(ratios: Sequence[float]) -> Location:
    """Where ln ratios lie: the median of Walsh averages, with 95 % coverage; at least one that is no nan."""
    known = [ratio for ratio in ratios if not math.isnan(ratio)]
    averages = sorted((one + other) / 2 for i, one in enumerate(known) for other in known[i:])
    half = len(averages) // 2
    middle = averages[half] if len(averages) % 2 else (averages[half - 1] + averages[half]) / 2
    cut = _cut(len(known))
    return Location(middle, averages[cut], averages[-1 - cut])


@functools.cache
def _cut(n: int) -> int:
    """How many Walsh averages of n values are left out at either end; 0 where n is too small for the coverage."""
    ways = [1]
    for rank in range(1, n + 1):
        longer = ways + [0] * rank
        for total, count in enumerate(ways):
            longer[total + rank] += count
        ways = longer
    tail, cut = 0, 0
    for total, count in enumerate(ways):
        tail += count
        if tail > (1 - _COVERAGE) / 2 * 2**n:
            break
        cut = total
    return cut


def false_alarm_rate(share: float, rule: Rule) -> float:
    """The probability that both looks find unchanged code slower, if pairs are independent.

    Args:
        share: How often a pair of the same code lies above ``rule.delta``.
    """
    first = _at_least(rule.needed(rule.pairs), rule.pairs, share)
    more = sum(
        _exactly(count, rule.pairs, share) * _at_least(rule.needed(2 * rule.pairs) - count, rule.pairs, share)
        for count in range(rule.needed(rule.pairs))
    )
    return float((first + more) ** 2)


def _exactly(count: int, n: int, share: float) -> float:
    return float(math.comb(n, count) * share**count * (1 - share) ** (n - count))


def _at_least(count: int, n: int, share: float) -> float:
    return sum(_exactly(each, n, share) for each in range(max(count, 0), n + 1))
