"""Another repository tracks its own models, with pcbench installed and its plugin in asv.conf.json."""

from __future__ import annotations

import math
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import git_history
import pytest

from pcbench import sampling, tracking
from pcbench.asking import Setting
from pcbench.errors import UsageError
from pcbench.sample_store import Absent, SampleCounts, Store
from pcbench.samples import Capture, LoadSample, Outcome, Phases
from pcbench.status import Status

MODEL = """
import torch
from torch import nn

from pcbench.models import Model
from theirs import WIDTH


def build():
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(8, WIDTH), nn.ReLU()).eval()


MODEL = Model(build=build, inputs=lambda: ((torch.ones(2, 8),), {}))
"""

FUNCTION = """
import torch
from torch import nn


def made():
    return nn.Linear(8, 4).eval(), (torch.ones(2, 8),), {}
"""

SUITE = """
from pcbench import tracking

ONE = tracking.SampleCounts(cold=1, warm=1)
Load = tracking.load_benchmark(
    "models/mine.py", "theirs.nets:made", strategies=["eager", "export"], temperatures=["cold"], samples=ONE
)
"""


@pytest.mark.slow
def test_another_repository_tracks_its_own_models_over_three_commits(tmp_path: Path) -> None:
    repository = git_history.new(tmp_path, {"project": "theirs"})
    repository.write({"benchmarks/__init__.py": "", "benchmarks/bench_mine.py": SUITE})
    first = repository.commit({"models/mine.py": MODEL, "theirs/__init__.py": "WIDTH = 4\n"})
    second = repository.commit({"theirs/nets.py": FUNCTION})
    third = repository.commit({"theirs/__init__.py": "raise RuntimeError('broken on this commit')\n"})
    repository.write({"theirs/__init__.py": "raise RuntimeError('the working tree is not measured')\n"})

    done = repository.asv("run", "ALL", "-e", "-b", "first_output")

    seconds = {commit: repository.results(commit)["bench_mine.Load.track_first_output"] for commit in (first, second)}
    by_file, by_function = seconds[first][:2], seconds[first][2:]
    assert all(value > 0 for value in by_file), done.stdout
    assert all(math.isnan(value) for value in by_function)
    assert all(value > 0 for value in seconds[second]), done.stdout
    assert repository.results(third)["bench_mine.Load.track_first_output"] is None
    reasons = {line["case"]: line["reason"] for line in repository.sidecar(third)[1:]}
    assert "broken on this commit" in reasons["bench_mine.Load.track_first_output(models/mine.py, eager, cold)"]


def test_the_first_capture_counts_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    taken: list[float] = []

    def capture(*_: object, **__: object) -> Capture:
        taken.append(float(len(taken)))
        return Capture(Status.OK, capture_s=taken[-1], save_s=0.0, artifact_bytes=1)

    monkeypatch.setattr(sampling, "capture", capture)
    store = Store(tmp_path, Setting("mlp"), "export")
    rounds = [store.captures("cold", SampleCounts(cold=2)) for _ in range(2)]
    warm = store.captures("warm", SampleCounts(warm=2))

    assert [[each.total_s for each in captures] for captures in (*rounds, warm)] == [[0, 1], [2, 3], [4, 5]]


def test_a_hot_load_that_crashes_leaves_the_warm_case_its_samples(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hot_asked = []

    def load(*_: object, hot: bool) -> Outcome:
        hot_asked.append(hot)
        warm = LoadSample("warm", Phases(first_call_s=1.0), 0.0, 1000, 0)
        return Outcome(Status.CRASHED, "at hot load", (warm,)) if hot else Outcome(Status.OK, None, (warm,))

    monkeypatch.setattr(sampling, "load", load)
    store = Store(tmp_path, Setting("mlp"), "eager")

    assert [sample.phases.total_s for sample in store.loads("warm", "seconds", SampleCounts(warm=3))] == [1.0] * 3
    assert hot_asked == [True, False, False]
    with pytest.raises(Absent, match="at hot load"):
        store.loads("hot", "seconds", SampleCounts(warm=3))
    assert len(hot_asked) == 3


def test_a_warm_load_that_fails_ends_the_sampling_and_both_cases(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    failed = Outcome(Status.TIMED_OUT, "still at load after 3 s")
    monkeypatch.setattr(sampling, "load", lambda *args, hot: failed)
    store = Store(tmp_path, Setting("mlp"), "eager")

    for temperature in ("warm", "hot"):
        with pytest.raises(Absent, match="after 3 s"):
            store.loads(temperature, "seconds", SampleCounts())


def test_a_hot_load_has_no_peak_memory(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.delenv("PCBENCH_CONTEXT", raising=False)

    with pytest.raises(SystemExit):
        tracking.peak_rss_bytes("mlp", "eager", "hot")

    assert "valid names: cold, warm" in capsys.readouterr().err


def test_a_benchmark_of_something_that_pcbench_does_not_have_is_an_error_when_it_is_made() -> None:
    with pytest.raises(UsageError, match=r"there is no strategy 'exprt'.*did you mean 'export'.*valid names: eager"):
        tracking.load_benchmark("mlp", strategies=["eager", "exprt"])
    with pytest.raises(UsageError, match=r"there is no temperature 'worm'.*did you mean 'warm'"):
        tracking.load_benchmark("mlp", temperatures=["worm"])
    for made in (lambda: tracking.load_benchmark(), lambda: tracking.load_benchmark("mlp", strategies=[])):
        with pytest.raises(UsageError, match="was given no"):
            made()


def test_a_benchmark_of_hot_loads_alone_tracks_no_peak_memory() -> None:
    assert not hasattr(tracking.load_benchmark("mlp", temperatures=["hot"]), "track_peak_rss")
    assert tracking.load_benchmark("mlp").track_peak_rss.params[2] == ["cold", "warm"]


def test_a_module_without_the_function_is_a_failure_in_the_words_of_the_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "nets.py").write_text("# made is not defined here\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("PCBENCH_CONTEXT", raising=False)

    with pytest.raises(SystemExit):
        tracking.first_output_seconds("nets:made", "eager", "cold", tracking.SampleCounts(cold=1))

    assert "FAILED: module nets has no function 'made'" in capsys.readouterr().err


def test_a_module_that_neither_the_commit_nor_the_installation_has_is_na(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("PCBENCH_CONTEXT", raising=False)

    found = tracking.first_output_seconds("nowhere_at_all.nets:made", "eager", "cold")

    assert isinstance(found, float)
    assert math.isnan(found)
    assert "UNAVAILABLE: this commit has no model nowhere_at_all.nets:made" in capsys.readouterr().err


def test_a_benchmark_that_asv_terminates_takes_its_processes_with_it(tmp_path: Path) -> None:
    model = tmp_path / "endless.py"
    model.write_text("import time\n\ntime.sleep(600)\n")
    call = f"from pcbench import tracking; tracking.first_output_seconds({str(model)!r}, 'eager', 'cold')"
    running = subprocess.Popen([sys.executable, "-c", call], cwd=tmp_path)
    wait_until(lambda: bool(children(model)))

    running.send_signal(signal.SIGTERM)

    assert running.wait(60) == 128 + signal.SIGTERM
    assert children(model) == []


def children(model: Path) -> list[str]:
    """The measuring processes that were asked about this model."""
    listed = subprocess.check_output(["ps", "-eo", "args"], text=True, env=os.environ | {"COLUMNS": "10000"})
    return [line for line in listed.splitlines() if "-m pcbench.child" in line and str(model) in line]


def wait_until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.05)
