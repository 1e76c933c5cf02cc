"""Whole nights in another project's repository: what got worse is named, what did not is not, nothing is lost."""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import fake_torch
import git_history
import night_repository
import pytest
from git_history import Repository

pytestmark = pytest.mark.slow

CALM = "stored_delta = 0.9\n"  # twenty nights suspect nothing that is not nearly twice as slow
ONE_TIMING = (
    night_repository.TIMED[: night_repository.TIMED.index("class Load")]
    + (night_repository.TIMED[night_repository.TIMED.index("class Call") :])
)


def findings(repository: Repository) -> dict[str, dict[str, str]]:
    """What a night found, by case; it found something that is worse."""
    found = night_repository.night(repository, "--json", "verdicts.json")
    assert found.returncode == 1, found.stdout + found.stderr
    told = json.loads((repository.root / "verdicts.json").read_text())
    return {one["case"]: one for one in told["findings"]}


@pytest.mark.xdist_group("a night that finds")
def test_a_night_of_three_commits_names_the_commit_of_a_count_a_lost_cache_and_a_slow_function(
    small_python: Path, tmp_path: Path
) -> None:
    repository = night_repository.new(tmp_path, small_python)
    first = night_repository.night(repository)
    assert first.returncode == 2, first.stderr  # all is new
    night_repository.accepted(repository)
    more = {"guards": "GUARDS = 13\n"}
    guard = repository.commit(night_repository.package(**more))
    cache = repository.commit(night_repository.package(**more, load=night_repository.LOST))
    call = repository.commit(night_repository.package(**more, load=night_repository.LOST, call=night_repository.SLOWER))
    found = findings(repository)
    since = {
        "bench_counted.Guards.track_guards(mlp)": guard,
        "bench_timed.Load.time_second_load(mlp, first output)": cache,
        "bench_timed.Call.time_call": call,
    }
    for case, commit in since.items():
        assert found[case]["verdict"] == "SLOWER", case
        assert f"since {commit[:8]} of " in found[case]["reason"], found[case]["reason"]
    assert "12 -> 13" in found["bench_counted.Guards.track_guards(mlp)"]["reason"]
    # Pairs decided, by the project's policy.
    assert re.search(r"\d\.\d\d\d times \(", found["bench_timed.Call.time_call"]["reason"])
    assert "beyond 30.0%, twice" in found["bench_timed.Call.time_call"]["rule"]


@pytest.mark.xdist_group("a night that finds")
def test_a_night_names_the_commit_the_model_and_what_for_a_guard_of_a_real_graph(tmp_path: Path) -> None:
    repository = night_repository.new(tmp_path, sys.executable, {"census": night_repository.CENSUS})
    repository.commit({"models/tiny.py": night_repository.MODEL})
    night_repository.night(repository)
    night_repository.accepted(repository)
    guard = repository.commit({"models/tiny.py": night_repository.MORE_GUARDS})
    found = findings(repository)["bench_census.Census.track_count(models/tiny.py, guards)"]
    assert found["verdict"] == "CHANGED"
    assert f"since {guard[:8]}" in found["reason"]
    assert "1 EQUALS_MATCH more: on 1 value (L['self'].limit)" in found["reason"]


@pytest.mark.xdist_group("nights without a change")
def test_twenty_nights_without_a_change_all_exit_0(small_python: Path, tmp_path: Path) -> None:
    suites = {"counted": night_repository.COUNTED, "timed": ONE_TIMING}
    repository = night_repository.new(tmp_path, small_python, suites, night_repository.POLICY + CALM)
    night_repository.night(repository)
    night_repository.accepted(repository)
    for number in range(20):
        policy = night_repository.POLICY if number < 18 else night_repository.WITH_CANARY
        repository.commit({"pyproject.toml": policy + CALM})
        done = night_repository.night(repository)
        assert done.returncode == 0, done.stdout + done.stderr
    assert re.search(r"canary: \w{8} against itself, bench_timed.Call.time_call", done.stderr)
    assert "on the same code said SLOWER" in done.stdout or "without a verdict not counted" in done.stdout
    assert "not what differs" not in done.stderr
    (repository.root / "pyproject.toml").write_text(f"{policy}{CALM}# not committed\n")
    done = night_repository.night(repository)
    assert "nothing new since" in done.stderr
    assert "not what differs from the last one in pyproject.toml" in done.stderr
    assert done.returncode == 0


