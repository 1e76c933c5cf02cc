"""asv runs that are interrupted, or that meet."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from git_history import Repository
from toy_suite import toy, toy_repository

from pcbench import sidecar

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("test_asv_run")]

SLOW_SUITE = """
import time


class Slow:
    version = "1"
    params = [[0, 1, 2]]

    def track_wait(self, n):
        time.sleep(60 * n)
        return n

    def track_after(self, n):
        return n
"""


def test_an_interrupted_run_keeps_what_it_measured_and_its_sidecar(small_python: Path, tmp_path: Path) -> None:
    repository = toy_repository(tmp_path, small_python)
    commit = repository.commit({"toy/__init__.py": toy(1.0), "benchmarks/bench_toy.py": SLOW_SUITE})
    progress = tmp_path / "progress"
    running = started(repository, progress)
    wait_for(lambda: progress.is_file() and 'track_wait", "index": 1' in progress.read_text())
    running.send_signal(signal.SIGINT)
    running.wait(60)

    results = repository.results(commit)
    assert results["bench_toy.Slow.track_after"] == [0, 1, 2]
    assert results["bench_toy.Slow.track_wait"][0] == 0
    # None is failed, which --skip-existing-successful measures again; NaN would mean that they do not apply.
    assert results["bench_toy.Slow.track_wait"][1:] == [None, None]
    assert [line["status"] for line in repository.sidecar(commit)[1:]] == ["INTERRUPTED"] * 2


def test_a_case_that_fails_without_a_word_does_not_inherit_an_old_reason(small_python: Path, tmp_path: Path) -> None:
    repository = toy_repository(tmp_path, small_python)
    suite = "def track_fails(n):\n    raise SystemExit(n)\n\n\ntrack_fails.params = ['a', 'b']\n"
    commit = repository.commit({"toy/__init__.py": toy(1.0), "benchmarks/bench_toy.py": suite})
    repository.asv("run", "HEAD")
    (context,) = (repository.root / "results").rglob("*.context")
    for case in ("bench_toy.track_fails(a)", "bench_toy.track_fails(b)"):
        sidecar.add(context, case, "CRASHED", "last week")

    repository.asv("run", "HEAD", "-b", r"track_fails\('a'\)")

    assert [line["case"] for line in repository.sidecar(commit)[1:]] == ["bench_toy.track_fails(b)"]


def test_a_second_run_over_the_same_checkout_is_refused(small_python: Path, tmp_path: Path) -> None:
    repository = toy_repository(tmp_path, small_python)
    repository.commit({"toy/__init__.py": toy(1.0), "benchmarks/bench_toy.py": SLOW_SUITE})
    progress = tmp_path / "progress"
    running = started(repository, progress)
    wait_for(progress.is_file)

    second = repository.asv("run", "HEAD")

    running.send_signal(signal.SIGINT)
    running.wait(60)
    assert second.returncode == 1
    assert "another asv run uses the checkout" in second.stdout + second.stderr


def started(repository: Repository, progress: Path) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-m", "asv", "run", "HEAD"],
        cwd=repository.root,
        env=repository.environment(PCBENCH_PROGRESS=str(progress)),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


def wait_for(condition: Callable[[], bool], seconds: float = 60.0) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.05)
