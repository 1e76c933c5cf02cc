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
from pcbench.data_folder import data_folder
from pcbench.errors import PcbenchError, UnavailableError, UsageError

THIS = "this"
"""The name of the interpreter that runs pcbench."""

SCHEMA = 1
RECORD, MARKER, VENV = "env.json", "making.json", "venv"
_REMOVED = ".removed-"

_MADE = {"release": str, "made_with": str, "options": list, "base": str}
_FIELDS: Mapping[str, Mapping[str, type]] = {
    "made": _MADE | {"torch": str},
    "adopted": {"python": str, "torch": str},
    "being made": _MADE,
}


@dataclass(frozen=True)
class Env:
    """A named interpreter.

    Attributes:
        kind: ``made``, ``adopted``, ``incomplete`` for one whose making was interrupted, or ``damaged``.
        python: The interpreter's path, which nothing need be at where it is incomplete or damaged.
        problem: Why it cannot be used, and what to do, where it is incomplete or damaged.
    """

    name: str
    kind: str
    python: str
    problem: PcbenchError | None = None


def root() -> Path:
    """Where environments are kept: PCBENCH_ENVS, else envs in pcbench's data folder.

    Raises:
        PcbenchError: Neither can be told: this user has no home.
    """
    named = os.environ.get("PCBENCH_ENVS")
    if not named:
        return data_folder() / "envs"
    try:
        return Path(named).expanduser().absolute()
    except RuntimeError as error:
        raise PcbenchError(f"PCBENCH_ENVS is {named}, and there is no such home", hint="give its whole path") from error


def known() -> tuple[Env, ...]:
    """The environments, by name; not the running interpreter."""
    folder = root()
    found = [_env(place) for place in sorted(folder.iterdir())] if folder.is_dir() else []
    return tuple(env for env in found if env is not None)


def _env(folder: Path) -> Env | None:
    name, python = folder.name, str(venv_python(folder))
    if name.startswith("."):
        return None
    being_made = (folder / MARKER).is_file()  # before the record, which is there when the marker goes
    try:
        record = read_record(folder / RECORD)
    except (FileNotFoundError, NotADirectoryError):
        hint = "the same `pcbench env add` continues it"
        problem = UsageError(f"the environment {name} is incomplete", hint=hint)
        return Env(name, "incomplete", python, problem) if being_made else None
    except PcbenchError as error:
        return Env(name, "damaged", python, error)
    return Env(name, record["kind"], record["python"] if record["kind"] == "adopted" else python)


def venv_python(folder: Path) -> Path:
    """The interpreter of an environment that pcbench made."""
    return folder / VENV / "bin" / "python"


def find(name: str) -> Env:
    """The environment of this name, else the one whose torch has this version; ``this`` is the running interpreter.

    Raises:
        UsageError: There is none, it is incomplete, or several builds have this version.
        PcbenchError: It is damaged.
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


def named(name: str) -> Env | None:
    """The environment of this name, usable or not, if there is one."""
    return next((env for env in known() if env.name == name), None)


def serving(name: str) -> Env | None:
    """The environment of this name, else the one whose torch has this version, if there is one.

    Raises:
        UsageError: It is incomplete, or several builds have this version.
        PcbenchError: It is damaged.
    """
    found = named(name)
    if found is not None and found.problem is not None:
        raise found.problem
    if found is not None:
        return found
    matching: dict[Env, str | None] = {}
    for env in (env for env in known() if env.problem is None):
        with suppress(UnavailableError):  # an interpreter that cannot be run has no torch to offer
            held = interpreters.facts(env.python)
            if name in (held.torch, held.release):
                matching[env] = held.torch_git
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
        PcbenchError: It cannot be read, is no JSON, or does not say what such a record must.
        FileNotFoundError, NotADirectoryError: There is none.
    """
    hint = f"`pcbench env remove {path.parent.name}` removes it"
    try:
        found = json.loads(path.read_text())
    except (FileNotFoundError, NotADirectoryError):
        raise
    except (OSError, ValueError) as error:
        raise PcbenchError(f"{path} is damaged: {error}", hint=hint) from error
    if not isinstance(found, dict):
        raise PcbenchError(f"{path} is damaged: it is no object", hint=hint)
    kind = str(found.get("kind", "being made" if path.name == MARKER else None))
    if kind not in _FIELDS:
        raise PcbenchError(f"{path} is damaged: its kind is {kind}", hint=hint)
    wrong = [name for name, type_ in _FIELDS[kind].items() if not isinstance(found.get(name), type_)]
    if wrong:
        raise PcbenchError(f"{path} is damaged: it does not say {', '.join(wrong)}", hint=hint)
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
