"""The benchmark of claims, run by asv, with the processes that check them replaced by constants."""

from __future__ import annotations

import shutil
from pathlib import Path

import git_history
import pytest

from pcbench.analysis.asv_results import read_results
from pcbench.analysis.contract_changes import changes
from pcbench.analysis.records import Case
from pcbench.claims import ClaimOutcome

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("test_benchmarks")]

ROOT = Path(__file__).parent.parent

INSTEAD_OF_PROCESSES = '''


def check_all(asked, setting, caches, *, jobs=1, began=None):
    """The first claim of each document has the commit's outcome, all others are unavailable."""
    first, *others = asked
    yield _result(first, FIRST, "this commit says so")
    for claim in others:
        yield _result(claim, ClaimOutcome.UNAVAILABLE, "it is no constant")
'''


def test_a_promise_that_a_commit_breaks_is_counted_and_told_with_its_evidence(
    tmp_path: Path, small_python: Path
) -> None:
    packages = {"measured_packages": {"pcbench": "pcbench", "pcbench_kernels": "kernels"}}
    repository = git_history.new(tmp_path, {"shared_pythons": {"small": str(small_python)}, **packages})
    left_out = shutil.ignore_patterns("__pycache__", "results")
    for name in ("benchmarks", "pcbench"):
        shutil.copytree(ROOT / name, repository.root / name, ignore=left_out)
    checking = repository.root / "pcbench" / "claim_checking.py"
    source = checking.read_text() + INSTEAD_OF_PROCESSES
    commits = []
    for outcome in ("HOLDS", "DIFFERS"):
        checking.write_text(source.replace("FIRST", f"ClaimOutcome.{outcome}"))
        commits.append(repository.commit({"kernels/__init__.py": ""}))
        repository.asv("run", "HEAD^!", "-b", "bench_contract")
    runs = {run.commit: run for run in read_results(repository.root / "results").runs}
    before, after = (runs[commit] for commit in commits)

    case = Case("bench_contract.Contract.track_holding", (("document", "load_compiled_function"),))
    assert [before.measurements[case].value, after.measurements[case].value] == [1.0, 0.0]
    assert (after.measurements[case].unit, after.measurements[case].worse) == ("claims", "any")
    assert {case.param("document") for case in after.measurements} == {"load_compiled_function"}  # of the quick profile
    found = {change.new.document: change for change in changes([before, after])}
    lost = found["load_compiled_function"]
    assert (lost.old.outcome, lost.new.outcome) == (ClaimOutcome.HOLDS, ClaimOutcome.DIFFERS)
    assert lost.new.evidence == "this commit says so"
    assert lost.new.id == "load_compiled_function.takes_a_file_like_object"
