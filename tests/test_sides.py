"""The sides of a comparison, made ready of real repositories."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import paired_sides
import pytest
from git_history import Repository
from paired_sides import ready

from pcbench import sides
from pcbench.errors import PcbenchError, UnavailableError, UsageError
from pcbench.sides import Asked, Ready


@pytest.fixture
def repository(tmp_path: Path, small_python: Path) -> Repository:
    return paired_sides.repository(tmp_path, small_python)


def said(side: Ready, program: str) -> str:
    """What a process of a side prints, or the last line of its traceback."""
    words = [side.python, "-c", program]
    done = subprocess.run(words, env=side.environment(1), cwd=side.folder, capture_output=True, text=True, check=False)
    return (done.stdout or done.stderr).strip().splitlines()[-1]


def test_two_commits_stand_side_by_side_and_the_users_repository_is_as_it_was(
    repository: Repository, small_python: Path, tmp_path: Path
) -> None:
    repository.write({"src/__init__.py": "COUNT = 9\n", "src/new.py": ""})
    repository.git("add", "src/new.py")
    before = [repository.git(*words) for words in (["status", "--porcelain"], ["worktree", "list"], ["show-ref"])]

    old, new = (ready(repository, small_python, tmp_path / what, what) for what in ("HEAD~1", "HEAD"))

    counts = [said(side, "import toy; print(toy.COUNT)") for side in (old, new)]
    assert counts == ["3", "4"]
    assert [old.side.commit, new.side.commit] == [repository.git("rev-parse", name) for name in ("HEAD~1", "HEAD")]
    after = [repository.git(*words) for words in (["status", "--porcelain"], ["worktree", "list"], ["show-ref"])]
    assert after == before


def test_a_folder_is_measured_as_it_is_and_is_a_commit_only_where_nothing_measured_was_changed(
    repository: Repository, small_python: Path, tmp_path: Path
) -> None:
    folder = str(repository.root)
    repository.write({"notes.txt": "not measured"})
    clean = ready(repository, small_python, tmp_path / "clean", folder)
    repository.write({"src/__init__.py": "COUNT = 9\n"})
    changed = ready(repository, small_python, tmp_path / "changed", folder)

    assert clean.side.commit == repository.git("rev-parse", "HEAD")
    assert changed.side.commit is None
    assert said(changed, "import toy; print(toy.COUNT)") == "9"


def test_a_copy_that_git_ignores_is_no_checkout_of_the_commit_around_it(
    repository: Repository, small_python: Path, tmp_path: Path
) -> None:
    repository.write({"copies/src/__init__.py": "COUNT = 9\n", "copies/.gitignore": "*\n"})

    copy = ready(repository, small_python, tmp_path / "side", str(repository.root / "copies"))

    assert copy.side.commit is None


def test_both_sides_have_folders_of_one_length_and_their_own_code(
    repository: Repository, small_python: Path, tmp_path: Path
) -> None:
    suite = paired_sides.suite_of(repository, small_python)
    with sides.both(repository.root, suite, tmp_path / "it", Asked("HEAD~1"), Asked("env:small", commit="HEAD")) as two:
        commits = [each.side.commit for each in two]
        lengths = {len(str(each.folder)) for each in two}

    assert commits == [repository.git("rev-parse", name) for name in ("HEAD~1", "HEAD")]
    assert len(lengths) == 1


def test_a_package_that_a_side_lacks_cannot_be_imported_even_where_one_is_installed(
    repository: Repository, small_python: Path, tmp_path: Path
) -> None:
    (tmp_path / "empty").mkdir()
    side = ready(repository, small_python, tmp_path / "side", str(tmp_path / "empty"))

    assert said(side, "import toy") == "ModuleNotFoundError: this side has no folder src"


def test_without_measured_packages_the_root_of_the_checkout_is_on_the_path(
    repository: Repository, small_python: Path, tmp_path: Path
) -> None:
    suite = sides.Suite(repository.root / "benchmarks", {}, {"small": str(small_python)})

    side = sides.prepare(repository.root, "HEAD~1", suite, tmp_path / "side")

    assert said(side, "import src; print(src.COUNT)") == "3"


def test_an_interpreter_is_a_side_with_the_code_of_a_commit_and_both_have_their_own_store(
    repository: Repository, small_python: Path, tmp_path: Path
) -> None:
    suite = paired_sides.suite_of(repository, small_python)
    one = sides.prepare(repository.root, "env:small", suite, tmp_path / "one", commit="HEAD~1")
    other = sides.prepare(repository.root, "HEAD~1", suite, tmp_path / "other", env="small")

    assert one.side.name == "env:small"
    assert one.side.code == other.side.code
    assert one.python == str(small_python)
    for name in ("PCBENCH_STORE", "TORCHINDUCTOR_CACHE_DIR", "TRITON_CACHE_DIR"):
        assert one.environment(7)[name] != other.environment(7)[name]
    sizes = [sum(len(f"{k}={v}") for k, v in side.environment(7).items()) for side in (one, other)]
    assert (sizes[0] + len(str(one.folder)) - sizes[1] - len(str(other.folder))) % 4096 == 0
    assert one.environment(7)["PYTHONHASHSEED"] == "7"
    assert one.environment(7)["PCBENCH_ONE_SAMPLE"] == "1"


def test_a_side_that_is_not_there_is_named_with_what_a_side_can_be(
    repository: Repository, small_python: Path, tmp_path: Path
) -> None:
    with pytest.raises(UsageError, match=r"no side nowhere.*env:NAME"):
        ready(repository, small_python, tmp_path / "side", "nowhere")
    with pytest.raises(UsageError, match=r"there is no environment 9\.9\.9"):
        ready(repository, small_python, tmp_path / "side", "env:9.9.9")


def test_a_side_cannot_have_two_interpreters(repository: Repository, small_python: Path, tmp_path: Path) -> None:
    suite = paired_sides.suite_of(repository, small_python)

    with pytest.raises(UsageError, match="names an interpreter, and so does --env this"):
        sides.prepare(repository.root, "env:small", suite, tmp_path / "side", env="this")


def test_an_interpreter_without_asv_runner_is_refused(
    repository: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sides.interpreters, "told", lambda python, code: {"python": "3.11.7", "runner": False})

    with pytest.raises(UnavailableError, match="no asv_runner"):
        ready(repository, Path("/any/python"), tmp_path / "side")


def test_one_command_at_a_time_measures_in_a_checkout(tmp_path: Path) -> None:
    with sides.alone(tmp_path), pytest.raises(PcbenchError, match="another command measures"), sides.alone(tmp_path):
        pass
    with sides.alone(tmp_path):
        pass


def test_what_a_killed_command_measures_keeps_others_out_until_it_has_ended(tmp_path: Path) -> None:
    program = """
import os, sys
from pathlib import Path
from pcbench import processes, sides
with sides.alone(Path(sys.argv[1])):
    worker = ["sh", "-c", "echo $$ > pid; exec sleep 60"]
    processes.run(worker, env=os.environ, cwd=Path(sys.argv[1]), timeout_s=60, on_message=print)
"""
    command = subprocess.Popen([sys.executable, "-c", program, str(tmp_path)])
    written = tmp_path / "pid"
    while not (written.is_file() and written.read_text().strip()):
        assert command.poll() is None
        time.sleep(0.01)
    command.kill()
    command.wait()

    with pytest.raises(PcbenchError, match="another command measures"), sides.alone(tmp_path):
        pass
    os.kill(int(written.read_text()), signal.SIGKILL)
    ends = time.monotonic() + 10
    while time.monotonic() < ends:
        with suppress(PcbenchError), sides.alone(tmp_path):
            return
        time.sleep(0.01)
    pytest.fail("the lock outlives the worker")
