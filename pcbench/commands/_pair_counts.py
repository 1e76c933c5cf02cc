"""What ``pcbench ab`` measures of cases that are no times: a few values a side, taken in turn."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path

from pcbench.analysis.codegen_rows import CodegenRow, read_row
from pcbench.analysis.codegen_verdicts import judge_codegen, judge_without_rows
from pcbench.analysis.findings import Finding
from pcbench.analysis.paired_verdicts import LACKING
from pcbench.analysis.parsing import expect, load_json, read_text
from pcbench.analysis.quantities import quantity
from pcbench.analysis.records import Case, Machine, Measurement, Run, Verdict
from pcbench.commands._pair_output import Compared
from pcbench.commands._pair_processes import Listed, Told, measured
from pcbench.commands._pairing import SIDES, absence, neither_has
from pcbench.errors import PcbenchError
from pcbench.paired import Side
from pcbench.sides import Ready

_EXACT = 2  # a count that is exact is the same again
_VALUES = 3  # what is nearly exact is judged by the range of its samples

Compilation = tuple[str, str]
"""A kernel and a target."""


@dataclass
class _Rows:
    """What a side's processes told of machine code beside its numbers, and what of it could not be read."""

    read: dict[Compilation, tuple[CodegenRow, ...]] = field(default_factory=dict)
    problems: dict[Compilation, str] = field(default_factory=dict)


def count_findings(
    compared: Compared, ready: tuple[Ready, Ready], cases: Sequence[Listed]
) -> tuple[list[Finding], bool]:
    """The verdicts on cases that are no times, and whether there is one that neither side has."""
    told: dict[str, tuple[list[Told], list[Told]]] = {str(case.case): ([], []) for case in cases}
    rows = (_Rows(), _Rows())
    for turn in range(max(_EXACT, _VALUES)):
        asked = [case for case in cases if turn < _times(case) and _has_all(told[str(case.case)])]
        for side in (0, 1) if turn % 2 == 0 else (1, 0):
            answers = _measured(ready[side], asked, turn + 1, rows[side] if turn == 0 else None)
            for case in asked:
                told[str(case.case)][side].append(answers.get(str(case.case), Told(failed="it was not measured")))
    found = [_finding(compared, case, dict(zip(SIDES, told[str(case.case)], strict=True)), rows) for case in cases]
    return [finding for finding in found if finding is not None], None in found


def _measured(ready: Ready, cases: Sequence[Listed], seed: int, rows: _Rows | None) -> dict[str, Told]:
    """What a side tells of each case, by its id, and into ``rows`` what it tells of the machine code.

    A process empties its sidecar before each case, and what was compiled is told by the first case that needs it: so
    the first of each kernel and target has a process of its own.
    """
    told: dict[str, Told] = {}
    alone = {_compilation(case.case): case for case in reversed(cases) if case.benchmark.codegen and rows is not None}
    for compilation, case in alone.items():
        told |= measured(ready, [case], {}, seed).told
        if rows is not None:
            _read(rows, compilation, ready.variables.get("PCBENCH_CONTEXT"))
    rest = [case for case in cases if all(case is not one for one in alone.values())]
    return told | (measured(ready, rest, {}, seed).told if rest else {})


def _compilation(case: Case) -> Compilation:
    return case.param("kernel") or "", case.param("target") or ""


def _read(rows: _Rows, compilation: Compilation, sidecar: str | None) -> None:
    """Add the rows of a compilation that a process told; other code may tell none, or rows of another form."""
    if sidecar is None or not Path(sidecar).is_file():
        return
    try:
        for line in read_text(Path(sidecar)).splitlines():
            told = expect(load_json(line), dict, "it")
            if "codegen" in told:
                listed = expect(expect(told["codegen"], dict, "codegen").get("rows"), list, "its rows")
                rows.read[compilation] = tuple(read_row(row, "a row") for row in listed)
    except PcbenchError as error:
        rows.problems[compilation] = error.problem


def _times(case: Listed) -> int:
    return _EXACT if case.benchmark.kind == "count" else _VALUES


def _has_all(told: Sequence[Sequence[Told]]) -> bool:
    return all(each.value is not None for side in told for each in side)


def _finding(
    compared: Compared, listed: Listed, told: Mapping[str, Sequence[Told]], rows: tuple[_Rows, _Rows]
) -> Finding | None:
    """The verdict on a case; None where it does not apply on either side."""
    blank = Finding(listed.case, Verdict.FAILED, "", compared.place, unit=listed.unit, against=compared.against)
    absent = {side: next((each for each in all_of if each.value is None), None) for side, all_of in told.items()}
    lacking, why = absence({side: each for side, each in absent.items() if each is not None})
    policy = compared.policy.of(listed.case)
    runs = _run(compared.baseline, rows[0]), _run(compared.candidate, rows[1])
    if why:
        said = replace(blank, verdict=LACKING.get(lacking, Verdict.FAILED), reason=why)
        if not lacking and absent[SIDES[0]] is None:  # what compiles no longer is not only without a number
            had = _measurement(listed, [each.value for each in told[SIDES[0]] if each.value is not None])
            ruled = judge_codegen(listed.case, had, None, runs, policy)
            if ruled is not None and ruled.verdict is Verdict.SLOWER:
                said = replace(said, verdict=ruled.verdict, reason=ruled.reason, rule=ruled.rule, confirm=ruled.confirm)
        return None if neither_has(lacking, why) else said
    values = [[each.value for each in all_of if each.value is not None] for all_of in told.values()]
    if listed.benchmark.kind == "count":
        for side, taken in zip(told, values, strict=True):
            if len(set(taken)) > 1:
                both = " and ".join(quantity(value, listed.unit) for value in taken)
                return replace(blank, reason=f"UNSTABLE: on {side} two processes of the same code say {both}")
    before, now = (_measurement(listed, taken) for taken in values)
    judgement = judge_codegen(listed.case, before, now, runs, policy) or judge_without_rows(before, now, policy)
    problems = {side: one.problems.get(_compilation(listed.case)) for side, one in zip(SIDES, rows, strict=True)}
    unread = [f"the machine code of {side} cannot be read: {why}" for side, why in problems.items() if why]
    return replace(
        blank,
        verdict=judgement.verdict,
        reason="; ".join([judgement.reason, *unread, f"measured {len(values[0])} times a side"]),
        rule=judgement.rule,
        confirm=judgement.confirm,
        baseline=before.value,
        candidate=now.value,
    )


def _run(side: Side, rows: _Rows) -> Run:
    """A side with its rows alone, as the rules for machine code take it."""
    return Run(side.commit or side.name, datetime.min, side.env, Machine(""), None, {}, codegen=rows.read)


def _measurement(listed: Listed, values: Sequence[float]) -> Measurement:
    benchmark = listed.benchmark
    worse, kind, codegen = benchmark.worse_for(listed.case), benchmark.kind, benchmark.codegen
    # A number that stays what it is may be a count that nobody declared; judge_stored asks whether it is whole.
    if kind == "count" or (kind == "number" and len(set(values)) == 1):
        return Measurement(values[0], listed.unit, worse=worse, kind=kind, codegen=codegen)
    middle = statistics.median(values)
    return Measurement(middle, listed.unit, tuple(values), min(values), max(values), len(values), worse, kind, codegen)
