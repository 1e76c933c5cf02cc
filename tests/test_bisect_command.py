"""``pcbench bisect`` over real commits of a small repository."""

from __future__ import annotations

from pathlib import Path

import night_repository
import pytest
from git_history import Repository

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("bisect")]


@pytest.fixture(scope="module")
def history(small_python: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Repository, list[str]]:
    """Unchanged, a slower function, one guard more, unchanged."""
    repository = night_repository.new(tmp_path_factory.mktemp("bisect"), small_python)
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
    assert f"CHANGED since {commits[3][:8]} of " in done.stdout
    assert (
        len(night_repository.lines(done.stdout, ": SAME: 12")) + len(night_repository.lines(done.stdout, "12 -> 13"))
        <= 4
    )


def test_ends_that_do_not_differ_name_none(history: tuple[Repository, list[str]]) -> None:
    repository, commits = history
    done = night_repository.pcbench(repository, "bisect", "bench_counted.*", f"{commits[0]}..{commits[1]}")
    assert done.returncode == 0
    assert f"the evidence names none: {commits[1][:8]} is SAME beside {commits[0][:8]}: 12" in done.stdout


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (["bench_counted.*"], "bisect needs either A..B or --torch"),
        (["bench_counted.*", "HEAD..HEAD~1"], "HEAD is not before HEAD~1 on one branch"),
        (["bench_counted.*", "nothing..HEAD"], "git knows no range nothing..HEAD"),
        (["bench_counted.*", "--torch", "2.15.0"], "bisect needs two builds or more"),
        (["bench_*", "HEAD~1..HEAD"], "bench_* names 3 cases"),
    ],
)
def test_what_cannot_be_walked_is_refused(
    history: tuple[Repository, list[str]], words: list[str], problem: str
) -> None:
    done = night_repository.pcbench(history[0], "bisect", *words)
    assert done.returncode == 2
    assert problem in done.stderr