@contextlib.contextmanager
def started(repository: Repository) -> Iterator[subprocess.Popen[str]]:
    """A night that is in the middle of the suite: its first benchmark is stored, its second waits for a file to go."""
    waits = repository.root / "WAIT"
    waits.touch()
    night = subprocess.Popen(
        night_repository.words("nightly", "--no-report"),
        cwd=repository.root,
        env=repository.environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        deadline = time.monotonic() + 120
        while not list((repository.root / "results").glob(f"{git_history.MACHINE}/*-shared*.json")):
            assert night.poll() is None, night.communicate()
            assert time.monotonic() < deadline
            time.sleep(0.05)
        yield night
    finally:
        waits.unlink(missing_ok=True)
        night.kill()
        if not night.stderr.closed:  # type: ignore[union-attr]
            night.communicate()


def _child(process: int) -> int:
    """asv, which a night waits for."""
    (found,) = Path(f"/proc/{process}/task/{process}/children").read_text().split()
    return int(found)


@pytest.fixture
def waiting(small_python: Path, tmp_path: Path) -> Repository:
    return night_repository.new(
        tmp_path,
        small_python,
        {"lasting": night_repository.LASTING.replace('"WAIT"', repr(f"{tmp_path}/repository/WAIT"))},
    )


@pytest.mark.xdist_group("a night that finds")
@pytest.mark.parametrize("asv_too", [False, True])
def test_a_night_that_was_killed_goes_on_and_keeps_what_it_had_measured(waiting: Repository, asv_too: bool) -> None:
    commit = waiting.git("rev-parse", "HEAD")
    with started(waiting) as night:
        before = waiting.results(commit)["bench_lasting.First.track_when"]
        second = night_repository.night(waiting)
        assert second.returncode == 2
        assert f"another night is at work here: process {night.pid}" in second.stderr
        asv = _child(night.pid)
        os.kill(night.pid, signal.SIGKILL)
        if asv_too:
            os.kill(asv, signal.SIGKILL)
    waiting.commit({})  # the night goes on with its candidate, not with what came meanwhile
    again = night_repository.night(waiting)
    assert "going on with the night of" in again.stderr
    assert f"candidate: {commit[:8]}" in again.stdout
    assert waiting.results(commit) == {"bench_lasting.First.track_when": before, "bench_lasting.Second.track_wait": [1]}


@pytest.mark.xdist_group("nights without a change")
@pytest.mark.parametrize("ending", [signal.SIGINT, signal.SIGTERM])
def test_a_night_that_is_ended_says_that_the_same_command_goes_on(waiting: Repository, ending: signal.Signals) -> None:
    with started(waiting) as night:
        night.send_signal(ending)
        _, said = night.communicate(timeout=60)
    assert night.returncode == 2
    assert "the same command goes on with it" in said
    assert json.loads((waiting.root / ".asv" / "nightly.json").read_text())["finished"] is False


@pytest.mark.xdist_group("nights without a change")
def test_a_budget_that_ends_within_the_suite_keeps_what_it_has_and_the_next_night_goes_on(waiting: Repository) -> None:
    (waiting.root / "WAIT").touch()
    done = night_repository.night(waiting, "--budget", "0.12")
    assert done.returncode == 2
    # A busy machine may not even have measured the first benchmark.
    assert "the budget ended while" in done.stdout or "before the budget ended; the same command goes on" in done.stderr
    (waiting.root / "WAIT").unlink()
    commit = waiting.git("rev-parse", "HEAD")
    assert "bench_lasting.Second.track_wait" in night_repository.night(waiting).stdout
    assert waiting.results(commit)["bench_lasting.Second.track_wait"] == [1]


@pytest.mark.xdist_group("a night that finds")
def test_a_night_over_torch_builds_judges_the_baselines_commit_on_the_new_one(tmp_path: Path) -> None:
    builds = {name: str(fake_torch.python(tmp_path / name, name)) for name in ("9.9.1", "9.9.2")}
    repository = night_repository.new(tmp_path, "", {"built": night_repository.BUILT})
    conf = json.loads((repository.root / "asv.conf.json").read_text())
    conf |= {"shared_pythons": builds, "matrix": {"req": {"torch": ["9.9.1"]}}}
    commit = repository.commit({"asv.conf.json": json.dumps(conf)})
    first = night_repository.night(repository)
    assert first.returncode == 2, first.stderr
    night_repository.accepted(repository)
    repository.commit({})
    found = night_repository.night(repository, "--vary", "torch", "--env", "9.9.2")
    assert found.returncode == 1, found.stdout + found.stderr
    assert f"candidate: {commit[:8]} in shared-py" in found.stdout
    text = " ".join(found.stdout.split())
    assert f"torch 9.9.1+fake -> 9.9.2+fake, both at {commit[:8]}" in text
    assert "CHANGED 1 case" in text
    assert "SLOWER 1 case" in text
    assert not list(repository.root.glob(".asv.nightly*"))


PROFILED = """
import os

import toy

ITEMS = list(range(300))


def track_one():
    return 1


track_one.version = "1"

if os.environ.get("PCBENCH_PROFILE") == "full":

    def time_call():
        toy.call(ITEMS)

    time_call.version = "1"
    time_call.rounds = 1
    time_call.repeat = (3, 5, 0.1)
"""


@pytest.mark.xdist_group("a night that finds")
def test_pairs_are_taken_with_the_suite_of_the_nights_profile_whatever_the_shell_says(
    small_python: Path, tmp_path: Path
) -> None:
    repository = night_repository.new(tmp_path, small_python, {"profiled": PROFILED})
    conf = json.loads((repository.root / "asv.conf.json").read_text())
    conf["matrix"] = {"env_nobuild": {"PCBENCH_PROFILE": ["quick", "full"]}}
    repository.commit({"asv.conf.json": json.dumps(conf)})
    assert night_repository.night(repository, "--profile", "full").returncode == 2
    night_repository.accepted(repository, "--env", "full")
    slower = repository.commit(night_repository.package(call=night_repository.SLOWER))
    found = night_repository.night(repository, "--profile", "full", "--json", "-")
    assert found.returncode == 1, found.stdout + found.stderr
    told = {one["case"]: one for one in json.loads(found.stdout)["findings"]}
    assert told["bench_profiled.time_call"]["verdict"] == "SLOWER"
    assert f"since {slower[:8]}" in told["bench_profiled.time_call"]["reason"]
    assert "twice" in told["bench_profiled.time_call"]["rule"]
