"""Which interpreter asv's environment ``shared`` measures with."""

from __future__ import annotations

import functools
import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from asv import environment, util  # type: ignore[import-untyped]

from pcbench import interpreters, torch_envs
from pcbench.errors import PcbenchError, UnavailableError

_VERSIONS = """
import importlib.metadata as m, importlib.util as u
def version(name):
    try: return m.version(name)
    except m.PackageNotFoundError: return None
tell(torch=version("torch"), triton=version("triton"), runner=u.find_spec("asv_runner") is not None)
"""


@dataclass(frozen=True)
class Interpreter:
    """A Python that measures, and the versions of what it holds.

    Attributes:
        env: The environment of ``pcbench env`` that it is of, or None.
    """

    path: str
    python: str
    torch: str | None
    triton: str | None
    env: str | None = None


def chosen(python: str, torch: str, table: Mapping[str, str]) -> Interpreter:
    """The interpreter for a torch build; ``-E shared:/path/to/python`` names one outright.

    The table, ``shared_pythons``, comes first. Without one, an environment of ``pcbench env`` serves, by its name or
    its torch's version, or the running interpreter.

    Raises:
        EnvironmentUnavailable: There is none, it cannot be run, or it has another torch.
    """
    env = None
    if os.sep in python:
        named = python
    elif torch in table:
        named = table[torch]
    elif not torch and len(table) < 2:
        named = next(iter(table.values()), sys.executable)
    elif not table:
        env = _kept(torch)
        named = sys.executable if env is None else env.python
    else:
        wanted = f"torch {torch}" if torch else "a matrix without torch"
        raise environment.EnvironmentUnavailable(
            f"shared_pythons in asv.conf.json names no interpreter for {wanted}; it has: {', '.join(table)}"
        )
    try:
        found = interpreter(str(util.which(os.path.expandvars(named))), env and env.name)
    except (OSError, UnavailableError) as error:
        raise environment.EnvironmentUnavailable(f"cannot use the interpreter {named}: {error}") from None
    if env is None and torch[:1].isdigit() and not (found.torch or "").startswith(torch):
        hint = "" if table or os.sep in python else f"; `pcbench env add {torch}` makes one that has"
        raise environment.EnvironmentUnavailable(f"{named} has torch {found.torch}, not {torch}{hint}")
    return found


def _kept(torch: str) -> torch_envs.Env | None:
    """The environment of ``pcbench env`` that serves; None where there is none, and the running interpreter may."""
    try:
        return torch_envs.serving(torch)
    except PcbenchError as error:
        raise environment.EnvironmentUnavailable(str(error)) from None


@functools.cache
def interpreter(path: str, env: str | None = None) -> Interpreter:
    """What a Python holds; it is asked once.

    Raises:
        EnvironmentUnavailable: It has no asv_runner.
        UnavailableError: It cannot be run, or is older than pcbench can use.
    """
    found = interpreters.told(path, _VERSIONS)
    if not found["runner"]:
        raise environment.EnvironmentUnavailable(f"{path} has no asv_runner: install asv-runner there")
    python = found["python"].rpartition(".")[0]
    return Interpreter(str(Path(path).absolute()), python, found["torch"], found["triton"], env)


def plain(env: Mapping[str, str]) -> dict[str, str]:
    """The variables without those that differ from commit to commit: asv's own, and the path to the checkout."""
    return {k: v for k, v in env.items() if k != "PYTHONPATH" and not k.startswith(("ASV_", "PCBENCH_"))}
