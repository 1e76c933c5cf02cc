"""``pcbench bench`` over real asv runs of small repositories."""

from __future__ import annotations

import contextlib
import io
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import git_history
import pytest
from git_history import Repository
from toy_suite import FAILING

from pcbench.commands import bench as bench_command

SUITE = """
import time


class Load:
    version = "1"
    params = (["mlp"], ["eager", "aoti"], ["cold", "warm"])
    param_names = ["model", "strategy", "temperature"]

    def track_first_output(self, model, strategy, temperature):
        import toy
        return {"samples": [toy.SECONDS[strategy]] * 3, "number": 1}

    track_first_output.unit = "seconds"
"""

ENDLESS = """
import subprocess
import sys


class Load:
    version = "1"
    params = (["eager", "aoti"],)
    param_names = ["strategy"]

    def track_first_output(self, strategy):
        if strategy == "aoti":
            subprocess.run([sys.executable, "-c", "import time; time.sleep(600)  # MARK"])
        return 1.0

    track_first_output.unit = "seconds"
"""


pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("test_bench_command")]


def bench(repository: Repository, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "pcbench", "bench", *words],
        cwd=repository.root,
        env=repository.environment(),
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture
def repository(small_python: Path, tmp_path: Path) -> Repository:
    repository = git_history.new(
        tmp_path,
        {
            "shared_pythons": {"small": str(small_python)},
            "measured_packages": {"toy": "toy"},
            "matrix": {"env_nobuild": {"PCBENCH_PROFILE": ["quick", "full"]}},
        },
    )
    repository.write({"benchmarks/__init__.py": "", "benchmarks/bench_toy.py": SUITE})
    return repository


def test_bench_measures_head_with_progress_and_ends_with_what_it_found_and_the_report(repository: Repository) -> None:
    commit = repository.commit({"toy/__init__.py": "SECONDS = {'eager': 2.0, 'aoti': 1.0}\n"})
    repository.write({"toy/__init__.py": "SECONDS = {'eager': 9.0, 'aoti': 9.0}\n"})

    done = bench(repository)

    assert done.returncode == 0, done.stderr
    assert "uncommitted changes (1 file)" in done.stdout
    assert f"measuring HEAD ({commit[:8]})" in done.stdout
    last_case = f"{commit[:8]} bench_toy.Load.track_first_output('mlp', 'aoti', 'warm')"
    assert re.search(rf"\[4/4\] +\d+ s  {re.escape(last_case)}", done.stderr)
    rows = [line.split() for line in done.stdout.splitlines()]
    assert ["mlp", "eager", "cold", "2", "s", "(n=3)"] in rows
    assert ["mlp", "aoti", "cold", "1", "s", "(n=3)"] in rows
    assert "not taken in turn" in done.stdout
    assert "x eager" not in done.stdout
    where, last = done.stdout.splitlines()[-2:]
    assert where.startswith("report: ")
    assert Path(where.removeprefix("report: ")).is_file()
    assert last == "pcbench accept --reason TEXT makes it the baseline that pcbench gate compares with"


def test_the_last_line_names_the_gate_where_there_is_a_baseline(tmp_path: Path) -> None:
    (tmp_path / "BASELINE").write_text("")

    assert bench_command._what_judges_it(tmp_path) == "pcbench gate judges it"


def test_a_profile_and_a_range_are_passed_to_asv(repository: Repository) -> None:
    repository.commit({"toy/__init__.py": "SECONDS = {'eager': 2.0, 'aoti': 1.0}\n"})
    new = repository.commit({"toy/__init__.py": "SECONDS = {'eager': 2.0, 'aoti': 3.0}\n"})

    done = bench(repository, "--profile", "full", "--machine", "other", "HEAD~1..HEAD")

    assert done.returncode == 0, done.stderr
    (stored,) = (repository.root / "results" / "other").glob("*PCBENCH_PROFILEfull.json")
    assert stored.name.startswith(new[:8])


def test_a_case_that_fails_is_listed_as_asv_names_it_and_one_that_does_not_apply_is_not(
    repository: Repository,
) -> None:
    repository.write({"benchmarks/bench_toy.py": FAILING})
    commit = repository.commit({"toy/__init__.py": ""})

    done = bench(repository)

    assert done.returncode == 2
    assert "\n1 case failed:\n" in done.stdout
    name = "bench_toy.Sizes.track_bytes('mlp', 7)"
    assert f"  {commit[:8]} {name}  CRASHED: at load: killed by SIGSEGV" in done.stdout
    assert "track_bytes('mlp', 8)" not in done.stdout
    (again,) = re.findall(r'asv run \S+ -b "(.*)"', done.stdout)
    assert re.search(again, name)
    assert "report: " in done.stdout


