"""Numbers of machine code that no rule decides: without rows, of an unknown kind, or where the policy ignores rows."""

from __future__ import annotations

from pathlib import Path

import pytest
from compilations import told
from compiled_results import BENCHMARKS, SUITE, Gate, of, others
from gated import judged

from pcbench.analysis.codegen_verdicts import UNTOLD, judge_without_rows
from pcbench.analysis.policy import Policy
from pcbench.analysis.records import Measurement, Verdict
from pcbench.codegen_numbers import QUANTITIES


@pytest.fixture
def gate(tmp_path: Path) -> Gate:
    return Gate(tmp_path)


@pytest.mark.parametrize("without", [1, 2])
def test_where_a_run_has_no_rows_a_number_that_moved_decides_nothing_but_spills_do(gate: Gate, without: int) -> None:
    for number, row in ((1, told("a")), (2, told("b", registers=65, barriers=6, spill_stores=4))):
        gate.add(number, [row], sidecar=number != without)

    found = judged(gate.folder)

    assert of(found, "registers").verdict is Verdict.INCONCLUSIVE
    assert (of(found, "registers").rule, of(found, "registers").reason) == (
        "exact, any change",
        f"64 -> 65 registers; {UNTOLD}",
    )
    assert of(found, "instructions").verdict is Verdict.INCONCLUSIVE  # as many, and other ones
    assert of(found, "spills").verdict is Verdict.SLOWER


def number(value: float, what: str = "instructions", unit: str = "n") -> Measurement:
    return Measurement(value, unit, worse="up", kind="count", codegen=what)


@pytest.mark.parametrize(("before", "now"), [(1, 2), (2, 1)])
def test_without_rows_more_or_fewer_instructions_decide_nothing(before: float, now: float) -> None:
    undecided = judge_without_rows(number(before), number(now), Policy())
    decided = {judge_without_rows(number(before, what), number(now, what), Policy()).verdict for what in ("spills", "")}

    assert undecided.verdict is Verdict.INCONCLUSIVE
    assert undecided.reason == f"{before} -> {now} n; {UNTOLD}"
    assert "pcbench codegen diff" in undecided.confirm
    assert decided == {Verdict.SLOWER if now > before else Verdict.FASTER}


def test_without_rows_the_same_number_is_the_same_and_one_in_another_unit_is_not_judged() -> None:
    same = judge_without_rows(number(1, "registers"), number(1, "registers"), Policy())
    other = judge_without_rows(number(1), number(1, unit="SASS"), Policy())

    assert (same.verdict, other.verdict) == (Verdict.SAME, Verdict.UNJUDGED)


@pytest.mark.parametrize("sidecar", [True, False])
def test_a_number_of_machine_code_that_is_not_known_is_not_judged_with_rows_or_without(
    tmp_path: Path, sidecar: bool
) -> None:
    suite = {name: {**fields, "codegen": "speed"} for name, fields in SUITE.items() if name == BENCHMARKS["spills"]}
    gate = Gate(tmp_path, SUITE | suite)
    for commit, row in ((1, told("a")), (2, told("a"))):
        gate.add(commit, [row], sidecar=sidecar)

    found = judged(gate.folder)

    assert of(found, "spills").verdict is Verdict.UNJUDGED
    assert of(found, "spills").reason.startswith("its benchmark says codegen = 'speed'; this pcbench knows registers,")
    assert others(found, "spills") == ({Verdict.SAME} if sidecar else {Verdict.SAME, Verdict.INCONCLUSIVE})
    assert found.exit_code == 2


def test_compilations_that_the_policy_ignores_make_no_gain_and_no_difference(gate: Gate) -> None:
    before = [told("a"), told("b", dtype="float32", spill_stores=4)]
    own = {"match": "softmax * float32 *", "ignore": True}
    found = gate.after(before, [told("a"), told("c", dtype="float32")], case=[own])

    reasons = {of(found, what).reason for what in QUANTITIES}
    assert {of(found, what).verdict for what in QUANTITIES} == {Verdict.SAME}
    assert reasons == {"the same machine code; the policy ignores 1 compilation"}


def test_where_the_policy_ignores_every_compilation_nothing_is_called_the_same(gate: Gate) -> None:
    found = gate.after([told("a")], [told("b", spill_stores=4)], case=[{"match": "softmax", "ignore": True}])

    assert {of(found, what).verdict for what in QUANTITIES} == {Verdict.INCONCLUSIVE}
    assert "the policy ignores 1 compilation" in of(found, "spills").reason
    assert found.exit_code == 0


def test_a_row_that_is_gone_and_that_the_policy_ignores_is_missed_by_nobody(gate: Gate) -> None:
    own = {"match": "* float32 *", "ignore": True}
    found = gate.after([told("a"), told("b", dtype="float32")], [told("a")], case=[own])

    assert of(found, "registers").reason == "the same machine code; the policy ignores 1 compilation"


def test_where_a_compilation_is_gone_the_numbers_of_the_others_decide_nothing(gate: Gate) -> None:
    found = gate.after([told("a"), told("b", dtype="float32", registers=200)], [told("a")])

    assert of(found, "registers").verdict is Verdict.INCONCLUSIVE
    assert "1 compilation of one side alone" in of(found, "registers").reason
    assert of(found, "instructions").verdict is Verdict.UNJUDGED
