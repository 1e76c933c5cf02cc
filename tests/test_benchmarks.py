"""The asv suite, run by asv with the processes that it would start replaced by constants."""

from __future__ import annotations

import math
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import git_history
import pytest
from asv.config import Config  # type: ignore[import-untyped]
from git_history import Repository

from pcbench.analysis.asv_results import read_results

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("test_benchmarks")]

ROOT = Path(__file__).parent.parent

LAYOUT = """
import importlib.util
import os
import pathlib

import pcbench_kernels


class Layout:
    version = "1"

    def track_commit_s_kernels(self):
        kernels = pathlib.Path(os.environ["PCBENCH_TREE"], "kernels").resolve()
        found = pathlib.Path(pcbench_kernels.__file__).resolve()
        return pcbench_kernels.SIZE if found.parent == kernels else -1

    def track_top_level_kernels(self):
        return int(importlib.util.find_spec("kernels") is not None)
"""

INSTEAD_OF_PROCESSES = '''

import os
from pathlib import Path

from pcbench.samples import Capture, CaptureCounts, CapturePhases, LoadSample, Outcome, Phases
from pcbench.status import Status


def capture(setting, strategy, folder, *, warm_from=None):
    """The time tells the model and the temperature."""
    (folder / "caches").mkdir(parents=True)
    if setting.target == "encoder":
        return Capture(Status.UNAVAILABLE, "there is no C++ compiler")
    cold = 10.0 if warm_from is None else 0.0
    return Capture(
        Status.OK,
        capture_s=cold + len(setting.target),
        save_s=0.5,
        peak_rss_bytes=1000,
        artifact_bytes=len(setting.target),
        phases=CapturePhases(other_s=cold, unknown={"dynamo_s": "this torch has no timer"}),
        counts=CaptureCounts(graphs=1, fxgraph_misses=int(cold > 0)),
    )


def load(setting, strategy, captured, temperature, *, hot=False, calls=False):
    """The time tells the model, the memory tells how many loads there have been."""
    count = Path(os.environ["PCBENCH_STORE"]).parent / "loads"
    with count.open("a") as stream:
        stream.write("load")
    if setting.target == "tied_lm":
        return Outcome(Status.CRASHED, "at load: killed by SIGSEGV")
    seconds = float(len(setting.target))
    samples = [LoadSample(temperature, Phases(first_call_s=seconds), 0.0, 1000 + count.stat().st_size // 4, 0)]
    if hot:
        samples.append(LoadSample("hot", Phases(first_call_s=seconds / 10), 0.0, None, 0))
    return Outcome(Status.OK, samples=tuple(samples))
'''

# asv starts a process per phase and count: a few of them tell how the others would do.
CASES = (
    "-b",
    r"^(?!bench_capture\.(Counts|Phases)|bench_contract|bench_guards|bench_codegen)",
    "-b",
    r"(Counts|Phases).*'(fxgraph_misses|dynamo_s|other_s)'",
)


@dataclass(frozen=True)
class History:
    """Commits: without pcbench; with two models; with one more that sorts first. Measured in this order."""

    repository: Repository
    without: str
    before: str
    after: str

    def values(self, commit: str) -> Mapping[str, float]:
        """Case to value, as pcbench's own reader of results tells them."""
        (found,) = (run for run in read_results(self.repository.root / "results").runs if run.commit == commit)
        return {str(case): measured.value for case, measured in found.measurements.items()}


@pytest.fixture(scope="module")
def history(tmp_path_factory: pytest.TempPathFactory) -> History:
    folder = tmp_path_factory.mktemp("suite")
    python = git_history.small_python(folder / "python")
    packages = {"measured_packages": {"pcbench": "pcbench", "pcbench_kernels": "kernels"}}
    profiles = {"matrix": {"env_nobuild": {"PCBENCH_PROFILE": ["quick", "full"]}}}
    repository = git_history.new(folder, {"shared_pythons": {"small": str(python)}, **packages, **profiles})
    left_out = shutil.ignore_patterns("__pycache__", "results")
    shutil.copytree(ROOT / "benchmarks", repository.root / "benchmarks", ignore=left_out)
    without = repository.commit({})
    shutil.copytree(ROOT / "pcbench", repository.root / "pcbench", ignore=left_out)
    for kind, kept in {"models": ("mlp", "encoder", "tied_lm"), "strategies": ("export",)}.items():
        for file in (repository.root / "pcbench" / kind).glob("[!_]*.py"):
            if file.stem not in kept:
                file.unlink()
    with (repository.root / "pcbench" / "sampling.py").open("a") as stream:
        stream.write(INSTEAD_OF_PROCESSES)
    before = repository.commit({"kernels/__init__.py": ""})
    ran = repository.asv("run", "HEAD^!", *CASES, PCBENCH_PROFILE="full")
    assert ran.returncode == 2, ran.stdout + ran.stderr
    after = repository.commit({"pcbench/models/aaa_model.py": ""})
    (git_history.site_packages(folder / "python") / "editable.pth").write_text(f"{repository.root}\n")
    # asv lists the cases once for a range, on its newest commit.
    for commits in (f"{without}..{after}", without):
        repository.asv("run", commits, *CASES, PCBENCH_PROFILE="full")
    return History(repository, without, before, after)


