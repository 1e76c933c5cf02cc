"""Loads of about a second, with more of the load planted in them: a package for a side, and the suite over it.

A load is a fresh process that imports modules and reads files for one half of its time, and computes for the other.
"""

from __future__ import annotations

import json
from pathlib import Path

PACKAGE = "pcbench_selftest_loads"
SUITE = "bench_loads"

# How many modules, files and rounds of work: the mixtures differ, so that no one of them decides.
LOADS = {
    "modules": (140, 20, 40),
    "files": (50, 80, 40),
    "work": (60, 30, 60),
    "mixed": (90, 50, 40),
}

_FUNCTIONS, _NUMBERS, _ROUND = 1000, 18_000, 45_000

_SUITE = f'''"""Made for a selftest."""

import subprocess
import sys
import time


def _load(name):
    started = time.perf_counter()
    subprocess.run([sys.executable, "-P", "-m", "{PACKAGE}", name], check=True)
    return time.perf_counter() - started


'''
_MAIN = f'''"""Made for a selftest."""

import importlib
import json
import sys
from pathlib import Path

PARTS = {{parts}}

modules, files, rounds = PARTS[sys.argv[1]]
held = [importlib.import_module(f"{PACKAGE}.module_{{{{n}}}}") for n in range(modules)]
folder = Path(__file__).parent
held += [json.loads((folder / f"file_{{{{n}}}}.json").read_text()) for n in range(files)]
for _ in range(rounds):
    table = {{{{}}}}
    for n in range({_ROUND}):
        table[n & 1023] = n * n + len(table)
'''


def write_side(folder: Path, planted: float) -> Path:
    """A side's folder, with the package of all loads.

    Args:
        planted: How much slower each is to be: 0.1 is 10 %, of its modules, its files and its work alike.
    """
    package = folder / PACKAGE
    package.mkdir(parents=True)
    parts = {name: tuple(round(count * (1 + planted)) for count in counts) for name, counts in LOADS.items()}
    (package / "__init__.py").write_text("")
    (package / "__main__.py").write_text(_MAIN.format(parts=repr(parts)))
    functions = "".join(f"\n\ndef call_{n}(one, other={n}):\n    return [one, other, {n}]\n" for n in range(_FUNCTIONS))
    for n in range(max(modules for modules, _, _ in parts.values())):
        (package / f"module_{n}.py").write_text(f'"""Made for a selftest: {n}."""{functions}')
    for n in range(max(files for _, files, _ in parts.values())):
        (package / f"file_{n}.json").write_text(json.dumps([n / (k + 1) for k in range(_NUMBERS)]))
    return folder


def write_suite(folder: Path) -> Path:
    """The folder of an asv suite with the loads, each a number in seconds."""
    suite = folder / "benchmarks"
    suite.mkdir(parents=True)
    (suite / "__init__.py").write_text("")
    bodies = [f'def track_{name}():\n    return _load("{name}")\n\n\ntrack_{name}.unit = "seconds"\n' for name in LOADS]
    (suite / f"{SUITE}.py").write_text(_SUITE + "\n\n".join(bodies))
    return suite
