"""Rows of ``pcbench codegen`` through JSON, the table of them, and files that are none."""

from __future__ import annotations

import json
from typing import Any

import pytest
from compilations import failed, rows, told

from pcbench.analysis.codegen_rows import as_json, read_rows
from pcbench.analysis.codegen_table import table_lines
from pcbench.errors import UsageError

GOOD = json.dumps({"schema": 1, "rows": [told()]})


def of(**changed: Any) -> str:
    return json.dumps({"schema": 1, "rows": [told(), {**told(), **changed}]})


def test_rows_are_the_same_after_a_file() -> None:
    before = rows(told(assembly="MOV R1, R2 ;"), failed("COMPILE_FAILED", "no", target="sm_80"))

    assert read_rows(json.dumps(as_json(before)), "a.json") == tuple(before)


def test_a_kernel_that_crashed_is_a_row_of_its_name_and_reason() -> None:
    text = json.dumps({"schema": 1, "rows": [{"kernel": "softmax", "status": "CRASHED", "reason": "SIGSEGV"}]})

    (row,) = read_rows(text, "a.json")

    assert (str(row.key), row.reason, row.metrics) == ("softmax", "SIGSEGV", {})


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "is empty"),
        (GOOD[:-20], "is not JSON"),
        ("[]", "it is a list, not an object"),
        ("{}", "has schema None"),
        (GOOD.replace('"schema": 1', '"schema": 2'), "has schema 2, and this pcbench reads 1"),
        ('{"schema": 1}', "its list of rows is null"),
        ('{"schema": 1, "rows": [3]}', "row 1: it is a whole number"),
        (of(kernel=None), "row 2: kernel is null"),
        (of(status="GREAT"), "row 2: status is 'GREAT'"),
        (of(metrics={"registers": "many"}), "row 2: metrics.registers is 'many'"),
        (of(metrics={"registers": True}), "row 2: metrics.registers is True"),
        (of(compile_cpu_s=float("nan")), "row 2: compile_cpu_s is nan"),
        (of(warnings="C7511"), "row 2: warnings is a text"),
        (of(sha256=None), "row 2: has status OK and no sha256"),
        (of(metrics={}, function=""), "row 2: has status OK and no function, metrics"),
    ],
)
def test_a_file_that_is_broken_is_refused_with_its_name_and_place(text: str, problem: str) -> None:
    with pytest.raises(UsageError) as raised:
        read_rows(text, "a.json")

    assert raised.value.problem.startswith("a.json: ")
    assert problem in raised.value.problem
    assert "--json" in (raised.value.hint or "")


def test_the_table_shows_every_metric_the_hash_and_the_shape_of_a_row() -> None:
    numbers = {name: 1000 + place for place, name in enumerate(told()["metrics"]) if name != "occupancy"}
    made = told(**numbers, warnings=["(C7511) serialized"])
    made["metrics"]["quite_new"] = 77

    shown = "\n".join(table_lines(rows(made)))

    for value in (*(f"{number:,}" for number in numbers.values()), "0.5 (by registers)", "1,012 HGMMA", "quite_new 77"):
        assert value in shown
    for words in ("softmax _softmax float16 rows=4096 columns=1024 BLOCK=1024 num_warps=8", "a" * 64, "C7511"):
        assert words in shown
    assert "triton 3.9.0: sm_90 by ptxas 13.4.59" in shown


def test_a_metric_that_is_not_known_is_no_number_in_the_table() -> None:
    amd = told(target="gfx942", blocks_per_sm=None, ptx=None, assembler="LLVM")

    shown = table_lines(rows(told(), amd))

    heads, numbers = shown[0].split(), next(line for line in shown if "gfx942" in line).split()
    assert "blocks/SM" in heads
    assert "-" in numbers
    assert "blocks/SM" not in "\n".join(table_lines(rows(amd)))


def test_targets_of_one_configuration_are_together_and_a_failed_one_says_why() -> None:
    shown = table_lines(
        rows(told(), told(config="BLOCK=2048 num_warps=8"), failed("COMPILE_FAILED", "too large", target="sm_80"))
    )

    place = shown.index("  sm_80  COMPILE_FAILED: too large")
    assert shown[0].split()[:3] == ["target", "registers", "spills"]
    assert place < next(place for place, line in enumerate(shown) if "BLOCK=2048" in line)
    assert shown[-1] == "3 rows, 1 distinct binary; 1 without numbers"
