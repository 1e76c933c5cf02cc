"""Verdicts on machine code in every way that verdicts are printed."""

from __future__ import annotations

from pathlib import Path

import pytest
from compilations import told
from compiled_results import PARAMS, SECONDS, Gate
from gated import judged

from pcbench.analysis.verdict_annotations import annotations
from pcbench.analysis.verdict_groups import next_steps
from pcbench.analysis.verdict_json import as_json
from pcbench.analysis.verdict_junit import as_junit
from pcbench.analysis.verdict_markdown import as_markdown
from pcbench.analysis.verdict_text import as_text


@pytest.fixture
def gate(tmp_path: Path) -> Gate:
    return Gate(tmp_path)


def test_every_way_to_print_verdicts_says_what_a_rule_found_and_what_confirms_it(gate: Gate) -> None:
    found = gate.after([told("a")], [told("b", registers=80, global_128=0, global_access=48)])

    every = [as_text(found), as_markdown(found), as_junit(found), as_json(found), "\n".join(annotations(found))]
    for text in every:
        plain = " ".join(text.split())
        assert "accesses of 128 bits and more fell from 8 to 0" in plain
        assert "registers grew from 64 to 80" in plain
        assert "(H100 or H200)" in plain


def test_pairs_of_processes_are_not_asked_to_decide_what_machine_code_is(gate: Gate) -> None:
    found = gate.after([told("a")], [told("b", registers=80)])

    assert [step.partition(":")[0] for step in next_steps(found)] == ["INCONCLUSIVE machine code"]
    for text in (as_text(found), as_markdown(found)):
        assert "pcbench ab 0" not in text


def test_pairs_are_not_asked_to_decide_a_number_without_rows_either(gate: Gate) -> None:
    for number, registers in ((1, 64), (2, 65)):
        gate.add(number, [told("ab"[number - 1], registers=registers)], sidecar=False)

    found = judged(gate.folder)

    assert [step.partition(":")[0] for step in next_steps(found)] == ["INCONCLUSIVE machine code"]
    for text in (as_text(found), as_markdown(found)):
        assert "pcbench ab" not in text


def test_a_time_beside_machine_code_is_still_left_to_pairs(gate: Gate) -> None:
    gate.add(1, [told("a")])
    gate.add(2, [told("b", registers=80)], seconds=1.3)

    found = judged(gate.folder)

    assert [step.partition(":")[0] for step in next_steps(found)] == ["INCONCLUSIVE", "INCONCLUSIVE machine code"]
    for text in (as_text(found), as_markdown(found)):
        assert f"pcbench ab 00000001 00000002 '{SECONDS}{PARAMS}'" in text.replace("&#95;", "_")


def test_of_times_alone_nothing_is_said_of_machine_code(gate: Gate) -> None:
    gate.add(1, [told("a")])
    gate.add(2, [told("a")], seconds=1.3)

    assert [step.partition(":")[0] for step in next_steps(judged(gate.folder))] == ["INCONCLUSIVE"]
