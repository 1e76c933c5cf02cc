"""What asv itself costs per commit: ``python tests/switch_cost.py [--this-repository] [--beside-default]``.

Runs asv over commits and prints the median of what asv stores as ``<build>``, its time to bring a commit into the
environment, compilation to bytecode included: with pcbench's plugin, and beside it with asv's default, which builds a
wheel and installs it into a virtualenv of its own (that needs virtualenv, and a package index). The commits are those
of a package of one module, or, with ``--this-repository``, of a copy of this repository's files as they are now.
"""

from __future__ import annotations

import argparse
import json
import shutil
import statistics
import subprocess
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import git_history
from asv.config import Config  # type: ignore[import-untyped]

ROOT = Path(__file__).parent.parent
COMMITS = 8

PROJECT = """
[build-system]
requires = ["setuptools"]
build-backend = "setuptools.build_meta"

[project]
name = "toy"
version = "1"
"""

SUITE = """
class Toy:
    version = "1"

    def track_cost(self):
        import toy
        return toy.COST
"""

DEFAULT = {"environment_type": "virtualenv", "plugins": []}


def of_this_repository() -> dict[str, str]:
    """The packages that asv measures here, beside the one that changes with each commit."""
    packages: dict[str, str] = Config.load(str(ROOT / "asv.conf.json")).measured_packages
    return {"toy": "toy"} | packages


def copy_this_repository(folder: Path) -> None:
    """Copy the files that git has or would add, without the suite and its results."""
    listed = subprocess.check_output(["git", "ls-files", "-z", "-co", "--exclude-standard"], cwd=ROOT, text=True)
    for name in filter(None, listed.split("\0")):
        if (ROOT / name).is_file() and not name.startswith(("benchmarks/", "results/")):
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, folder / name)


def build_seconds(
    folder: Path, conf: Mapping[str, Any], commits: int = COMMITS, *, this_repository: bool = False
) -> list[float]:
    """Seconds that asv took to bring each commit in, without the first, which is there from the discovery."""
    repository = git_history.new(folder / "asv", conf)
    if this_repository:
        copy_this_repository(repository.root)
        repository.write({"asv.conf.json": json.dumps(git_history.CONF | dict(conf))})
    repository.write({"benchmarks/__init__.py": "", "benchmarks/bench_toy.py": SUITE, "pyproject.toml": PROJECT})
    made = [repository.commit({"toy/__init__.py": f"COST = {number}\n"}) for number in range(commits)]
    done = repository.asv("run", "ALL")
    found = []
    for number, commit in enumerate(made):
        if repository.results(commit)["bench_toy.Toy.track_cost"] != [number]:
            raise SystemExit(f"commit {number} was not measured:\n{done.stdout}")
        (path,) = (repository.root / "results" / git_history.MACHINE).glob(f"{commit[:8]}-*.json")
        built = json.loads(path.read_text())["durations"].get("<build>")
        if built is not None:
            found.append(built)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--beside-default", action="store_true", help="measure asv's default environment, too")
    parser.add_argument("--this-repository", action="store_true", help="commits of a copy of this repository")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        python = git_history.small_python(Path(folder) / "python")
        packages = of_this_repository() if args.this_repository else {"toy": "toy"}
        confs: dict[str, Mapping[str, Any]] = {
            "shared": {"shared_pythons": {"small": str(python)}, "measured_packages": packages}
        }
        if args.beside_default:
            confs["asv's default (virtualenv)"] = DEFAULT
        for name, conf in confs.items():
            started = time.monotonic()
            seconds = build_seconds(Path(folder) / name.split()[0], conf, this_repository=args.this_repository)
            total = time.monotonic() - started
            print(
                f"{name}: median {statistics.median(seconds):.2f} s per commit (min {min(seconds):.2f}, "
                f"max {max(seconds):.2f}, n={len(seconds)}); {COMMITS} commits in {total:.1f} s"
            )


if __name__ == "__main__":
    main()
