"""Make an environment with a torch release: a virtual environment, pip, a check, a record; resumable at any point.

The marker is written first and the record last. What lies between, an interrupted making leaves for the next.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from pcbench import interpreters, torch_envs
from pcbench.commands._progress import Step
from pcbench.errors import PcbenchError, UsageError
from pcbench.torch_envs import MARKER, RECORD, VENV, venv_python

STEPS = 4

# pip dies with the command that started it: a second one would otherwise install beside it.
_PIP = """
import ctypes, os, runpy, signal, sys
if sys.platform == "linux":
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)
    if os.getppid() != int(sys.argv[1]): sys.exit(1)
sys.argv[:] = ["pip", *sys.argv[2:]]
runpy.run_module("pip", run_name="__main__", alter_sys=True)
"""
_PIP_INSTALLS = "Installing collected packages"


@dataclass(frozen=True)
class Asked:
    """What to make.

    Attributes:
        release: The torch version that pip is asked for.
        made_with: The Python version of the environment, ``3.11``; empty for any.
        options: pip's own further words: options, and packages.
        base: The interpreter that makes it.
    """

    release: str
    made_with: str
    options: tuple[str, ...]
    base: str

    def serves(self, other: Asked) -> bool:
        """Whether what was made for this is what the other asks for."""
        same = (self.release, self.options) == (other.release, other.options)
        return same and other.made_with in ("", self.made_with)

    def record(self, python: str) -> dict[str, object]:
        """The part of an environment's record that says what it was made for; ``python`` is its whole version."""
        made_with = ".".join(python.split(".")[:2])
        return {"release": self.release, "made_with": made_with, "options": list(self.options), "base": self.base}


def asked_of(release: str, base: str | None, options: tuple[str, ...]) -> Asked:
    """What the words of a command line ask for; without a base the running interpreter makes it, and any serves.

    Raises:
        UsageError: There is no such interpreter.
        UnavailableError: It cannot be run, or is older than pcbench can use.
    """
    if base is None:
        return Asked(release, "", options, sys.executable)
    path = interpreter(base)
    return Asked(release, ".".join(interpreters.facts(path).python.split(".")[:2]), options, path)


def read_asked(record: Mapping[str, Any]) -> Asked:
    """What an environment, or one that is incomplete, was made for."""
    return Asked(record["release"], record["made_with"], tuple(record["options"]), record["base"])


def interpreter(word: str) -> str:
    """The path of an interpreter that a word names, by its path or a name on the PATH.

    Raises:
        UsageError: There is none.
    """
    found = shutil.which(word)
    if found is None:
        raise UsageError(f"there is no interpreter {word}", hint="give a path, or a name on the PATH")
    return str(Path(found).absolute())


def require_room(folder: Path, wanted_gb: float) -> None:
    """Make sure that the disk has room for what is wanted, less what already lies in ``folder``.

    Raises:
        PcbenchError: It has not.
    """
    there = sum(p.lstat().st_size for p in folder.rglob("*")) if folder.is_dir() else 0
    free = shutil.disk_usage(folder if folder.is_dir() else folder.parent).free
    wanted = wanted_gb * 1e9 - there
    if free < wanted:
        raise PcbenchError(
            f"the disk of {folder.parent} has {free / 1e9:.1f} GB free; this environment wants {wanted / 1e9:.1f} GB",
            hint="free some, let PCBENCH_ENVS name a folder on a larger disk, or say with --room what it needs",
        )


def make(folder: Path, asked: Asked, lock: IO[str], step: Step, *, room_gb: float) -> dict[str, Any]:
    """Make the environment, or go on where an interruption left it; its record.

    Raises:
        PcbenchError: The disk has too little room, or pip or torch's import failed; pip's words are in the log.
    """
    log = torch_envs.root() / ".logs" / f"{folder.name}.log"
    log.parent.mkdir(parents=True, exist_ok=True)
    marker = folder / MARKER
    if marker.is_file() and not read_asked(torch_envs.read_record(marker)).serves(asked):
        torch_envs.discard(folder)
    require_room(folder, room_gb)
    fresh = not folder.is_dir()
    folder.mkdir(exist_ok=True)
    if not marker.is_file():
        torch_envs.write_record(marker, asked.record(interpreters.facts(asked.base).python))
    python = str(venv_python(folder))
    step(f"making a virtual environment with {asked.base}")
    if not _has_pip(python):
        with log.open("w") as stream:
            words = [asked.base, "-m", "venv", "--clear", str(folder / VENV)]
            if subprocess.run(words, stdout=stream, stderr=subprocess.STDOUT, check=False).returncode != 0:
                raise PcbenchError(f"{asked.base} makes no virtual environment: {_last(log)}", hint=f"see {log}")
    _forget_halves(folder)
    wanted = [f"torch=={asked.release}", *interpreters.requirements(), *asked.options]
    step(f"fetching torch {asked.release} and what it needs (pip's words: {log})")
    installing = _pip_install(python, wanted, log, lock, lambda: step("installing what was fetched"))
    if installing.returncode != 0:
        if fresh and not installing.begun:
            torch_envs.discard(folder)
        raise PcbenchError(f"pip could not install torch {asked.release}: {_last(log)}", hint=f"pip's words: {log}")
    step("importing torch there")
    found = interpreters.require_torch(python)
    record = {"kind": "made", **asked.record(found.python), "torch": found.torch, "torch_git": found.torch_git}
    torch_envs.write_record(folder / RECORD, record)
    marker.unlink()
    return record


def _has_pip(python: str) -> bool:
    """Whether the virtual environment is whole: pip is what is put there last."""
    if not Path(python).exists():
        return False
    tried = subprocess.run([python, "-m", "pip", "--version"], capture_output=True, check=False)
    return tried.returncode == 0


def _forget_halves(folder: Path) -> None:
    """Let pip install again what it was installing when it was killed: RECORD comes last, METADATA is looked for."""
    for metadata in (folder / VENV).glob("lib/python*/site-packages/*.dist-info"):
        if not (metadata / "RECORD").is_file():
            shutil.rmtree(metadata)


@dataclass(frozen=True)
class _Installing:
    """How pip ended, and whether it had begun to install what it fetched."""

    returncode: int
    begun: bool


def _pip_install(python: str, wanted: list[str], log: Path, lock: IO[str], on_begun: Callable[[], None]) -> _Installing:
    """Run pip; it holds the environment's lock, too, for the moment that it outlives a command that is killed."""
    words = [python, "-c", _PIP, str(os.getpid()), "install", "--no-input", "--progress-bar", "off", *wanted]
    env = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "PYTHONHOME")}
    pip = subprocess.Popen(
        words, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, pass_fds=(lock.fileno(),)
    )
    begun = False
    try:
        with log.open("a") as stream:
            stream.write(f"{json.dumps(wanted)}\n")
            assert pip.stdout is not None
            for line in pip.stdout:
                stream.write(line)
                stream.flush()
                if line.startswith(_PIP_INSTALLS) and not begun:
                    begun = True
                    on_begun()
    finally:
        if pip.poll() is None:
            pip.terminate()
        pip.wait()
    return _Installing(pip.returncode, begun)


def _last(log: Path) -> str:
    """pip's error, or the last line that was printed."""
    lines = [line.strip() for line in log.read_text(errors="replace").splitlines() if line.strip()]
    errors = [line for line in lines if line.startswith("ERROR:")]
    return (errors or lines or ["nothing was printed"])[-1]
