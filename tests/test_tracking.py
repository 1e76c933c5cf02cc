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
    assert all(0 < value < 60 for value in by_file), done.stdout
    assert all(math.isnan(value) for value in by_function)
    assert all(0 < value < 60 for value in seconds[second]), done.stdout
    assert repository.results(third)["bench_mine.Load.track_first_output"] is None
    reasons = {line["case"]: line["reason"] for line in repository.sidecar(third)[1:]}
    assert "broken on this commit" in reasons["bench_mine.Load.track_first_output(models/mine.py, eager, cold)"]


def test_a_benchmark_that_asv_terminates_takes_its_processes_with_it(tmp_path: Path) -> None:
    model = tmp_path / "endless.py"
    model.write_text("import time\n\ntime.sleep(600)\n")
    call = f"from pcbench import tracking; tracking.first_output_seconds({str(model)!r}, 'eager', 'cold')"
    running = subprocess.Popen([sys.executable, "-c", call], cwd=tmp_path)
    wait_until(lambda: bool(children(model)))

    running.send_signal(signal.SIGTERM)

    assert running.wait(10) == 128 + signal.SIGTERM
    assert children(model) == []


def children(model: Path) -> list[str]:
    """The measuring processes that were asked about this model."""
    listed = subprocess.check_output(["ps", "-eo", "args"], text=True, env=os.environ | {"COLUMNS": "10000"})
    return [line for line in listed.splitlines() if "-m pcbench.child" in line and str(model) in line]


def wait_until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 30
    while not condition():
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.05)
