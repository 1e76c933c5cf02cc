"""The verdict on a case that was measured in pairs of processes, in words, with what it stands on."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace

from pcbench.analysis import pairs
from pcbench.analysis.pairs import Rule, false_alarm_rate, locate, log_ratios, rule_for
from pcbench.analysis.policy import LEAST_PAIRS, Policy
from pcbench.analysis.quantities import counted
from pcbench.analysis.records import Verdict
from pcbench.paired import Look, Paired

MOVED = (Verdict.SLOWER, Verdict.FASTER)
LACKING: Mapping[tuple[str, ...], Verdict] = {
    ("baseline",): Verdict.NEW,
    ("candidate",): Verdict.MISSING,
    ("baseline", "candidate"): Verdict.UNJUDGED,
}
"""What a case is that does not apply on these sides."""
SameCode = Mapping[tuple[str, str], Sequence[float]]
"""What is on record of pairs of the same code: ln ratios by case and version, ``Paired.versioned``."""
_UNKNOWN_SHARE = 0.5
_VALUE = "="


def judge_paired(paired: Paired, policy: Policy, same_code: Sequence[float] = ()) -> tuple[Verdict, str, str]:
    """The verdict, a sentence with its numbers, and the rule.

    What moved is HOST where the control, which is the same on both sides, moved by what the case is judged by as well;
    of two Pythons it is not the same.

    Args:
        policy: The whole one, or the case's own.
        same_code: ln ratios of pairs of the same code of this case on this machine.
    """
    if paired.failed:
        return LACKING.get(paired.lacking, Verdict.FAILED), paired.failed, ""
    if not any(look.pairs for look in paired.looks):
        return Verdict.UNJUDGED, "the comparison ended before its first pair", ""
    rule = rule_of(paired, policy, same_code)
    ratios = [log_ratios(look.pairs) for look in paired.looks]
    found, _ = pairs.verdict(ratios, rule)
    said = [_location(ratios), _counts(ratios, rule)]
    pythons = (paired.baseline.python, paired.candidate.python)
    if found in MOVED and pythons[0] != pythons[1]:
        said.append(f"the control cannot tell the machine's part: Python {pythons[0]} and {pythons[1]}")
    elif found in MOVED:
        control = replace(rule, delta=max(rule.delta, math.log1p(policy.delta)))
        for look in paired.looks:
            how = control_moved(look, control)
            if how is not None:
                return Verdict.HOST, "; ".join([*said, how]), str(rule)
    if found is None:
        said.append("stopped before it was settled")
    elif len(ratios) > 1 and found is Verdict.INCONCLUSIVE:
        said.append("the second look does not confirm the first")
    said.append(false_alarms(rule, same_code))
    return found or Verdict.INCONCLUSIVE, "; ".join(said), str(rule)


def rule_of(paired: Paired, policy: Policy, same_code: Sequence[float] = ()) -> Rule:
    """The rule of a case with at least one pair: the first pair's baseline says whether it is slow.

    The delta that it was measured by is kept with it: what is on record since must not change a verdict.
    """
    first = next(pair for look in paired.looks for pair in look.pairs)
    rule = rule_for(policy.of(paired.case), paired.unit, first[0], same_code)
    if paired.delta is None or not paired.pairs:
        return rule
    return replace(rule, delta=paired.delta, pairs=paired.pairs, quorum=paired.quorum)


def same_code_of(found: Iterable[Paired]) -> dict[tuple[str, str], list[float]]:
    """ln ratios of pairs of the same code, by case and version; pairs that are no ratio are left out."""
    record: dict[tuple[str, str], list[float]] = {}
    for one in found:
        if one.is_canary:
            ratios = log_ratios([pair for look in one.looks for pair in look.pairs])
            record.setdefault(one.versioned, []).extend(ratio for ratio in ratios if not math.isnan(ratio))
    return record


def control_moved(look: Look, rule: Rule) -> str | None:
    """What to say where a look's control moved beyond the rule's delta on a quorum of its pairs; None where not."""
    ratios = log_ratios(look.control)
    needed = rule.needed(len(ratios))
    for sign in (1, -1):
        beyond = sum(sign * ratio > rule.delta for ratio in ratios)
        if ratios and beyond >= needed and sign * locate(ratios).middle > rule.delta:
            ratio = math.exp(locate(ratios).middle)
            return f"the control, which is the same code, moved to {ratio:.3f} on {beyond} of {len(ratios)} pairs"
    return None


def false_alarms(rule: Rule, same_code: Sequence[float]) -> str:
    """How probable it is that the rule finds unchanged code slower, and from what that is known."""
    if not same_code:
        rate = false_alarm_rate(_UNKNOWN_SHARE, rule)
        return f"false alarm: at most {rate:.1g}; no pairs of the same code on record"
    above = sum(ratio > rule.delta for ratio in same_code)
    # A few pairs, none of which lies above, must not promise that none ever will.
    rate = false_alarm_rate((above + 1) / (len(same_code) + 2), rule)
    record = f"{above} of {counted(len(same_code), 'pair')} of the same code lay above {math.expm1(rule.delta):.1%}"
    return f"false alarm: {rate:.1g}; {record}"


def host_moved(found: Mapping[str, Verdict], policy: Policy) -> frozenset[str]:
    """The cases, by id, whose verdict is the machine's: too many moved the same way, and nothing sets them apart.

    What sets moved cases apart is that they are of one benchmark, or that they have a value of a parameter which not
    every case has.
    """
    judged = [case for case, verdict in found.items() if verdict in (*MOVED, Verdict.SAME, Verdict.INCONCLUSIVE)]
    if len(judged) < policy.host_cases:
        return frozenset()
    common = _in_all(judged)
    for way in MOVED:
        moved = [case for case in judged if found[case] is way]
        apart = {part for part in _in_all(moved) if part not in common or not part.startswith(_VALUE)}
        if len(moved) > policy.host_share * len(judged) and not apart:
            return frozenset(moved)
    return frozenset()


def _in_all(cases: Collection[str]) -> set[str]:
    shared = [_parts(case) for case in cases]
    return set.intersection(*shared) if shared else set()


def _parts(case: str) -> set[str]:
    name, _, params = case.removesuffix(")").partition("(")
    return {name, *(_VALUE + value for value in params.split(", ") if params)}


def ratio_of(paired: Paired) -> float | None:
    """The middle of the ratio over all looks; None where no pair has one."""
    known = [ratio for look in paired.looks for ratio in log_ratios(look.pairs) if not math.isnan(ratio)]
    return math.exp(locate(known).middle) if known else None


def _location(looks: Sequence[Sequence[float]]) -> str:
    """The ratio and its interval over all looks."""
    known = [ratio for ratios in looks for ratio in ratios if not math.isnan(ratio)]
    if not known:
        return "no pair has a ratio"
    place = locate(known)
    low, middle, high = (math.exp(value) for value in (place.low, place.middle, place.high))
    if len(known) < LEAST_PAIRS:  # fewer have no interval of this coverage
        return f"{middle:.3f} times"
    return f"{middle:.3f} times ({low:.3f} to {high:.3f} with 95 %)"


def _counts(looks: Sequence[Sequence[float]], rule: Rule) -> str:
    """How many pairs of each look lie beyond the threshold, on the side where more do."""
    known = [ratio for ratios in looks for ratio in ratios]
    above = sum(ratio > rule.delta for ratio in known) >= sum(ratio < -rule.delta for ratio in known)
    sign = 1 if above else -1
    each = [f"{sum(sign * ratio > rule.delta for ratio in ratios)} of {len(ratios)}" for ratios in looks if ratios]
    return f"{' and '.join(each)} pairs {'above' if above else 'below'} {math.expm1(rule.delta):.1%}"
