"""The benchmarks of codegen, run by asv, with the compiling process replaced by constants; and what the gate says."""

from __future__ import annotations

import shutil
from pathlib import Path

import git_history
import pytest
from compilations import told
from git_history import MACHINE

from pcbench.analysis.asv_results import read_results
from pcbench.analysis.findings import Judgement
from pcbench.analysis.gating import Wanted, gate
from pcbench.analysis.history import changes
from pcbench.analysis.nights import all_nights
from pcbench.analysis.policy import Policy
from pcbench.analysis.records import Verdict

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("test_benchmarks")]

ROOT = Path(__file__).parent.parent
KERNEL = """
KERNEL = Kernel(shapes=({"rows": 4096, "columns": 1024},), dtypes=(torch.float16,))
"""
INSTEAD_OF_PROCESSES = """

def collect(setting, kernels, chips):
    return [{**MADE, "kernel": kernels[0], "target": chip} for chip in chips]
"""


def test_a_commit_that_lost_alignment_fails_the_gate_by_the_rule_and_one_with_a_comment_is_the_same(
    tmp_path: Path,
) -> None:
    packages = {"measured_packages": {"pcbench": "pcbench", "pcbench_kernels": "kernels"}}
    python = git_history.small_python(tmp_path / "python")
    (git_history.site_packages(tmp_path / "python") / "triton.py").touch()
    repository = git_history.new(tmp_path, {"shared_pythons": {"small": str(python)}, **packages})
    left_out = shutil.ignore_patterns("__pycache__", "results")
    for name in ("benchmarks", "pcbench"):
        shutil.copytree(ROOT / name, repository.root / name, ignore=left_out)
    asking = repository.root / "pcbench" / "codegen_asking.py"
    source = asking.read_text() + INSTEAD_OF_PROCESSES
    commits = []
    for row in (told("a"), told("a"), told("b", global_128=0, global_access=48, registers=66, sass=306)):
        asking.write_text(source.replace("MADE", repr(row)))
        comment = f"# {len(commits)}\n"
        commits.append(repository.commit({"kernels/__init__.py": "", "kernels/softmax.py": comment + KERNEL}))
        ran = repository.asv("run", "HEAD^!", "--record-samples", "-b", "bench_codegen")
        assert ran.returncode == 0, ran.stdout + ran.stderr
    results = read_results(repository.root / "results")
    runs = {run.commit: run for run in results.runs}
    first = {
        str(case).removeprefix("bench_codegen.Codegen.track_"): m for case, m in runs[commits[0]].measurements.items()
    }

    def beside_the_first(commit: str) -> Judgement:
        return gate(Wanted(repository.root / "results", commit, commits[0], machine=MACHINE), Policy())

    same, lost = map(beside_the_first, commits[1:])

    assert results.problems == ()
    assert first["registers(softmax, sm_90)"].value == 64
    assert first["inverse_occupancy(softmax, sm_100)"].value == 2
    assert first["compile_cpu_seconds(softmax, sm_100)"].samples == (0.4,)
    assert set(runs[commits[0]].codegen) == {("softmax", "sm_90"), ("softmax", "sm_100")}
    assert ({finding.verdict for finding in same.findings}, same.exit_code) == ({Verdict.SAME}, 0)
    slower = {str(finding.case): finding.rule for finding in lost.of(Verdict.SLOWER)}
    ways = {str(change.series.case): change.way for change in changes(all_nights(results.runs), Policy())}
    assert ways == {
        f"bench_codegen.Codegen.track_{what}(softmax, {target})": "changed"
        for what in ("instructions", "registers")
        for target in ("sm_90", "sm_100")
    }
    assert lost.exit_code == 1
    assert slower == {
        f"bench_codegen.Codegen.track_instructions(softmax, {target})": (
            "codegen rules width (exact) and global (beyond 25%)"
        )
        for target in ("sm_90", "sm_100")
    }
