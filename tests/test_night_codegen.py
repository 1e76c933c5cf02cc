"""Which commit a night names of what a rule found in machine code: what the results' rows tell, and nothing else."""

from __future__ import annotations

import math
from pathlib import Path
from types import SimpleNamespace

import pytest
from compilations import told
from compiled_results import BENCHMARKS, Gate
from gated import judged
from results_folder import commit_of

from pcbench.analysis.bisection import Narrowed
from pcbench.analysis.codegen_verdicts import UNTOLD
from pcbench.analysis.policy import Policy
from pcbench.analysis.records import Verdict
from pcbench.commands import _night_locating
from pcbench.commands._night_ground import Ground
from pcbench.commands._night_locating import Base

COMMENT, LOST = told("b", sass=301), told("c", sass=290, global_128=0, global_access=12)


@pytest.fixture
def gate(tmp_path: Path) -> Gate:
    """Of four commits, the second adds an instruction, and the third loses wide accesses."""
    made = Gate(tmp_path)
    for number, row in ((1, told("a")), (3, LOST), (4, LOST)):
        made.add(number, [row])
    return made


def named(gate: Gate) -> Narrowed:
    (finding,) = judged(gate.folder).of(Verdict.SLOWER)
    assert finding.case.benchmark == BENCHMARKS["instructions"]
    root, conf = gate.folder.root, SimpleNamespace(env_dir=".asv/env", shared_pythons={})
    ground = Ground(root.parent, root, root.parent / ".asv", "lab", "quick", Policy(), conf)
    chain = [commit_of(number) for number in (1, 2, 3, 4)]
    return _night_locating._search(ground, finding, chain, Base(chain[0]), math.inf, print)


def test_the_commit_is_named_by_the_rules_and_not_by_where_the_number_moved(gate: Gate) -> None:
    gate.add(2, [COMMENT])

    assert named(gate) == Narrowed(1, 2)


def test_a_commit_without_rows_is_not_measured_for_a_number_that_does_not_tell(gate: Gate) -> None:
    assert named(gate) == Narrowed(0, 2, UNTOLD)


def test_a_commit_with_the_number_and_without_rows_is_suspected_too(gate: Gate) -> None:
    gate.add(2, [COMMENT], sidecar=False)

    assert named(gate) == Narrowed(0, 2, UNTOLD)


def test_a_commit_whose_rows_do_not_tell_is_suspected_too(gate: Gate) -> None:
    gate.add(2, [told("b", barriers=None)])

    assert named(gate) == Narrowed(0, 2, UNTOLD)
