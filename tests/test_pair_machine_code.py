"""``pcbench ab`` on numbers of machine code: real processes of two small commits, which tell their rows once."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import git_history
import paired_sides
import pytest
from compilations import failed, told

from pcbench.analysis.findings import Finding
from pcbench.analysis.policy import Policy
from pcbench.analysis.records import Verdict
from pcbench.commands._pair_counts import count_findings
from pcbench.commands._pair_output import Compared
from pcbench.commands._pair_processes import listed

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("test_pair_machine_code")]

# As the real ones: a process compiles for the first number that is asked for, and that case alone tells the rows.
SUITE = """
import json
import os
from pathlib import Path

import toy


class Codegen:
    params = (["softmax"], ["sm_90", "sm_100"])
    param_names = ("kernel", "target")

    def track_instructions(self, kernel, target):
        return self.number(kernel, target, "sass")

    def track_registers(self, kernel, target):
        return self.number(kernel, target, "registers")

    def number(self, kernel, target, metric):
        file = Path(os.environ["PCBENCH_STORE"]) / target
        used = file.read_text().split() if file.is_file() else []
        if not used or metric in used:
            used = []
            with Path(os.environ["PCBENCH_CONTEXT"]).open("a") as context:
                rows = [{**toy.ROW, "target": target}]
                part = {"kernel": kernel, "target": target, "rows": rows if toy.TELLS else "of another form"}
                context.write(json.dumps({"case": "any", "codegen": part}) + "\\n")
        file.write_text(" ".join([*used, metric]))
        if toy.ROW["reason"]:
            raise RuntimeError(toy.ROW["reason"])
        return toy.ROW["metrics"][metric]


Codegen.track_instructions.codegen, Codegen.track_registers.codegen = "instructions", "registers"
Codegen.track_instructions.kind = Codegen.track_registers.kind = "count"
"""

Found = Callable[..., dict[str, Finding]]


@pytest.fixture
def found(tmp_path: Path, small_python: Path) -> Found:
    """What ``pcbench ab`` finds of two commits that make these rows, by number and target."""

    def ran(before: dict[str, Any], now: dict[str, Any], *, tells: bool = True) -> dict[str, Finding]:
        python = {"shared_pythons": {"small": str(small_python)}, "measured_packages": {"toy": "src"}}
        made = git_history.new(tmp_path, python)
        made.write({"benchmarks/__init__.py": "", "benchmarks/bench_toy.py": SUITE})
        for row, tell in ((before, True), (now, tells)):
            made.commit({"src/__init__.py": f"ROW = {row!r}\nTELLS = {tell}\n"})
        one, other = (
            paired_sides.ready(made, small_python, tmp_path / name, what)
            for name, what in (("a", "HEAD~1"), ("b", "HEAD"))
        )
        compared = Compared(one.side, other.side, "lab", Policy(), {})
        findings, _ = count_findings(compared, (one, other), listed(one))
        return {str(finding.case).removeprefix("bench_toy.Codegen.track_"): finding for finding in findings}

    return ran


def test_a_lost_alignment_is_slower_by_its_rule_for_each_target_and_other_registers_are_the_same(found: Found) -> None:
    findings = found(told("a"), told("b", global_128=0, global_access=48, registers=66, sass=306))

    assert {case: finding.verdict for case, finding in findings.items()} == {
        "instructions(softmax, sm_90)": Verdict.SLOWER,
        "instructions(softmax, sm_100)": Verdict.SLOWER,
        "registers(softmax, sm_90)": Verdict.SAME,
        "registers(softmax, sm_100)": Verdict.SAME,
    }
    slower = findings["instructions(softmax, sm_100)"]
    assert slower.rule == "codegen rules width (exact) and global (beyond 25%)"
    assert slower.reason.endswith("measured 2 times a side")


def test_what_compiles_no_longer_is_slower_in_its_instructions_and_without_other_numbers(found: Found) -> None:
    findings = found(told("a"), failed("COMPILE_FAILED", "out of shared memory"))

    slower, without = findings["instructions(softmax, sm_90)"], findings["registers(softmax, sm_90)"]
    assert slower.verdict is Verdict.SLOWER
    assert slower.reason.startswith("no longer: COMPILE_FAILED: out of shared memory")
    assert without.verdict is Verdict.FAILED
    assert without.reason == "failed on candidate: RuntimeError: out of shared memory"


def test_where_a_side_tells_rows_of_another_form_the_numbers_decide_nothing_and_it_is_said(found: Found) -> None:
    findings = found(told("a"), told("b", global_128=0, global_access=48, sass=306), tells=False)

    undecided = findings["instructions(softmax, sm_90)"]
    assert undecided.verdict is Verdict.INCONCLUSIVE
    assert "the machine code of candidate cannot be read: its rows is a text, not a list" in undecided.reason
