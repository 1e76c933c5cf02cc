"""Which cases of a judgement pairs of processes are to decide, the worst first, and what of them fits into a budget."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from pcbench.analysis.findings import Finding
from pcbench.analysis.policy import Policy
from pcbench.analysis.records import Verdict

_OPEN = (Verdict.INCONCLUSIVE, Verdict.SLOWER, Verdict.HOST, Verdict.FASTER)
_AGAIN = (Verdict.HOST, Verdict.FAILED)  # of pairs, which may not be so tonight


@dataclass(frozen=True)
class Suspect:
    """A timing that stored numbers cannot decide.

    Attributes:
        seconds: What its pairs are expected to take.
    """

    finding: Finding
    seconds: float = 0.0


def suspects(
    findings: Sequence[Finding],
    policy: Policy,
    alerted: Collection[str] = (),
    seconds: Mapping[str, float] | None = None,
) -> tuple[Suspect, ...]:
    """Timings beyond the stored threshold, and those that history alerts on; slower ones first, then by size.

    What is beyond doubt in stored numbers is none, nor what pairs have decided.

    Args:
        alerted: Case ids that the history's rule for tonight names.
        seconds: What a single process of a case takes, by its id, where that is known.
    """
    found = []
    for one in findings:
        again = one.paired and one.verdict in _AGAIN
        if one.unit != "seconds" or one.ratio is None or (one.paired and not again):
            continue
        sure = max(one.ratio, 1 / one.ratio) >= policy.of(one.case).sure_ratio
        if sure and one.verdict in (Verdict.SLOWER, Verdict.FASTER):
            continue
        beyond = one.verdict in _OPEN and abs(math.log(one.ratio)) > math.log1p(policy.of(one.case).stored_delta)
        of_history = str(one.case) in alerted and one.verdict in (*_OPEN, Verdict.SAME)
        if not (again or beyond or of_history):
            continue
        known = None if seconds is None else seconds.get(str(one.case))
        found.append(Suspect(one, 0.0 if known is None else _seconds(one, known, policy)))
    return tuple(sorted(found, key=_order))


def cut(found: Sequence[Suspect], budget_s: float) -> tuple[tuple[Suspect, ...], tuple[Suspect, ...]]:
    """Those that fit into a budget, in order, and those that do not; the first always fits."""
    taken: list[Suspect] = []
    left: list[Suspect] = []
    spent = 0.0
    for one in found:
        if taken and spent + one.seconds > budget_s:
            left.append(one)
        else:
            taken.append(one)
            spent += one.seconds
    return tuple(taken), tuple(left)


def restless(findings: Sequence[Finding], policy: Policy) -> tuple[str, ...]:
    """Benchmarks with a timing that is not the same: their repetitions are not what to save."""
    moved = {
        one.case.benchmark
        for one in findings
        if one.unit == "seconds" and one.verdict in (Verdict.SLOWER, Verdict.INCONCLUSIVE, Verdict.HOST)
    }
    moved |= {one.finding.case.benchmark for one in suspects(findings, policy)}
    return tuple(sorted(moved))


def _seconds(finding: Finding, process_s: float, policy: Policy) -> float:
    own = policy.of(finding.case)
    slow = (finding.baseline or 0.0) >= own.slow_s
    # Two looks of a change that is one, two processes a pair.
    return 4 * process_s * (own.slow_pairs if slow else own.pairs)


def _order(suspect: Suspect) -> tuple[bool, float, str]:
    moved = math.log(suspect.finding.ratio or 1.0)
    return (moved < 0, -abs(moved), str(suspect.finding.case))
