"""The verdict on two stored numbers of a case, by what kind of measurement it is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pcbench.analysis.comparability import load_of
from pcbench.analysis.policy import Policy
from pcbench.analysis.quantities import digits, quantity
from pcbench.analysis.records import Kind, Measurement, Run, Verdict


@dataclass(frozen=True)
class Said:
    """A verdict on two numbers.

    Attributes:
        reason: What was found, with its numbers.
        rule: The threshold that decided.
        confirm: What would decide, where pairs of processes would not.
    """

    verdict: Verdict
    reason: str
    rule: str
    confirm: str = ""


def judge_stored(baseline: Measurement, candidate: Measurement, policy: Policy) -> Said:
    """Compare what was stored of a case at two times.

    A count is exact. Bytes, memory and instructions are nearly so: their threshold has a floor, and grows with the
    range of the samples. Of times, which drift with the machine, only a gross change with all samples on one side is
    believed.
    """
    if baseline.unit != candidate.unit:
        change = f"the unit was {baseline.unit or 'none'}, and is {candidate.unit or 'none'}"
        return Said(Verdict.UNJUDGED, change, "")
    if is_exact(baseline, candidate):
        return _exact(baseline, candidate)
    if candidate.kind in ("bytes", "memory", "instructions"):
        return _nearly_exact(baseline, candidate, candidate.kind, policy)
    if candidate.kind == "time":
        return _time(baseline, candidate, policy)
    return _number(baseline, candidate, policy)


def unless_busy(said: Said, numbers: tuple[Measurement, Measurement], runs: Sequence[Run], policy: Policy) -> Said:
    """A stored time is not believed where other work wanted the CPUs when one of the runs began, unless it is sure."""
    one, other = map(compared, numbers)
    sure = max(one, other) >= policy.sure_ratio * min(one, other)
    busy = next((why for run in runs if (why := load_of(run, policy.stored_load))), None)
    if busy is None or numbers[1].kind != "time" or said.verdict not in (Verdict.SLOWER, Verdict.FASTER) or sure:
        return said
    rule = f"stored times are believed below a load of {policy.stored_load:g} a CPU"
    return Said(Verdict.INCONCLUSIVE, f"{said.reason}; {busy}", rule)


def is_exact(baseline: Measurement, candidate: Measurement) -> bool:
    """Whether both are counts: declared so, or whole numbers without samples."""
    if candidate.kind == "count":
        return True
    both = (baseline, candidate)
    return candidate.kind == "number" and all(m.n is None and m.value == int(m.value) for m in both)


def _exact(baseline: Measurement, candidate: Measurement) -> Said:
    rule = {"up": "exact, more is worse", "down": "exact, less is worse", "any": "exact, any change"}[candidate.worse]
    one, other = baseline.value, candidate.value
    if one == other:
        return Said(Verdict.SAME, _amount(other, candidate.unit), rule)
    change = f"{_amount(one, '')} -> {_amount(other, candidate.unit)}"
    return Said(_directed(other > one, candidate.worse), change, rule)


def _directed(up: bool, worse: str) -> Verdict:
    if worse == "any":
        return Verdict.CHANGED
    return Verdict.SLOWER if up == (worse == "up") else Verdict.FASTER


def _nearly_exact(baseline: Measurement, candidate: Measurement, kind: Kind, policy: Policy) -> Said:
    one, other = compared(baseline), compared(candidate)
    shares = {"bytes": policy.byte_share, "memory": policy.memory_share, "instructions": policy.instructions}
    floor = shares[kind] * abs(one)
    if kind != "instructions":
        floor = max(floor, policy.byte_least)
    spread = max(_range(baseline), _range(candidate)) * policy.range_factor
    threshold = max(floor, spread)
    why = (
        f"{digits(policy.range_factor)} times the range of the samples"
        if spread > floor
        else f"floor {shares[kind]:.1%}"
    )
    rule = f"beyond {_amount(threshold, candidate.unit)} ({why})"
    if abs(other - one) <= threshold:
        # A spread that hides a change is no evidence that there is none.
        verdict = Verdict.SAME if abs(other - one) <= floor else Verdict.INCONCLUSIVE
        return Said(verdict, _change(one, other, candidate.unit), rule)
    return Said(_directed(other > one, candidate.worse), _change(one, other, candidate.unit), rule)


def _time(baseline: Measurement, candidate: Measurement, policy: Policy) -> Said:
    one, other = compared(baseline), compared(candidate)
    said = _change(one, other, candidate.unit)
    if one <= 0 or other <= 0:
        return Said(Verdict.INCONCLUSIVE, f"{said}: a difference that is not above 0 has no ratio", "")
    if abs(other - one) <= policy.floor_s:
        return Said(Verdict.SAME, said, f"within {quantity(policy.floor_s, 'seconds')}")
    ratio = other / one
    up = ratio > 1
    if max(ratio, 1 / ratio) >= policy.stored_ratio and _apart(baseline, candidate, up, policy.stored_samples):
        rule = f"stored times are believed from {digits(policy.stored_ratio)} times on, with all samples on one side"
        return Said(_directed(up, candidate.worse), said, rule)
    if max(ratio, 1 / ratio) - 1 > policy.stored_delta:
        unrecorded = "" if baseline.samples and candidate.samples else ", and without recorded samples"
        why = f"measured at different times{unrecorded}"
        return Said(Verdict.INCONCLUSIVE, f"{said}; {why}", _suspect(policy.stored_delta))
    return Said(Verdict.SAME, said, f"stored times within {policy.stored_delta:.0%}")


def _number(baseline: Measurement, candidate: Measurement, policy: Policy) -> Said:
    one, other = compared(baseline), compared(candidate)
    said = _change(one, other, candidate.unit)
    if abs(other - one) <= policy.number_share * abs(one):
        return Said(Verdict.SAME, said, f"within {policy.number_share:.0%}")
    return Said(Verdict.INCONCLUSIVE, said, _suspect(policy.number_share))


def _suspect(delta: float) -> str:
    return f"a suspect beyond {delta:.0%}: pcbench ab decides"


def _apart(baseline: Measurement, candidate: Measurement, up: bool, least: int) -> bool:
    """Whether every sample of one lies beyond every sample of the other, of at least so many each."""
    one, other = baseline.samples or (), candidate.samples or ()
    if min(len(one), len(other)) < least:
        return False
    return min(other) > max(one) if up else max(other) < min(one)


def compared(measurement: Measurement) -> float:
    """The number that is compared: the least sample, which other work disturbs least, where samples are recorded."""
    return min(measurement.samples) if measurement.samples else measurement.value


def _range(measurement: Measurement) -> float:
    return max(measurement.samples) - min(measurement.samples) if measurement.samples else 0.0


def _change(one: float, other: float, unit: str) -> str:
    ratio = f", {other / one:.3f} times" if one > 0 and other > 0 else ""
    return f"{_amount(one, unit)} -> {_amount(other, unit)}{ratio}"


def _amount(value: float, unit: str) -> str:
    return quantity(value, unit)
