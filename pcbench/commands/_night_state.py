"""What a night keeps of itself, so that an interrupted one goes on where it was; its lock; room on the disk."""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Any

from pcbench.commands import _files
from pcbench.errors import PcbenchError

SCHEMA = 1
STATE, LOCK = "nightly.json", "nightly.lock"
_LEAST_FREE = 1e9
_TIMES_FREE = 3
_ENDING_S = 60.0
_KEPT = 60


@dataclass(frozen=True)
class Night:
    """A night, as ``.asv/nightly.json`` has it.

    Attributes:
        asked: What the night was asked for: another question is another night.
        commits: What it measures, newest first: the first is the candidate.
        done: The stages that are behind it.
        few: Benchmarks that it repeats less.
        left_out: Benchmarks that it does not measure.
        only: The benchmarks that it measures, where there is nothing new, and the night before left some out.
        before: The candidate of the night before.
        dropped: What it did not measure and why, in sentences.
        restless: Benchmarks with a suspect when they were last judged.
        short: Of earlier results, by commit, the benchmarks that were repeated less.
        number: How many nights there were before: canaries take turns by it.
    """

    asked: Mapping[str, str | None]
    commits: tuple[str, ...] = ()
    done: tuple[str, ...] = ()
    few: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
    only: tuple[str, ...] = ()
    before: str | None = None
    dropped: tuple[str, ...] = ()
    restless: tuple[str, ...] = ()
    short: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    number: int = 0
    started: str = ""
    finished: bool = False

    def behind(self, stage: str) -> Night:
        """The night with one more stage behind it."""
        return replace(self, done=(*self.done, stage))


def begin(folder: Path, asked: Mapping[str, str | None]) -> tuple[Night, str]:
    """The night to go on with, or a new one, and what there is to say of it."""
    started = datetime.now(UTC).isoformat(timespec="seconds")
    path = folder / STATE
    new = Night(asked, started=started)
    if not path.is_file():
        return new, ""
    try:
        last = _read(path)
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        return new, f"{path} cannot be read ({error}): a new night"
    short = dict(list(last.short.items())[-_KEPT:])
    before = last.commits[0] if last.commits else None
    new = replace(
        new, number=last.number + 1, restless=last.restless, short=short, left_out=last.left_out, before=before
    )
    if last.finished or not last.commits:
        return new, ""
    if dict(last.asked) != dict(asked):
        return new, f"the night of {last.started}, which was asked for something else, is left unfinished: a new night"
    stages = ", ".join(last.done) or "none yet"
    return last, f"going on with the night of {last.started} at {last.commits[0][:8]}; behind it: {stages}"


def keep(folder: Path, night: Night) -> None:
    """Write the state, whole or not at all.

    Raises:
        PcbenchError: It could not be written.
    """
    folder.mkdir(parents=True, exist_ok=True)
    _files.write(folder / STATE, (json.dumps({"schema": SCHEMA, **asdict(night)}, indent=1) + "\n").encode())


@contextmanager
def alone(folder: Path, what: str) -> Iterator[IO[str]]:
    """Hold the lock of nights in this checkout; asv inherits it, so that a killed night ends with its asv.

    Raises:
        PcbenchError: Another night has it.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / LOCK).open("a+") as lock:
        deadline = time.monotonic() + _ENDING_S
        while not _locked(lock):
            owner, told = _owner(lock)
            if owner is not None and _lives(owner):
                raise PcbenchError(f"another night is at work here: {told}", hint="wait for it to end, or end it")
            if time.monotonic() > deadline:
                raise PcbenchError(f"the asv of a killed night has not ended: {told}", hint="end it, then start again")
            time.sleep(0.2)
        lock.truncate(0)
        lock.write(f"process {os.getpid()}, {what}, since {datetime.now(UTC):%Y-%m-%d %H:%M} UTC")
        lock.flush()
        yield lock


def refuse_during(folder: Path) -> None:
    """Refuse what has to wait for the night that is at work in this checkout.

    Raises:
        PcbenchError: One is.
    """
    if not (folder / LOCK).is_file():
        return
    with (folder / LOCK).open("a+") as lock:
        if not _locked(lock):
            raise PcbenchError(
                f"a night is at work here: {_owner(lock)[1]}",
                hint="what it has measured is not whole: accept it when the night has ended",
            )


def check_room(root: Path, results: Path) -> None:
    """Refuse to begin on a disk that is nearly full.

    Raises:
        PcbenchError: There is less room than three times the results, or than 1 GB.
    """
    size = sum(path.stat().st_size for path in results.rglob("*") if path.is_file()) if results.is_dir() else 0
    needed = max(_LEAST_FREE, _TIMES_FREE * size)
    for place in {root, results if results.is_dir() else root}:
        free = shutil.disk_usage(place).free
        if free < needed:
            raise PcbenchError(
                f"{place} has {free / 1e6:,.0f} MB free; a night needs {needed / 1e6:,.0f} MB",
                hint="make room; no result was touched",
            )


def _read(path: Path) -> Night:
    told: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    if told.pop("schema") != SCHEMA:
        raise ValueError("it has another schema")
    short = {commit: tuple(names) for commit, names in told.pop("short").items()}
    fields: dict[str, Any] = {name: tuple(v) if isinstance(v, list) else v for name, v in told.items()}
    return Night(short=short, **fields)


def _locked(lock: IO[str]) -> bool:
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _owner(lock: IO[str]) -> tuple[int | None, str]:
    lock.seek(0)
    told = lock.read().strip()
    word = told.removeprefix("process ").partition(",")[0]
    return (int(word) if word.isdigit() else None), told or "it has not said which"


def _lives(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
