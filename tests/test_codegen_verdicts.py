"""Verdicts on machine code: the rules of ``pcbench codegen diff``, each in one benchmark, and the exit codes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from compilations import failed, told
from compiled_results import BENCHMARKS, SECONDS, Gate, of, others
from gated import judged

from pcbench.analysis.findings import IGNORED
from pcbench.analysis.records import Verdict
from pcbench.codegen_numbers import QUANTITIES


@pytest.fixture
def gate(tmp_path: Path) -> Gate:
    return Gate(tmp_path)


def test_a_comment_that_leaves_the_machine_code_as_it_was_is_the_same(gate: Gate) -> None:
    found = gate.after([told("a")], [told("a", compile_cpu_s=0.41)])

    assert {finding.verdict for finding in found.findings} == {Verdict.SAME}
    assert {of(found, what).reason for what in QUANTITIES} == {"the same machine code"}
    assert found.exit_code == 0


def test_a_renamed_function_whose_code_differs_in_nothing_that_matters_is_the_same_with_both_numbers(
    gate: Gate,
) -> None:
    found = gate.after([told("a")], [told("b", function="_renamed", sass=301)])

    assert {finding.verdict for finding in found.findings} == {Verdict.SAME}
    assert (
        of(found, "instructions").reason
        == "300 -> 301 instructions; the code of 1 compilation differs, and no rule fired"
    )
    assert found.exit_code == 0


@pytest.mark.parametrize(
    ("changed", "what", "rule", "words"),
    [
        ({"spill_stores": 4, "spill_loads": 3}, "spills", "spills (exact)", "spill stores from 0 to 4"),
        (
            {"occupancy": 0.25, "blocks_per_sm": 2, "registers": 66},
            "inverse occupancy",
            "occupancy (exact)",
            "blocks per SM fell from 4 to 2, limited by registers (registers 64 to 66)",
        ),
        (
            {"global_128": 0, "global_access": 48, "sass": 303},
            "instructions",
            "width (exact) and global (beyond 25%)",
            "accesses of 128 bits and more fell from 8 to 0, others rose from 4 to 48",
        ),
        ({"mma": 0}, "instructions", "matrix (exact)", "matrix instructions are gone: 4 before, now 0"),
        ({"async_copies": 0}, "instructions", "copies (exact)", "asynchronous copies are gone"),
        ({"warnings": ["(C7511) serialized"]}, "instructions", "warnings (exact)", "(C7511) serialized"),
    ],
)
def test_what_a_hard_rule_says_fails_the_gate_in_the_one_benchmark_that_it_belongs_to(
    gate: Gate, changed: dict[str, Any], what: str, rule: str, words: str
) -> None:
    found = gate.after([told("a")], [told("b", **changed)])

    assert of(found, what).verdict is Verdict.SLOWER
    assert rule in of(found, what).rule
    assert words in of(found, what).reason
    assert "float16 rows=4096 columns=1024" in of(found, what).reason
    assert others(found, what) == {Verdict.SAME}
    assert found.exit_code == 1


@pytest.mark.parametrize(
    ("changed", "what", "rule"),
    [
        ({"registers": 80}, "registers", "codegen rule registers (beyond 10%)"),
        ({"sass": 400}, "instructions", "codegen rule instructions (beyond 10%)"),
        ({"shared_bytes": 40000}, "instructions", "codegen rule shared memory (beyond 5%)"),
        ({"convert_layout": 3}, "instructions", "codegen rule layouts (1 more)"),
        ({"barriers": 6}, "instructions", "codegen rule barriers (beyond 25%)"),
        ({"ptx": 500}, "instructions", "codegen rule ptx (beyond 15%)"),
    ],
)
def test_what_a_soft_rule_says_is_said_and_fails_nothing(
    gate: Gate, changed: dict[str, Any], what: str, rule: str
) -> None:
    found = gate.after([told("a")], [told("b", **changed)])

    assert (of(found, what).verdict, of(found, what).rule) == (Verdict.INCONCLUSIVE, rule)
    assert others(found, what) == {Verdict.SAME}
    assert found.exit_code == 0


def test_fewer_instructions_and_registers_are_no_gain(gate: Gate) -> None:
    found = gate.after([told("a")], [told("b", sass=100, registers=20)])

    assert {finding.verdict for finding in found.findings} == {Verdict.SAME}
    assert of(found, "registers").reason.startswith("64 -> 20 registers; ")


def test_fewer_spills_and_more_resident_warps_are_faster(gate: Gate) -> None:
    before = told("a", spill_stores=4, occupancy=0.25, blocks_per_sm=2)
    found = gate.after([before], [told("b")])

    assert of(found, "spills").verdict is Verdict.FASTER
    assert of(found, "spills").reason == "4 -> 0 spills; registers spill less"
    assert of(found, "inverse occupancy").verdict is Verdict.FASTER
    assert others(found, "spills") == {Verdict.FASTER, Verdict.SAME}


def test_a_number_that_is_less_because_a_row_is_gone_is_no_gain_and_the_row_is_missing(gate: Gate) -> None:
    spilling = told("b", dtype="float32", spill_stores=4)
    found = gate.after([told("a"), spilling], [told("a")])

    assert of(found, "spills").verdict is Verdict.INCONCLUSIVE
    assert of(found, "instructions").verdict is Verdict.UNJUDGED
    assert "MISSING" in of(found, "instructions").reason
    assert found.exit_code == 2


def test_a_metric_that_one_side_does_not_tell_is_not_judged(gate: Gate) -> None:
    found = gate.after([told("a", barriers=None)], [told("b")])

    assert of(found, "instructions").verdict is Verdict.UNJUDGED
    assert "the baseline does not tell barriers" in of(found, "instructions").reason
    assert found.exit_code == 2


def test_what_compiles_no_more_fails_the_gate_with_the_compiler_s_words(gate: Gate) -> None:
    found = gate.after([told("a")], [failed("COMPILE_FAILED", "out of shared memory")])

    assert of(found, "instructions").verdict is Verdict.SLOWER
    assert "no longer: COMPILE_FAILED: out of shared memory" in of(found, "instructions").reason
    assert {of(found, what).verdict for what in ("registers", "spills")} == {Verdict.FAILED}
    assert found.exit_code == 1


def test_what_fits_no_multiprocessor_any_more_fails_the_gate_where_there_is_no_number_of_it(gate: Gate) -> None:
    limit = {"occupancy_limit": "does not fit: shared memory"}
    found = gate.after([told("a")], [told("b", occupancy=0, blocks_per_sm=0, words=limit)])

    assert of(found, "inverse occupancy").verdict is Verdict.SLOWER
    assert of(found, "inverse occupancy").rule == "codegen rule fits (exact)"
    assert found.exit_code == 1


def test_what_never_compiled_is_listed_and_not_judged(gate: Gate) -> None:
    broken = [failed("COMPILE_FAILED", "out of shared memory")]
    found = gate.after(broken, broken)

    assert {finding.case.benchmark for finding in found.findings} == {SECONDS}
    assert {reason for _, reason in found.unavailable} == {"out of shared memory"}


def test_another_torch_is_told_before_any_rule_and_its_failure_is_no_rule_s(gate: Gate) -> None:
    gate.add(1, [told("a")])
    gate.add(2, [failed("COMPILE_FAILED", "out of shared memory")], torch="2.14.1")

    found = judged(gate.folder)

    assert {finding.verdict for finding in found.findings} == {Verdict.FAILED, Verdict.UNJUDGED}
    gate.add(2, [told("b", spill_stores=4)], torch="2.14.1")
    assert {finding.verdict for finding in judged(gate.folder).findings} == {Verdict.UNJUDGED}


def test_a_threshold_of_the_case_in_the_policy_is_the_one_that_is_used_and_said(gate: Gate) -> None:
    own = {"match": f"{BENCHMARKS['registers']}*", "codegen_registers": 0.01}
    found = gate.after([told("a")], [told("b", registers=66, sass=306)], case=[own])

    assert of(found, "registers").rule == "codegen rule registers (beyond 1%)"
    assert of(found, "instructions").verdict is Verdict.SAME


def test_a_case_that_the_policy_ignores_is_listed_and_no_rule_judges_it(gate: Gate) -> None:
    own = {"match": f"{BENCHMARKS['spills']}*", "ignore": True}
    found = gate.after([told("a")], [told("b", spill_stores=4)], case=[own])

    assert [reason for _, reason in found.unavailable] == [IGNORED]
    assert found.exit_code == 0


def test_seconds_of_compiling_are_judged_as_times_are_and_no_other_case_tells_of_them(gate: Gate) -> None:
    gate.add(1, [told("a")])
    gate.add(2, [told("b", compile_cpu_s=4.0)], seconds=4.0)

    found = judged(gate.folder)

    assert of(found, "seconds").verdict is Verdict.SLOWER
    assert {of(found, what).verdict for what in QUANTITIES} == {Verdict.SAME}


def test_a_rule_that_fires_for_many_compilations_is_said_once_with_how_many(gate: Gate) -> None:
    dtypes = ("bfloat16", "float16", "float32")
    before = [told("a", dtype=dtype, mma=number) for number, dtype in enumerate(dtypes, 4)]
    found = gate.after(before, [told("b", dtype=dtype, mma=0, async_copies=0) for dtype in dtypes])

    assert of(found, "instructions").reason == (
        "900 -> 900 instructions; "
        "matrix instructions are gone: 4 before, now 0 (bfloat16 rows=4096 columns=1024; 2 more compilations alike); "
        "asynchronous copies are gone: 2 before, now 0 (bfloat16 rows=4096 columns=1024; 2 more compilations alike)"
    )
