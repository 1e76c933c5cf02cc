"""What asv itself costs per commit: ``python tests/switch_cost.py [--beside-default]``.

Runs asv over the commits of a small repository and prints the median of what asv stores as ``<build>``, its time to
bring a commit into the environment: with pcbench's plugin, and beside it with asv's default, which builds a wheel and
installs it into a virtualenv of its own (that needs virtualenv, and a package index).
"""

from __future__ import annotations

import argparse
import json
import statistics
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import git_history

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


def build_seconds(folder: Path, conf: Mapping[str, Any], commits: int = COMMITS) -> list[float]:
    """Seconds that asv took to bring each commit in, without the first, which is there from the discovery."""
    repository = git_history.new(folder, conf)
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
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        python = git_history.small_python(Path(folder) / "python")
        confs: dict[str, Mapping[str, Any]] = {
            "shared": {"shared_pythons": {"small": str(python)}, "measured_packages": {"toy": "toy"}}
        }
        if args.beside_default:
            confs["asv's default (virtualenv)"] = DEFAULT
        for name, conf in confs.items():
            started = time.monotonic()
            seconds = build_seconds(Path(folder) / name.split()[0], conf)
            total = time.monotonic() - started
            print(
                f"{name}: median {statistics.median(seconds):.2f} s per commit (min {min(seconds):.2f}, "
                f"max {max(seconds):.2f}, n={len(seconds)}); {COMMITS} commits in {total:.1f} s"
            )


if __name__ == "__main__":
    main()
