"""Small checks, as guards are made of, with extra work planted in them: a package for a side, and the suite over it.

Extra work is more of the same: N statements, or N rounds of a loop, of which a slower side has more. How many more
instructions that makes of a call, callgrind counts.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from pcbench import callgrind, processes
from pcbench.errors import PcbenchError

PACKAGE = "pcbench_selftest_checks"
SUITE = "bench_checks"

_OBJECTS = '''"""Made for a selftest."""

import itertools
import weakref


class Node:
    def __init__(self, one):
        self.one, self.shape, self.table = one, (2, 3), {"one": one}

    def check(self, one):
        return self.one == one


NODE = Node(1)
TABLE = {"one": 1, "other": 2}
ITEMS = [1, 2, 3]
REF = weakref.ref(NODE)
'''

# A line of it, and how many: with the call itself they are worth 100 lines by count, so that a percent is a line.
_LINES = {
    "names": ("node", 75),
    "global_names": ("TABLE", 80),
    "attributes": ("node.one", 85),
    "identities": ("node is one", 87),
    "comparisons": ("one == 1", 93),
    "look_ups": ('table["one"]', 95),
    "members": ('"one" in table', 95),
    "lengths": ("len(items)", 95),
    "types": ("type(node) is Node", 95),
    "instances": ("isinstance(node, Node)", 96),
}
# What is false in a round of the loop, and how many rounds.
_LOOPS = {
    "attribute_loop": ("node.one != 1", 400),
    "look_up_loop": ('table["one"] != 1', 300),
    "type_loop": ("type(node) is not Node", 300),
    "instance_loop": ("not isinstance(node, Node)", 300),
    "shape_loop": ("node.shape != (2, 3)", 300),
    "getattr_loop": ('getattr(node, "one") != 1', 400),
    "hasattr_loop": ('not hasattr(node, "shape")', 500),
    "weakref_loop": ("REF() is not node", 600),
    "method_loop": ("not node.check(1)", 600),
    "nested_loop": ('node.table["one"] != node.one or len(node.shape) != 2', 1000),
}
CHECKS = (*_LINES, *_LOOPS)

_BEFORE = "    node, table, items, one = NODE, TABLE, ITEMS, 1\n"
_COUNTER = """
import importlib, itertools, json, os, sys
from pathlib import Path
from pcbench import callgrind

package = importlib.import_module(sys.argv[1])

def calls(check, count):
    for _ in itertools.repeat(None, count):
        check()

with os.fdopen(int(sys.argv[sys.argv.index("--answer-fd") + 1]), "w") as answers:
    with callgrind.counting(Path(sys.argv[2])) as count:
        for name in sys.argv[3].split(","):
            check = getattr(package, "time_" + name)
            calls(check, 20)
            _, few, many = (count(lambda: calls(check, n)) for n in (3, 3, 13))
            answers.write(json.dumps({"check": name, "instructions": (many - few) / 10}) + "\\n")
"""
_COUNT_S = 600.0


def write_side(folder: Path, planted: Mapping[str, float]) -> Path:
    """A side's folder, with the package of all checks.

    Args:
        planted: By check, how much slower it is to be: 0.03 is 3 %.
    """
    package = folder / PACKAGE
    package.mkdir(parents=True)
    checks = "".join(_source(name, planted.get(name, 0.0)) for name in CHECKS)
    (package / "__init__.py").write_text(_OBJECTS + checks)
    return folder


def write_suite(folder: Path, checks: Sequence[str]) -> Path:
    """The folder of an asv suite that times the checks themselves, not functions that call them."""
    suite = folder / "benchmarks"
    suite.mkdir(parents=True)
    (suite / "__init__.py").write_text("")
    # asv goes by the functions' own names: those of the package are named for it.
    (suite / f"{SUITE}.py").write_text("".join(f"from {PACKAGE} import time_{name}\n" for name in checks))
    return suite


def case_of(check: str) -> str:
    """The id of a check's case in the suite."""
    return f"{SUITE}.time_{check}"


def instructions(side: Path, checks: Sequence[str]) -> dict[str, float]:
    """Instructions of a call of each check of a side's folder, counted by callgrind.

    Raises:
        UnavailableError: There is no valgrind here, or nothing to build its requests with.
        PcbenchError: The process that counts ended early.
    """
    found: dict[str, float] = {}
    with processes.scratch() as folder:
        prefix = callgrind.prepare(folder)
        ours = Path(callgrind.__file__).parent.parent
        ending = processes.run(
            [*prefix, sys.executable, "-P", "-c", _COUNTER, PACKAGE, str(folder), ",".join(checks)],
            env={**os.environ, "PYTHONPATH": f"{side}{os.pathsep}{ours}", "PYTHONHASHSEED": "0"},
            cwd=folder,
            timeout_s=_COUNT_S,
            on_message=lambda message: found.update({message["check"]: message["instructions"]}),
        )
    if set(found) != set(checks):
        raise PcbenchError(f"instructions were not counted: the process {ending.sentence()}")
    return found


def _source(name: str, planted: float) -> str:
    if name in _LINES:
        line, count = _LINES[name]
        body = f"    {line}\n" * (count + round(100 * planted))
    else:
        condition, count = _LOOPS[name]
        rounds = f"    for _ in itertools.repeat(None, {count + round(planted * count)}):\n"
        body = f"{rounds}        if {condition}:\n            return False\n"
    return f"\n\ndef time_{name}():\n{_BEFORE}{body}    return True\n"