def test_a_busy_machine_is_said(monkeypatch: pytest.MonkeyPatch, repository: Repository) -> None:
    head = repository.commit({"toy/__init__.py": ""})
    monkeypatch.setattr(os, "cpu_count", lambda: 2)
    said = []
    for load in (1.4, 3.8):
        monkeypatch.setattr(os, "getloadavg", lambda load=load: (load, 0.0, 0.0))
        with contextlib.redirect_stdout(io.StringIO()) as out:
            bench_command._say_what_is_measured(repository.root, "results", "HEAD", head)
        said.append(out.getvalue())

    assert "note:" not in said[0]
    assert "note: load average 3.8 on 2 CPUs: other work is running, and times will show it" in said[1]


def test_ctrl_c_before_anything_was_measured_leaves_no_result(repository: Repository) -> None:
    mark = f"first{os.getpid()}"
    first = ENDLESS.replace("MARK", mark).replace('["eager", "aoti"]', '["aoti"]')
    repository.write({"benchmarks/bench_toy.py": first})
    repository.commit({"toy/__init__.py": ""})

    returncode, _, said = interrupted(repository, mark)

    assert returncode == 2
    assert "nothing was kept" in said
    assert [path.name for path in (repository.root / "results" / "lab").iterdir()] == ["machine.json"]


def test_ctrl_c_ends_the_children_and_says_what_is_kept(repository: Repository) -> None:
    mark = f"mark{os.getpid()}"
    repository.write({"benchmarks/bench_toy.py": ENDLESS.replace("MARK", mark)})
    repository.commit({"toy/__init__.py": ""})

    returncode, said, _ = interrupted(repository, mark)

    assert returncode == 2
    assert "failed" not in said
    assert "interrupted at case 2 of 2; kept: 1 measurement in results/lab/" in said
    assert not alive(mark)


def interrupted(repository: Repository, mark: str) -> tuple[int, str, str]:
    """Run bench until the marked process is alive, then press Ctrl-C: the return code, stdout and stderr."""
    running = subprocess.Popen(
        [sys.executable, "-m", "pcbench", "bench"],
        cwd=repository.root,
        env=repository.environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    deadline = time.monotonic() + 60
    while not alive(mark):
        assert time.monotonic() < deadline
        time.sleep(0.05)
    running.send_signal(signal.SIGINT)
    out, err = running.communicate(timeout=60)
    return running.returncode, out, err


def alive(mark: str) -> bool:
    """Whether a process with this word in its command line runs."""
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if mark.encode() in (folder / "cmdline").read_bytes():
                return True
        except OSError:
            continue
    return False


def test_a_suite_that_cannot_be_imported_is_an_error_with_its_last_words(repository: Repository) -> None:
    repository.write({"benchmarks/bench_toy.py": "raise RuntimeError('no such thing')\n"})
    repository.commit({"toy/__init__.py": ""})

    done = bench(repository)

    assert done.returncode == 2
    assert "asv measured nothing" in done.stderr
    assert "bench.log" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_folder_without_a_suite_checkout_or_commit_is_said(tmp_path: Path, repository: Repository) -> None:
    empty = Repository(tmp_path / "empty", repository.home)
    empty.root.mkdir()
    without_suite = bench(empty)
    empty.write({"asv.conf.json": "{}"})
    without_git = bench(empty)
    without_commit = bench(repository)

    assert "there is no asv.conf.json" in without_suite.stderr
    assert "is not in a git checkout" in without_git.stderr
    assert "has no commit yet" in without_commit.stderr
    assert [done.returncode for done in (without_suite, without_git, without_commit)] == [2, 2, 2]


def test_a_range_that_git_does_not_know_or_that_is_empty_is_said(repository: Repository, tmp_path: Path) -> None:
    repository.commit({"toy/__init__.py": ""})
    repository.commit({"toy/__init__.py": "SECONDS = {}\n"})
    shallow = Repository(tmp_path / "shallow", repository.home)
    repository.git("clone", "-q", "--depth", "1", f"file://{repository.root}", str(shallow.root))

    assert "git knows no commits nonsense" in bench(repository, "nonsense").stderr
    assert "the range HEAD..HEAD holds no commit" in bench(repository, "HEAD..HEAD").stderr
    assert "this is a shallow clone" in bench(shallow, "HEAD~1..HEAD").stderr
