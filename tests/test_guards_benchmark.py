"""The benchmarks of guards, run by asv, with the processes that they ask replaced by constants."""

from __future__ import annotations

import shutil
from pathlib import Path

import git_history
import pytest

from pcbench.analysis.asv_results import read_results
from pcbench.analysis.shown import Shown
from pcbench.reports import guards

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("test_benchmarks")]

ROOT = Path(__file__).parent.parent

INSTEAD_OF_PROCESSES = '''

from pcbench.guard_samples import MEASURES, Place


def census(setting, size=8, step=lambda what: None):
    """The commit's guards are all on one value."""
    kinds = ("TENSOR_MATCH",) * GUARDS
    return Counted(Census({"guards": GUARDS}, {"L['x']": Place(kinds)}), "2.15.0", "git", {})


def cost(setting):
    return Cost({"check": (2e-6, 1e-6)}, {measure: "it has no graph" for measure in MEASURES if measure != "check"})


def sweep(setting, sizes=(1, 2)):
    return Sweep(setting.target, {size: 8 + 2 * size for size in sizes}, {size: (1e-6 * (1 + size),) for size in sizes})
'''


def test_a_commit_with_a_guard_more_is_counted_and_told_in_words(tmp_path: Path, small_python: Path) -> None:
    packages = {"measured_packages": {"pcbench": "pcbench", "pcbench_kernels": "kernels"}}
    repository = git_history.new(tmp_path, {"shared_pythons": {"small": str(small_python)}, **packages})
    left_out = shutil.ignore_patterns("__pycache__", "results")
    for name in ("benchmarks", "pcbench"):
        shutil.copytree(ROOT / name, repository.root / name, ignore=left_out)
    sampling = repository.root / "pcbench" / "guard_sampling.py"
    source = sampling.read_text() + INSTEAD_OF_PROCESSES
    commits = []
    for count in (1, 2):
        sampling.write_text(source.replace("GUARDS", str(count)))
        commits.append(repository.commit({"kernels/__init__.py": ""}))
        ran = repository.asv("run", "HEAD^!", "-b", "bench_guards")
        assert ran.returncode == 0, ran.stdout + ran.stderr
    results = read_results(repository.root / "results")
    runs = {run.commit: run for run in results.runs}
    before, after = (runs[commit] for commit in commits)
    values = {str(case).removeprefix("bench_guards."): m for case, m in after.measurements.items()}
    absences = {str(case).removeprefix("bench_guards."): absence for case, absence in after.absences.items()}

    assert results.problems == ()
    assert values["Census.track_count(mlp, guards)"].value == 2
    assert (values["Census.track_count(mlp, depth)"].value, values["Census.track_count(mlp, depth)"].worse) == (
        0,
        "any",
    )
    assert (values["Cost.track_seconds(mlp, check)"].value, values["Cost.track_seconds(mlp, check)"].n) == (1e-6, 3)
    assert values["Slope.track_seconds(tensors, per guard)"].value == pytest.approx(0.5e-6)
    assert absences["Cost.track_seconds(mlp, hit - direct)"].reason == "it has no graph"
    assert absences["Instructions.track_count(mlp)"].reason == "it is measured in the full profile alone"
    assert [run.censuses["mlp"].counts["guards"] for run in (before, after)] == [1, 2]
    table = guards.REPORT.table(Shown([before, after]))
    assert table is not None
    assert "1 TENSOR_MATCH more: on 1 value (L['x'])" in [row[1] for row in table.rows]
