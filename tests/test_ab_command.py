"""``pcbench ab`` on small repositories: real commits, real processes, nothing of asv_runner replaced."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import paired_sides
import pytest
from git_history import MACHINE, Repository

from pcbench import paired, sides

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("test_ab_command")]

# The machine of the tests is busy: a wide threshold, and few pairs.
POLICY = "[tool.pcbench.policy]\ndelta = 0.4\npairs = 6\n"


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory, small_python: Path) -> Repository:
    made = paired_sides.repository(tmp_path_factory.mktemp("ab"), small_python)
    made.write({"pyproject.toml": POLICY})
    return made


def ab(repository: Repository, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "pcbench", "ab", *words],
        cwd=repository.root,
        env=repository.environment(),
        capture_output=True,
        text=True,
        check=False,
    )


def test_ab_finds_what_a_commit_made_slower_and_what_it_broke_and_keeps_the_pairs(repository: Repository) -> None:
    done = ab(repository, "HEAD~1", "HEAD", "--json", "found.json")

    assert done.returncode == 1, done.stdout + done.stderr
    rows = [line.split() for line in done.stdout.splitlines() if line[:1].isupper()]
    assert [row[:2] for row in rows] == [
        ["SLOWER", "bench_toy.Time.time_it(slower)"],
        ["FAILED", "bench_toy.time_fails"],
        ["SAME", "bench_toy.Time.time_it(same)"],
    ]
    assert "failed on candidate: ValueError: gone wrong" in done.stdout
    assert "5 of 6 pairs beyond 40.0%, twice; false alarm: at most" in done.stdout
    assert "control, the same code on both sides" in done.stdout
    assert "2 of 3 cases open" in done.stderr
    told = json.loads((repository.root / "found.json").read_text())
    assert told["exit_code"] == 1
    assert told["cases"][0]["ratio"]["middle"] > 1.4
    commit = repository.git("rev-parse", "HEAD")
    kept = paired.read(repository.root / "results" / MACHINE / f"{commit[:8]}-small.pairs")
    assert {one.case for one in kept} == {"bench_toy.Time.time_it(slower)", "bench_toy.Time.time_it(same)"}
    assert kept[0].candidate.commit == commit
    assert all(one.settled and one.version for one in kept)
    assert "the gate will not find them" in done.stdout
    assert not any((repository.root / ".asv" / "ab").iterdir())


def test_a_canary_is_the_same_and_its_pairs_tell_the_next_verdict_how_often_it_is_false(
    repository: Repository,
) -> None:
    case = "bench_toy.Time.time_it(same)"

    first = ab(repository, "HEAD", "HEAD", case, "--results", "canaries")
    second = ab(repository, "HEAD", "HEAD", case, "--results", "canaries", "--no-save")

    assert (first.returncode, second.returncode) == (0, 0), first.stdout + second.stdout
    assert "no pairs of the same code on record" in first.stdout
    assert "pairs of the same code lay above 40.0%" in second.stdout


def test_a_count_that_is_named_is_measured_a_few_times_a_side(repository: Repository) -> None:
    done = ab(repository, "HEAD~1", "HEAD", "*count")

    assert done.returncode == 1, done.stderr
    assert "0 cases in pairs of processes, 1 measured a few times a side" in done.stdout
    assert "3 -> 4 unit; measured 3 times a side" in done.stdout


def test_what_cannot_be_compared_is_said_before_anything_is_measured(repository: Repository) -> None:
    nowhere = ab(repository, "nowhere", "HEAD")
    few = ab(repository, "HEAD~1", "HEAD", "--pairs", "5")
    unknown = ab(repository, "HEAD~1", "HEAD", "bench_toy.Time.tim_it")
    with sides.alone(repository.root):
        second = ab(repository, "HEAD~1", "HEAD")

    assert {each.returncode for each in (nowhere, few, unknown, second)} == {2}
    assert "fewer than 6 have no interval" in few.stderr
    assert "there is no side nowhere" in nowhere.stderr
    assert "near it: bench_toy.Time.time_it" in unknown.stderr
    assert "another command measures in" in second.stderr
    assert not any((repository.root / ".asv" / "ab").iterdir())


def test_ctrl_c_prints_and_keeps_what_was_measured(repository: Repository) -> None:
    words = ["HEAD~1", "HEAD", "*slower)", "--pairs", "500", "--results", "interrupted"]
    process = subprocess.Popen(
        [sys.executable, "-m", "pcbench", "ab", *words],
        cwd=repository.root,
        env=repository.environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert process.stderr is not None
    assert "1 pair measured" in process.stderr.readline()
    os.kill(process.pid, signal.SIGINT)
    out, _ = process.communicate(timeout=60)

    assert process.returncode == 2
    assert out.splitlines()[-1] == "interrupted; exit 2"
    assert "stopped before it was settled" in out
    (kept,) = (repository.root / "interrupted" / MACHINE).glob("*.pairs")
    assert paired.read(kept)[0].looks[0].pairs
    assert not any((repository.root / ".asv" / "ab").iterdir())
