"""asv run for real, with the plugin, on small git repositories."""

from __future__ import annotations

import importlib.metadata
import json
import math
import os
import platform
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import git_history
import pytest
import switch_cost
from git_history import Repository
from toy_suite import SUITE, toy, toy_repository

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("test_asv_plugin")]


@dataclass(frozen=True)
class History:
    """A repository of three commits, the last of which costs three times as much; the second adds ``extra``."""

    repository: Repository
    commits: Sequence[str]


@pytest.fixture(scope="module")
def history(tmp_path_factory: pytest.TempPathFactory) -> History:
    """Measured once, with an editable-like installation of a working tree that differs from every commit."""
    folder = tmp_path_factory.mktemp("history")
    python = git_history.small_python(folder / "python")
    repository = toy_repository(folder, python)
    main = "from toy import COST\n\nprint(COST)\n"
    commits = [
        repository.commit({"toy/__init__.py": toy(1.0), "toy/__main__.py": main}),
        repository.commit({"more/__init__.py": "SIZE = 7\n"}),
        repository.commit({"toy/__init__.py": toy(3.0)}),
    ]
    repository.write({"toy/__init__.py": toy(99.0), "extra/__init__.py": "SIZE = 99\n"})
    (git_history.site_packages(folder / "python") / "editable.pth").write_text(f"{repository.root}\n")
    ran = repository.asv("run", "ALL", "-e")
    assert ran.returncode == 0, ran.stdout + ran.stderr
    return History(repository, commits)


def test_every_commit_of_a_range_is_measured_with_its_own_code(history: History) -> None:
    costs = [history.repository.results(commit)["bench_toy.Toy.track_cost"] for commit in history.commits]

    assert costs == [[1.0] * 3, [1.0] * 3, [3.0] * 3]


def test_a_package_that_the_commit_lacks_is_na_although_an_installation_has_it(history: History) -> None:
    first, second, _ = (history.repository.results(commit)["bench_toy.Extra.track_size"] for commit in history.commits)

    assert math.isnan(first[0])
    assert second == [7]


def test_every_result_has_a_sidecar_that_says_what_it_ran_on(history: History) -> None:
    for commit in history.commits:
        head, *cases = history.repository.sidecar(commit)
        assert head["schema"] == 1
        assert head["commit"] == commit
        assert head["environment"].startswith("shared-py3")
        assert head["python"] == platform.python_version()
        assert head["torch"] is None
        assert head["threads"] == len(os.sched_getaffinity(0))
        assert head["load_average"] >= 0.0
        assert head["compiler"] is None or head["compiler"].startswith("/")
        assert cases == []


def test_only_the_last_commit_keeps_its_caches_and_artifacts(history: History) -> None:
    kept = [path.name for path in (history.repository.root / ".asv" / "env").glob("*/measured/*")]

    assert len(kept) == 1


def test_compare_shows_the_slower_commit(history: History) -> None:
    old, _, new = history.commits

    table = history.repository.asv("compare", old, new).stdout

    assert "3.00" in table


def test_find_names_the_commit_that_made_it_slower(history: History) -> None:
    old, _, new = history.commits
    found = history.repository.asv("find", f"{old}..{new}", "bench_toy.Toy.track_cost")

    assert f"Greatest regression found: {new[:8]}" in found.stdout


def test_continuous_fails_on_the_slower_commit(history: History) -> None:
    done = history.repository.asv("continuous", "-b", "track_cost", history.commits[1], history.commits[2])

    assert done.returncode == 1, done.stdout + done.stderr
    assert "PERFORMANCE DECREASED" in done.stdout


def test_profile_publish_and_check_work(history: History) -> None:
    profiled = history.repository.asv("profile", "bench_toy.Call.time_call", history.commits[0])
    published = history.repository.asv("publish")
    checked = history.repository.asv("check")

    assert [done.returncode for done in (profiled, published, checked)] == [0, 0, 0]
    assert "work" in profiled.stdout, profiled.stderr
    assert (history.repository.root / ".asv" / "html" / "index.html").is_file()
    assert "No problems found" in checked.stdout


def test_run_new_measures_only_the_new_commit(small_python: Path, tmp_path: Path) -> None:
    repository = toy_repository(tmp_path, small_python)
    repository.commit({"toy/__init__.py": toy(1.0), "toy/__main__.py": "from toy import COST\nprint(COST)\n"})
    repository.asv("run", "NEW")
    new = repository.commit({"toy/__init__.py": toy(2.0)})

    done = repository.asv("run", "NEW")

    assert "1 commits" in done.stdout
    assert repository.results(new)["bench_toy.Toy.track_cost"] == [2.0] * 3


