"""Interpreters by torch build, each under a name: what ``pcbench env`` keeps, and how their processes find pcbench.

An environment is a folder below :func:`root` with a record: one that pcbench made has the interpreter in it, an adopted
one has its path. pcbench itself is installed in none: :func:`exposed` puts the running one on their path. A build's
identity is torch's git version; a name is only how it is called here.
"""

from __future__ import annotations

import fcntl
import importlib.util
import json
import os
import shutil
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import pcbench
from pcbench import interpreters
from pcbench.errors import PcbenchError, UnavailableError, UsageError

THIS = "this"
"""The name of the interpreter that runs pcbench."""

SCHEMA = 1
RECORD, MARKER, VENV = "env.json", "making.json", "venv"
_REMOVED = ".removed-"


@dataclass(frozen=True)
class Env:
    """A named interpreter.

    Attributes:
        kind: ``made``, ``adopted``, or ``incomplete`` for one whose making was interrupted.
        python: The interpreter's path.
    """

    name: str
    kind: str
    python: str


def root() -> Path:
    """Where environments are kept: PCBENCH_ENVS, else pcbench/envs in the user's data folder."""
    named = os.environ.get("PCBENCH_ENVS")
    data = os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share"
    return Path(named).expanduser().absolute() if named else Path(data) / "pcbench" / "envs"


def known() -> tuple[Env, ...]:
    """The environments, by name; not the running interpreter."""
    folder = root()
    found = [_env(place) for place in sorted(folder.iterdir())] if folder.is_dir() else []
    return tuple(env for env in found if env is not None)


def _env(folder: Path) -> Env | None:
    if folder.name.startswith("."):
        return None
    if (folder / RECORD).is_file():
        record = read_record(folder / RECORD)
        return Env(folder.name, record["kind"], record.get("python") or str(venv_python(folder)))
    return Env(folder.name, "incomplete", str(venv_python(folder))) if (folder / MARKER).is_file() else None


def venv_python(folder: Path) -> Path:
    """The interpreter of an environment that pcbench made."""
    return folder / VENV / "bin" / "python"


def find(name: str) -> Env:
    """The environment of this name, else the one whose torch has this version; ``this`` is the running interpreter.

    Raises:
        UsageError: There is none, it is incomplete, or several builds have this version.
    """
    if name == THIS:
        return Env(THIS, "adopted", sys.executable)
    found = serving(name)
    if found is None:
        there = ", ".join(env.name for env in known()) or "none"
        release = name if name[:1].isdigit() else "RELEASE"
        raise UsageError(
            f"there is no environment {name}", hint=f"`pcbench env add {release}` makes one; there are: {there}"
        )
    return found


def serving(name: str) -> Env | None:
    """The environment of this name, else the one whose torch has this version, if there is one.

    Raises:
        UsageError: It is incomplete, or several builds have this version.
    """
    envs = known()
    named = next((env for env in envs if env.name == name), None)
    if named is not None and named.kind == "incomplete":
        raise UsageError(f"the environment {name} is incomplete", hint="the same `pcbench env add` continues it")
    if named is not None:
        return named
    matching: dict[Env, str | None] = {}
    for env in envs:
        with suppress(UnavailableError):  # an interpreter that cannot be run has no torch to offer
            found = interpreters.facts(env.python)
            if env.kind != "incomplete" and name in (found.torch, found.release):
                matching[env] = found.torch_git
    if len(set(matching.values())) > 1:
        several = ", ".join(env.name for env in matching)
        raise UsageError(f"several builds have torch {name}: {several}", hint="give one of these names")
    return next(iter(matching), None)


def exposed(folder: Path) -> dict[str, str | None]:
    """Environment variables by which a process of any interpreter imports the running pcbench, and no installed one.

    ``folder`` is empty and lasts as long as the processes; it is given a link to each package.
    """
    kernels = importlib.util.find_spec("pcbench_kernels")
    packages = {"pcbench": pcbench.__file__, "pcbench_kernels": None if kernels is None else kernels.origin}
    for name, file in packages.items():
        if file is not None:
            (folder / name).symlink_to(Path(file).resolve().parent, target_is_directory=True)
    path = os.pathsep.join(filter(None, (str(folder), os.environ.get("PYTHONPATH"))))
    return {"PYTHONPATH": path, "PCBENCH_CHECKOUT": str(folder), "PYTHONHOME": None}


@contextmanager
def held(name: str, *, alone: bool = False, wait_s: float = 0.0) -> Iterator[IO[str]]:
    """Keep an environment from being removed or remade meanwhile; ``alone``, from being used, too.

    Gives the open lock: a process that inherits it holds the environment until it ends.

    Raises:
        PcbenchError: Another command has it, ``wait_s`` later still.
    """
    locks = root() / ".locks"
    locks.mkdir(parents=True, exist_ok=True)
    with (locks / name).open("a") as lock:
        deadline = time.monotonic() + wait_s
        while True:
            try:
                fcntl.flock(lock, (fcntl.LOCK_EX if alone else fcntl.LOCK_SH) | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if time.monotonic() > deadline:
                    raise PcbenchError(
                        f"the environment {name} is in use by another command", hint="wait for it to end"
                    ) from None
                time.sleep(0.1)
        yield lock


def read_record(path: Path) -> dict[str, Any]:
    """An environment's record, or the marker of one that is being made.

    Raises:
        PcbenchError: It is no JSON.
    """
    try:
        found: dict[str, Any] = json.loads(path.read_text())
    except ValueError as error:
        raise PcbenchError(f"{path} is damaged: {error}", hint=f"remove the folder {path.parent}") from error
    return found


def write_record(path: Path, record: Mapping[str, Any]) -> None:
    """Write it whole or not at all."""
    new = path.with_name(f"{path.name}.new")
    new.write_text(json.dumps({"schema": SCHEMA, **record}, indent=1) + "\n")
    new.replace(path)


def discard(folder: Path) -> None:
    """Remove an environment's folder; what a removal that was interrupted left goes, too."""
    if folder.exists():
        folder.rename(folder.with_name(f"{_REMOVED}{folder.name}-{os.getpid()}"))
    for left in folder.parent.glob(f"{_REMOVED}*"):
        shutil.rmtree(left, ignore_errors=True)
