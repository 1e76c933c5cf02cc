"""What ``pcbench ab`` measures of cases that are no times: a few values a side, taken in turn."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import replace

from pcbench.analysis.codegen_verdicts import without_rows
from pcbench.analysis.findings import Finding
from pcbench.analysis.paired_verdicts import LACKING
from pcbench.analysis.quantities import quantity
from pcbench.analysis.records import Measurement, Verdict
from pcbench.analysis.stored_rules import judge_stored
from pcbench.commands._pair_output import Compared
from pcbench.commands._pair_processes import Listed, Told, measured
from pcbench.commands._pairing import SIDES, absence, neither_has
from pcbench.sides import Ready

_EXACT = 2  # a count that is exact is the same again
_VALUES = 3  # what is nearly exact is judged by the range of its samples


def count_findings(
    compared: Compared, ready: tuple[Ready, Ready], cases: Sequence[Listed]
) -> tuple[list[Finding], bool]:
    """The verdicts on cases that are no times, and whether there is one that neither side has."""
    told: dict[str, tuple[list[Told], list[Told]]] = {str(case.case): ([], []) for case in cases}
    for turn in range(max(_EXACT, _VALUES)):
        asked = [case for case in cases if turn < _times(case) and _has_all(told[str(case.case)])]
        for side in (0, 1) if turn % 2 == 0 else (1, 0):
            answers = measured(ready[side], asked, {}, turn + 1).told if asked else {}
            for case in asked:
                told[str(case.case)][side].append(answers.get(str(case.case), Told(failed="it was not measured")))
    found = [_finding(compared, case, dict(zip(SIDES, told[str(case.case)], strict=True))) for case in cases]
    return [finding for finding in found if finding is not None], None in found


def _times(case: Listed) -> int:
    return _EXACT if case.benchmark.kind == "count" else _VALUES


def _has_all(told: Sequence[Sequence[Told]]) -> bool:
    return all(each.value is not None for side in told for each in side)


def _finding(compared: Compared, listed: Listed, told: Mapping[str, Sequence[Told]]) -> Finding | None:
    """The verdict on a case; None where it does not apply on either side."""
    blank = Finding(listed.case, Verdict.FAILED, "", compared.place, unit=listed.unit, against=compared.against)
    absent = {side: next((each for each in all_of if each.value is None), None) for side, all_of in told.items()}
    lacking, why = absence({side: each for side, each in absent.items() if each is not None})
    if why:
        said = replace(blank, verdict=LACKING.get(lacking, Verdict.FAILED), reason=why)
        return None if neither_has(lacking, why) else said
    values = [[each.value for each in all_of if each.value is not None] for all_of in told.values()]
    if listed.benchmark.kind == "count":
        for side, taken in zip(told, values, strict=True):
            if len(set(taken)) > 1:
                both = " and ".join(quantity(value, listed.unit) for value in taken)
                return replace(blank, reason=f"UNSTABLE: on {side} two processes of the same code say {both}")
    before, now = (_measurement(listed, taken) for taken in values)
    judgement = without_rows(judge_stored(before, now, compared.policy.of(listed.case)), listed.benchmark.codegen)
    return replace(
        blank,
        verdict=judgement.verdict,
        reason=f"{judgement.reason}; measured {len(values[0])} times a side",
        rule=judgement.rule,
        baseline=before.value,
        candidate=now.value,
    )


def _measurement(listed: Listed, values: Sequence[float]) -> Measurement:
    worse, kind = listed.benchmark.worse_for(listed.case), listed.benchmark.kind
    # A number that stays what it is may be a count that nobody declared; judge_stored asks whether it is whole.
    if kind == "count" or (kind == "number" and len(set(values)) == 1):
        return Measurement(values[0], listed.unit, worse=worse, kind=kind)
    middle = statistics.median(values)
    return Measurement(middle, listed.unit, tuple(values), min(values), max(values), len(values), worse, kind)
