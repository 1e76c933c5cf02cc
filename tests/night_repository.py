"""A toy project with an asv suite of its own, for whole nights: ``toy`` has a count, a cached load and a function."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import git_history
from git_history import Repository

# What is planted is five times as slow, which pairs are still asked about, and what must not be found is far below
# delta: no verdict hangs on how busy the machine is. Stored times may say what they like: pairs decide.
POLICY = """
[tool.pcbench.policy]
pairs = 6
slow_pairs = 6
delta = 0.3
fine_delta = 0.3
slow_delta = 0.3
canary_cases = 1
night_canary = 1e-9
"""
WITH_CANARY = POLICY.replace("1e-9", "0.0005")

TIMED = """
import toy

ITEMS = list(range(300))


class Load:
    version = "1"
    params = (["mlp"], ["first output"])
    param_names = ("model", "phase")
    rounds = 1
    repeat = (3, 5, 0.1)
    warmup_time = 0.01

    def time_second_load(self, model, phase):
        toy.load()


class Call:
    version = "1"
    rounds = 1
    repeat = (3, 5, 0.1)
    warmup_time = 0.01

    def time_call(self):
        toy.call(ITEMS)
"""

COUNTED = """
import toy


class Guards:
    version = "1"
    params = (["mlp"],)
    param_names = ("model",)

    def track_guards(self, model):
        return toy.GUARDS

    track_guards.unit = ""
    track_guards.kind = "count"
    track_guards.worse = "up"
"""

# A number that no second measurement gives again, then one that takes as long as a file is there.
LASTING = """
import time
from pathlib import Path


class First:
    version = "1"

    def track_when(self):
        return time.time()

    track_when.unit = "instructions"


class Second:
    version = "1"
    timeout = 120

    def track_wait(self):
        while Path("WAIT").exists():
            time.sleep(0.05)
        return 1

    track_wait.unit = ""
"""

# What depends on the torch that is installed.
BUILT = """
import torch

LAST = int(torch.__version__.partition("+")[0].rpartition(".")[2])


def track_last():
    return LAST


track_last.version = "1"
track_last.unit = ""
track_last.kind = "count"


def time_items():
    for item in range(300 * 5 ** (LAST - 1)):
        pass


time_items.version = "1"
time_items.rounds = 1
time_items.repeat = (3, 5, 0.1)
"""

# The guards of a real model, counted by torch in processes of their own.
CENSUS = """
from pcbench import tracking


class Census:
    version = "1"
    timeout = 600
    params = (["models/tiny.py"], ["guards"])
    param_names = ("model", "entry")

    def track_count(self, model, entry):
        return tracking.guard_count(model, entry)

    track_count.unit = ""
    track_count.kind = "count"
    track_count.worse = "any"
"""

MODEL = """
import torch

from pcbench.models import Model


class Tiny(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(4, 4)
        self.scale = 2.0
        self.limit = 3

    def forward(self, x):
        return self.layer(x) * self.scale


MODEL = Model(build=Tiny, inputs=lambda: ((torch.ones(2, 4),), {}))
"""

# An attribute that the graph now reads: a guard on its value.
MORE_GUARDS = MODEL.replace("* self.scale", "* self.scale + self.limit")

GUARDS = "GUARDS = 12\n"

LOAD = """
SOURCE = "\\n".join(f"def f{i}(x): return x + {i}" for i in range(120))
CACHE = {}


def load():
    if SOURCE not in CACHE:
        CACHE[SOURCE] = compile(SOURCE, "toy", "exec")
    return CACHE[SOURCE]
"""

LOST = LOAD.replace("    if SOURCE not in CACHE:\n        CACHE[SOURCE]", "    if True:\n        CACHE[SOURCE]")

CALL = """
def call(items):
    total = 0
    for item in items:
        total += item
    return total
"""

# Honest work: all items four times more.
SLOWER = CALL.replace("    return total", "    for item in items * 4:\n        total += item\n    return total")


def package(guards: str = GUARDS, load: str = LOAD, call: str = CALL) -> dict[str, str]:
    """The files of the measured package."""
    return {"toy/__init__.py": guards + load + call}


def new(folder: Path, python: Path | str, suites: Mapping[str, str] | None = None, policy: str = POLICY) -> Repository:
    """The repository with its first commit."""
    repository = git_history.new(folder, {"shared_pythons": {"small": str(python)}})
    files = {
        f"benchmarks/bench_{name}.py": text for name, text in (suites or {"counted": COUNTED, "timed": TIMED}).items()
    }
    repository.commit({"benchmarks/__init__.py": "", "pyproject.toml": policy} | files | package())
    return repository


def words(command: str, *more: str) -> list[str]:
    """The command line of a pcbench command."""
    return [sys.executable, "-m", "pcbench", command, *more]


def pcbench(repository: Repository, command: str, *more: str) -> subprocess.CompletedProcess[str]:
    """Run a pcbench command at the top of the repository."""
    return subprocess.run(
        words(command, *more),
        cwd=repository.root,
        env=repository.environment(),
        capture_output=True,
        text=True,
        check=False,
    )


def night(repository: Repository, *more: str) -> subprocess.CompletedProcess[str]:
    """Run a night, without the report."""
    return pcbench(repository, "nightly", "--no-report", *more)


def accepted(repository: Repository, *more: str) -> None:
    """Accept what was measured last."""
    done = pcbench(repository, "accept", "--reason", "the first", *more)
    assert done.returncode == 0, done.stderr


def lines(text: str, *holding: str) -> Sequence[str]:
    """The lines of a text that hold all of these."""
    return [line for line in text.splitlines() if all(each in line for each in holding)]