def test_a_model_that_sorts_first_does_not_mislabel_what_is_stored(history: History) -> None:
    for commit in (history.before, history.after):
        values = history.values(commit)
        assert values["bench_load.Load.track_first_output(mlp, export, cold)"] == 3.0
        assert values["bench_capture.Capture.track_seconds(mlp, export, cold)"] == 13.5
        assert values["bench_capture.Capture.track_seconds(mlp, export, warm)"] == 3.5
        assert values["bench_load.Artifact.track_bytes(mlp, export)"] == 3
    assert history.values(history.after)["bench_load.Load.track_first_output(aaa_model, eager, hot)"] == 0.9
    assert not any("aaa_model" in case for case in history.values(history.before))


def test_a_model_or_package_that_the_commit_lacks_is_na_with_its_reason(history: History) -> None:
    told = {line["case"]: line for line in history.repository.sidecar(history.before)[1:]}
    lacking = history.repository.results(history.without)

    line = told["bench_load.Load.track_first_output(aaa_model, eager, cold)"]
    assert (line["status"], line["reason"]) == ("UNAVAILABLE", "this commit has no model aaa_model")
    assert lacking
    (reason,) = {line["reason"] for line in history.repository.sidecar(history.without)[1:]}
    assert reason == "this commit cannot be measured by this suite: this commit has no folder pcbench"
    assert all(math.isnan(value) for values in lacking.values() for value in values)


def test_phases_and_counts_are_of_the_captures_that_were_timed(history: History) -> None:
    values = history.values(history.after)
    told = {line["case"]: line for line in history.repository.sidecar(history.after)[1:]}

    assert values["bench_capture.Phases.track_seconds(mlp, export, cold, other_s)"] == 10.0
    assert values["bench_capture.Phases.track_seconds(mlp, export, warm, other_s)"] == 0.0
    assert values["bench_capture.Counts.track_count(mlp, export, cold, fxgraph_misses)"] == 1.0
    assert values["bench_capture.Counts.track_count(mlp, export, warm, fxgraph_misses)"] == 0.0
    line = told["bench_capture.Phases.track_seconds(mlp, export, cold, dynamo_s)"]
    assert (line["status"], line["reason"]) == ("UNAVAILABLE", "this torch has no timer")


def test_the_direction_that_is_worse_for_a_count_reaches_the_results(history: History) -> None:
    (found,) = (r for r in read_results(history.repository.root / "results").runs if r.commit == history.after)
    worse = {str(case): measured.worse for case, measured in found.measurements.items()}

    assert worse["bench_capture.Counts.track_count(mlp, export, cold, fxgraph_misses)"] == "up"
    assert worse["bench_capture.Phases.track_seconds(mlp, export, cold, other_s)"] == "up"


def test_what_cannot_run_here_is_na_and_what_crashed_is_failed(history: History) -> None:
    told = {line["case"]: line for line in history.repository.sidecar(history.after)[1:]}
    stored = history.repository.results(history.after)["bench_capture.Capture.track_seconds"]
    (found,) = (r for r in read_results(history.repository.root / "results").runs if r.commit == history.after)
    absences = {str(case): absence for case, absence in found.absences.items()}

    assert sum(value is not None and math.isnan(value) for value in stored) == 2
    assert told["bench_capture.Capture.track_seconds(encoder, export, cold)"]["reason"] == "there is no C++ compiler"
    assert absences["bench_capture.Capture.track_seconds(encoder, export, cold)"].status == "UNAVAILABLE"
    assert absences["bench_load.Load.track_peak_rss(tied_lm, eager, cold)"].status == "CRASHED"


def test_peak_memory_is_of_the_samples_that_were_timed_and_nothing_is_loaded_for_it(history: History) -> None:
    repository = history.repository
    repository.asv("run", f"{history.after}^!", "-b", r"Load.*mlp", PCBENCH_PROFILE="full")
    (count,) = (repository.root / ".asv" / "env").glob("*/measured/*/loads")
    values = history.values(history.after)

    assert count.read_text().count("load") == 2 * (5 + 7)
    assert not any("track_peak_rss" in case and "hot" in case for case in values)
    assert values["bench_load.Load.track_peak_rss(mlp, eager, cold)"] == 1003.0


def test_the_kernels_that_are_measured_are_the_commit_s_and_only_under_their_own_name(
    small_python: Path, tmp_path: Path
) -> None:
    packages = Config.load(str(ROOT / "asv.conf.json")).measured_packages
    repository = git_history.new(
        tmp_path, {"shared_pythons": {"small": str(small_python)}, "measured_packages": packages}
    )
    repository.write({"benchmarks/__init__.py": "", "benchmarks/bench_layout.py": LAYOUT, "pcbench/__init__.py": ""})
    commit = repository.commit({"kernels/__init__.py": "SIZE = 5\n"})
    repository.write({"kernels/__init__.py": "SIZE = 99\n"})

    done = repository.asv("run", "HEAD")

    assert done.returncode == 0, done.stdout + done.stderr
    found = repository.results(commit)
    assert found["bench_layout.Layout.track_commit_s_kernels"] == [5]
    assert found["bench_layout.Layout.track_top_level_kernels"] == [0]
