"""A toy repository whose suite tells which code it measured."""

from __future__ import annotations

from pathlib import Path

import git_history
from git_history import Repository

SUITE = """
import os
import subprocess
import sys

try:
    import extra
except ImportError as error:
    extra = None
    print("lacks", error, file=sys.stderr)


def told(how):
    if how == "import":
        import toy
        return toy.COST
    if how == "child in the repository":
        words, cwd = ["-c", "import toy; print(toy.COST)"], os.environ["ASV_CONF_DIR"]
    elif how == "python -m in the repository":
        words, cwd = ["-m", "toy"], os.environ["ASV_CONF_DIR"]
    return float(subprocess.check_output([sys.executable, *words], cwd=cwd))


class Toy:
    version = "1"
    params = ["import", "child in the repository", "python -m in the repository"]
    param_names = ["how"]

    def track_cost(self, how):
        return told(how)

    track_cost.unit = "seconds"


class Extra:
    version = "1"

    def setup(self):
        if extra is None:
            raise NotImplementedError("this commit has no extra")

    def track_size(self):
        return extra.SIZE


class Call:
    version = "1"

    def time_call(self):
        import toy
        toy.work()

    time_call.number = 1
    time_call.repeat = 1
    time_call.rounds = 1
"""

# A case that is measured, one that fails with a reason, and one that does not apply.
FAILING = """
import json
import os


class Sizes:
    version = "1"
    params = (["mlp"], [6, 7, 8])
    param_names = ["model", "width"]

    def track_bytes(self, model, width):
        if width == 8:
            return float("nan")
        if width == 7:
            line = {"case": "bench_toy.Sizes.track_bytes(mlp, 7)", "status": "CRASHED"}
            with open(os.environ["PCBENCH_CONTEXT"], "a") as file:
                file.write(json.dumps(line | {"reason": "at load: killed by SIGSEGV"}) + "\\n")
            raise SystemExit(1)
        return 1.0

    track_bytes.unit = "bytes"
"""


def toy(cost: float) -> str:
    return f"COST = {cost}\n\n\ndef work():\n    return sum(range(10))\n"


def toy_repository(folder: Path, python: Path, **conf: object) -> Repository:
    measured = {"measured_packages": {"toy": "toy", "extra": "more"}}
    repository = git_history.new(folder, {"shared_pythons": {"small": str(python)}, **measured, **conf})
    repository.write({"benchmarks/__init__.py": "", "benchmarks/bench_toy.py": SUITE, "README": "toy"})
    return repository
