"""What another interpreter holds: its Python, its torch, and which of pcbench's own dependencies it lacks."""

from __future__ import annotations

import importlib.metadata
import json
import os
import re
import subprocess
from dataclasses import dataclass
from typing import Any

from pcbench.errors import UnavailableError

_ASK_S = 120.0

# What -P does, which Python 3.10 does not know.
_SAFE_PATH = "import sys; sys.path[:] = filter(None, sys.path)\n"

# An interpreter's own start-up code may print as well, before the answer, and after it.
_TOLD = "pcbench is told: "
_TELL = f"""
import json, sys
def tell(**what):
    print("\\n{_TOLD}" + json.dumps({{"python": "%d.%d.%d" % sys.version_info[:3], **what}}), flush=True)
"""

# version.py alone: an import of torch takes seconds, and a broken one is still worth a line in a list.
_FACTS = """
import importlib.metadata as m, importlib.util as u, runpy
from pathlib import Path
def has(name):
    try: return bool(m.version(name))
    except m.PackageNotFoundError: return False
spec = u.find_spec("torch")
known = {} if spec is None or spec.origin is None else runpy.run_path(str(Path(spec.origin).with_name("version.py")))
tell(
    torch=known.get("__version__"),
    torch_git=known.get("git_version"),
    lacking=[name for name in sys.argv[1:] if not has(name)],
)
"""


@dataclass(frozen=True)
class Facts:
    """What an interpreter holds, read without importing torch.

    Attributes:
        torch: torch's version, or None where there is none.
        torch_git: The git version that it was built from.
        lacking: Which of pcbench's own dependencies it lacks.
    """

    python: str
    torch: str | None
    torch_git: str | None
    lacking: tuple[str, ...]

    @property
    def release(self) -> str | None:
        """torch's version without its local part: ``2.14.1`` for ``2.14.1+cu130``."""
        return None if self.torch is None else self.torch.partition("+")[0]


def facts(python: str) -> Facts:
    """What the interpreter holds; torch is not imported.

    Raises:
        UnavailableError: It cannot be run, or is older than pcbench can use.
    """
    answer = told(python, _FACTS, *dependencies())
    return Facts(**answer | {"lacking": tuple(answer["lacking"])})


def require_torch(python: str) -> Facts:
    """What the interpreter holds, once torch was imported there.

    Raises:
        UnavailableError: It cannot be run, or torch cannot be imported.
    """
    found = facts(python)
    ask(python, "import torch")
    return found


def told(python: str, code: str, *words: str) -> dict[str, Any]:
    """What a program hands to ``tell(name=value, ...)`` there, and the version of that Python as ``python``.

    Raises:
        UnavailableError: It cannot be run, tells nothing, or is older than pcbench can use.
    """
    lines = ask(python, _TELL + code, *words).splitlines()
    answer = next((line.removeprefix(_TOLD) for line in reversed(lines) if line.startswith(_TOLD)), None)
    if answer is None:
        raise UnavailableError(f"{python} does not answer as a Python does")
    found: dict[str, Any] = json.loads(answer)
    if tuple(map(int, found["python"].split("."))) < (3, 11):
        raise UnavailableError(f"{python} is Python {found['python']}; pcbench needs 3.11 or newer")
    return found


def ask(python: str, code: str, *words: str) -> str:
    """What the interpreter prints for a program, started apart from this one's path and home.

    Raises:
        UnavailableError: It could not be run, or the program failed, told in its own words.
    """
    env = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "PYTHONHOME")}
    try:
        ran = subprocess.run(
            [python, "-c", _SAFE_PATH + code, *words],
            env=env,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_ASK_S,
            check=False,
        )
    except OSError as error:
        raise UnavailableError(f"{python} cannot be run: {error.strerror}") from error
    except subprocess.TimeoutExpired:
        raise UnavailableError(f"{python} did not answer in {_ASK_S:g} s") from None
    if ran.returncode != 0:
        said = ran.stderr.strip().splitlines() or [f"it exited with {ran.returncode} and printed nothing"]
        # A traceback says last what went wrong; a launcher that finds no Python says it first.
        raise UnavailableError(f"{python} failed: {said[-1 if 'Traceback' in ran.stderr else 0]}")
    return ran.stdout


def requirements() -> tuple[str, ...]:
    """What pcbench asks pip for, without torch and without extras.

    Raises:
        UnavailableError: The running pcbench is not installed, so that nothing says it.
    """
    try:
        asked = importlib.metadata.requires("pcbench") or []
    except importlib.metadata.PackageNotFoundError:
        raise UnavailableError(
            "the running pcbench is not installed, so its dependencies are unknown", hint="pip install it first"
        ) from None
    return tuple(text for text in asked if "extra ==" not in text and _project(text) != "torch")


def dependencies() -> tuple[str, ...]:
    """The names of :func:`requirements`."""
    return tuple(map(_project, requirements()))


def _project(requirement: str) -> str:
    return re.split(r"[^\w.-]", requirement, maxsplit=1)[0]
