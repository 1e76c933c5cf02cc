"""A toy repository of two commits, and its sides made ready: nothing of it needs torch."""

from __future__ import annotations

from pathlib import Path

import git_history
from git_history import Repository

from pcbench import sides
from pcbench.sides import Ready, Suite

BEFORE = """
COUNT = 3


def work(what):
    return sum(range(3000))


def fail():
    pass
"""

AFTER = """
COUNT = 4


def work(what):
    return sum(range(6000 if what == "slower" else 3000))


def fail():
    raise ValueError("gone wrong")
"""

SUITE = """
import toy


class Time:
    params = ["slower", "same"]
    param_names = ["what"]

    def time_it(self, what):
        toy.work(what)


def time_fails():
    toy.fail()


def track_count():
    return toy.COUNT
"""


def repository(folder: Path, python: Path, suite: str = SUITE) -> Repository:
    """Two commits, in the second of which a case is slower, another fails, and a count is another."""
    made = git_history.new(folder, {"shared_pythons": {"small": str(python)}, "measured_packages": {"toy": "src"}})
    made.write({"benchmarks/__init__.py": "", "benchmarks/bench_toy.py": suite})
    made.commit({"src/__init__.py": BEFORE})
    made.commit({"src/__init__.py": AFTER})
    return made


def suite_of(made: Repository, python: Path) -> Suite:
    return Suite(made.root / "benchmarks", {"toy": "src"}, {"small": str(python)})


def ready(made: Repository, python: Path, folder: Path, what: str = "HEAD") -> Ready:
    """A side of the repository."""
    return sides.prepare(made.root, what, suite_of(made, python), folder)
