"""``pcbench bisect`` over real commits of a small repository."""

from __future__ import annotations

from pathlib import Path

import night_repository
import pytest
from git_history import Repository

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("bisect")]


# A size that is never the same twice, within 0.01 %, and cases that fail: always, or where there is a guard more.
SIZED = """
import time

import toy


def _late():
    if toy.GUARDS > 12:
        raise ValueError("one too many")


def track_size():
    return 1_000_000 + 10_000 * (toy.GUARDS - 12) + time.time_ns() // 1000 % 100


track_size.unit = "bytes"


def track_late():
    _late()
    return 1


def time_late():
    _late()


def track_never():
    raise ValueError("not here")


track_size.version = track_late.version = time_late.version = track_never.version = "1"
"""


@pytest.fixture(scope="module")
def history(small_python: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Repository, list[str]]:
    """Unchanged, a slower function, one guard more, unchanged."""
    suites = {"counted": night_repository.COUNTED, "timed": night_repository.TIMED, "sized": SIZED}
    repository = night_repository.new(tmp_path_factory.mktemp("bisect"), small_python, suites)
    commits = [repository.git("rev-parse", "HEAD"), repository.commit({})]
    slower = {"call": night_repository.SLOWER}
    commits.append(repository.commit(night_repository.package(**slower)))
    commits.append(repository.commit(night_repository.package(guards="GUARDS = 13\n", **slower)))
    commits.append(repository.commit({}))
    return repository, commits


def test_the_commit_that_slowed_a_function_is_named_with_its_ratio(history: tuple[Repository, list[str]]) -> None:
    repository, commits = history
    done = night_repository.pcbench(repository, "bisect", "bench_timed.Call.time_call", f"{commits[0]}..{commits[-1]}")
    assert done.returncode == 0, done.stdout + done.stderr
    named = done.stdout.splitlines()[-2:]
    assert named[0].startswith(f"SLOWER since {commits[2][:8]} of ")
    assert named[0].endswith("change toy/__init__.py")
    assert " times (" in named[1]


def test_a_count_needs_one_measurement_a_commit(history: tuple[Repository, list[str]]) -> None:
    repository, commits = history
    done = night_repository.pcbench(repository, "bisect", "bench_counted.*", f"{commits[0]}..")
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"SLOWER since {commits[3][:8]} of " in done.stdout
    assert (
        len(night_repository.lines(done.stdout, ": SAME: 12")) + len(night_repository.lines(done.stdout, "12 -> 13"))
        <= 4
    )


def test_ends_that_do_not_differ_name_none(history: tuple[Repository, list[str]]) -> None:
    repository, commits = history
    done = night_repository.pcbench(repository, "bisect", "bench_counted.*", f"{commits[0]}..{commits[1]}")
    assert done.returncode == 0
    assert f"the evidence names none: {commits[1][:8]} is SAME beside {commits[0][:8]}: 12" in done.stdout


def test_bytes_that_are_never_the_same_are_judged_as_the_gate_judges_them(
    history: tuple[Repository, list[str]],
) -> None:
    repository, commits = history
    done = night_repository.pcbench(repository, "bisect", "bench_sized.track_size", f"{commits[0]}..")
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"SLOWER since {commits[3][:8]} of " in done.stdout
    same = night_repository.pcbench(repository, "bisect", "bench_sized.track_size", f"{commits[0]}..{commits[2]}")
    assert same.returncode == 0
    assert f"{commits[2][:8]} is SAME beside {commits[0][:8]}" in same.stdout


@pytest.mark.parametrize("case", ["track_late", "time_late"])
def test_the_commit_since_which_a_case_fails_is_named(history: tuple[Repository, list[str]], case: str) -> None:
    repository, commits = history
    done = night_repository.pcbench(repository, "bisect", f"bench_sized.{case}", f"{commits[0]}..")
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"FAILED since {commits[3][:8]} of " in done.stdout
    assert "one too many" in done.stdout


@pytest.mark.parametrize("case", ["track_never", "time_late"])
def test_what_has_no_number_at_the_first_place_is_not_judged(history: tuple[Repository, list[str]], case: str) -> None:
    repository, commits = history
    done = night_repository.pcbench(repository, "bisect", f"bench_sized.{case}", f"{commits[3]}..")
    assert done.returncode == 2
    assert f"is UNJUDGED beside {commits[3][:8]}: {commits[3][:8]} has no number" in done.stdout


def test_branches_that_went_apart_are_refused(history: tuple[Repository, list[str]]) -> None:
    repository, commits = history
    aside = repository.git("commit-tree", f"{commits[0]}^{{tree}}", "-p", commits[0], "-m", "aside")
    done = night_repository.pcbench(repository, "bisect", "bench_counted.*", f"{aside}..HEAD")
    assert done.returncode == 2
    assert f"{aside} is not before HEAD on one branch" in done.stderr


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (["bench_counted.*"], "bisect needs either A..B or --torch"),
        (["bench_counted.*", "HEAD..HEAD~1"], "HEAD is not before HEAD~1 on one branch"),
        (["bench_counted.*", "nothing..HEAD"], "git knows no range nothing..HEAD"),
        (["bench_counted.*", "--torch", "2.15.0"], "bisect needs two builds or more"),
        (["bench_*", "HEAD~1..HEAD"], "bench_* names 7 cases"),
    ],
)
def test_what_cannot_be_walked_is_refused(
    history: tuple[Repository, list[str]], words: list[str], problem: str
) -> None:
    done = night_repository.pcbench(history[0], "bisect", *words)
    assert done.returncode == 2
    assert problem in done.stderr