def test_a_profile_is_an_environment_of_its_own_and_quick_is_the_default(small_python: Path, tmp_path: Path) -> None:
    profiles = {"matrix": {"env_nobuild": {"PCBENCH_PROFILE": ["quick", "full"]}}}
    repository = toy_repository(tmp_path, small_python, **profiles)
    commit = repository.commit({"toy/__init__.py": toy(1.0)})

    quick = repository.asv("run", "HEAD", "-b", "Extra")
    full = repository.asv("run", "HEAD", "-b", "Extra", PCBENCH_PROFILE="full")

    assert (quick.returncode, full.returncode) == (0, 0)
    assert "profile quick; PCBENCH_PROFILE=full selects the full one" in quick.stdout
    assert "profile full; PCBENCH_PROFILE=quick selects the quick one" in full.stdout
    names = sorted(
        path.stem for path in (repository.root / "results" / git_history.MACHINE).glob(f"{commit[:8]}*.json")
    )
    assert [name.rpartition("PCBENCH_PROFILE")[2] for name in names] == ["full", "quick"]


def test_environments_that_share_a_folder_are_measured_one_after_another_each_with_its_own_flags(
    small_python: Path, tmp_path: Path
) -> None:
    repository = toy_repository(tmp_path, small_python, matrix={"env_nobuild": {"TORCHINDUCTOR_FREEZING": ["1", "0"]}})
    suite = "import os\n\n\ndef track_freezing():\n    return int(os.environ['TORCHINDUCTOR_FREEZING'])\n"
    commit = repository.commit({"toy/__init__.py": toy(1.0), "benchmarks/bench_toy.py": suite})

    done = repository.asv("run", "HEAD")

    assert done.returncode == 0, done.stdout + done.stderr
    for value in ("1", "0"):
        found = repository.results(commit, f"FREEZING{value}")
        (head,) = repository.sidecar(commit, f"FREEZING{value}")
        assert found == {"bench_toy.track_freezing": [int(value)]}
        assert head["flags"]["TORCHINDUCTOR_FREEZING"] == value


def test_a_dry_run_leaves_no_sidecar(small_python: Path, tmp_path: Path) -> None:
    repository = toy_repository(tmp_path, small_python)
    repository.commit({"toy/__init__.py": toy(1.0)})

    repository.asv("run", "HEAD", "--dry-run", "-b", "Extra")

    assert list((repository.root / "results").rglob("*.context")) == []


def test_an_interpreter_that_cannot_serve_is_named(small_python: Path, tmp_path: Path) -> None:
    table = {"9.9.9": str(small_python), "8.8.8": str(tmp_path / "none")}
    repository = toy_repository(
        tmp_path, small_python, shared_pythons=table, matrix={"req": {"torch": ["9.9.9", "8.8.8", "7.7.7"]}}
    )
    repository.commit({"toy/__init__.py": toy(1.0)})

    said = repository.asv("run", "HEAD").stdout

    assert f"{small_python} has torch None, not 9.9.9" in said
    assert f"cannot use the interpreter {tmp_path / 'none'}" in said
    assert "names no interpreter for torch 7.7.7; it has: 9.9.9, 8.8.8" in said


def test_without_shared_pythons_the_running_interpreter_serves_and_the_sidecar_names_its_torch(tmp_path: Path) -> None:
    repository = git_history.new(tmp_path, {"measured_packages": {"toy": "toy", "extra": "more"}})
    repository.write({"benchmarks/__init__.py": "", "benchmarks/bench_toy.py": SUITE})
    commit = repository.commit({"toy/__init__.py": toy(1.0)})

    repository.asv("run", "HEAD", "-b", "Extra", TORCHINDUCTOR_FX_GRAPH_CACHE="1")

    head = repository.sidecar(commit)[0]
    assert head["torch"].startswith(importlib.metadata.version("torch"))
    assert len(head["torch_git"]) == 40
    assert head["isa"]
    assert head["flags"]["TORCHINDUCTOR_FX_GRAPH_CACHE"] == "1"
    assert head["environment"].startswith("shared-py3")
    assert "torch" in head["environment"]


def test_asv_describes_an_unknown_machine_by_itself(small_python: Path, tmp_path: Path) -> None:
    repository = toy_repository(tmp_path, small_python)
    (repository.home / ".asv-machine.json").unlink()
    repository.commit({"toy/__init__.py": toy(1.0)})

    repository.asv("run", "HEAD", "-b", "Extra", "--machine", "new-one")

    stored = json.loads((repository.root / "results" / "new-one" / "machine.json").read_text())
    assert {"machine", "os", "arch", "cpu", "num_cpu", "ram", "gpu"} <= set(stored)


def test_asv_s_own_cost_per_commit_is_at_most_half_a_second(small_python: Path, tmp_path: Path) -> None:
    conf = {"shared_pythons": {"small": str(small_python)}, "measured_packages": {"toy": "toy"}}

    seconds = switch_cost.build_seconds(tmp_path, conf)

    assert statistics.median(seconds) <= 0.5
