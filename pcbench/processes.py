"""Start a child process, stream its messages, limit it, and leave nothing of it behind.

A child answers with JSON lines on a pipe of its own, so that what a model or a compiler prints cannot be taken for an
answer. The child leads a process group: at the end, at the limit and at Ctrl-C the whole group is killed; a model's own
processes that leave the group are its own.
"""

from __future__ import annotations

import fcntl
import json
import os
import select
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

Message = dict[str, Any]

_POLL_S = 0.2
_TAIL_CHARS = 2000
_SCRATCH = "pcbench-scratch-"
_RANDOM = "?" * 8  # what mkdtemp adds: a folder without a lock is this one's only where its name could be
_LOCK = ".lock"

_running: set[subprocess.Popen[bytes]] = set()
_handed: set[int] = set()


@dataclass(frozen=True)
class Ending:
    """How a child ended.

    Attributes:
        returncode: Its exit status, negative for a signal.
        timed_out: It ran past its limit and was killed.
        output_tail: The last 2,000 characters that it printed.
    """

    returncode: int
    timed_out: bool
    output_tail: str

    @property
    def clean(self) -> bool:
        return self.returncode == 0 and not self.timed_out

    def sentence(self) -> str:
        """What happened, in words, with the last line that the child printed."""
        last = next((line for line in reversed(self.output_tail.splitlines()) if line.strip()), "it printed nothing")
        if self.returncode < 0:
            number = -self.returncode
            name = signal.Signals(number).name if number in set(signal.Signals) else f"signal {number}"
            why = ", as the kernel does when memory runs out" if name == "SIGKILL" else ""
            return f"killed by {name}{why}; last output: {last.strip()}"
        return f"exited with {self.returncode}; last output: {last.strip()}"


def run(
    command: Sequence[str],
    *,
    env: Mapping[str, str],
    cwd: Path,
    timeout_s: float,
    on_message: Callable[[Message], None],
    grace_s: float = 0.0,
    inherited: Sequence[int] = (),
) -> Ending:
    """Run ``command`` with ``--answer-fd N`` added, and hand each JSON line that it writes there to ``on_message``.

    Where it has to be ended and ``grace_s`` is not 0, it is asked to (SIGTERM), and has so long to end what it started.
    Descriptors that are ``inherited`` are the child's alone from then on: they are closed here.
    """
    reader, writer = os.pipe()
    with tempfile.TemporaryFile() as log, os.fdopen(reader, "rb", buffering=0) as answers:
        try:
            child = subprocess.Popen(
                [*command, "--answer-fd", str(writer)],
                env=dict(env),
                cwd=cwd,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                pass_fds=(writer, *_handed, *inherited),
                start_new_session=True,
            )
        finally:
            for descriptor in (writer, *inherited):
                os.close(descriptor)
        _running.add(child)
        try:
            timed_out = _stream(child, answers.fileno(), time.monotonic() + timeout_s, on_message)
        finally:
            try:
                _ask_to_end(child, grace_s)
            finally:
                _kill_group(child)
                _running.discard(child)
        size = log.seek(0, os.SEEK_END)
        log.seek(max(0, size - _TAIL_CHARS))
        return Ending(child.returncode, timed_out, log.read().decode(errors="replace"))


def _stream(child: subprocess.Popen[bytes], fd: int, deadline: float, on_message: Callable[[Message], None]) -> bool:
    """Read messages until the child closes its end or dies; True when the deadline came first."""
    pending = b""
    ended = False
    while True:
        ready, _, _ = select.select([fd], [], [], 0 if ended else _POLL_S)
        chunk = os.read(fd, 65536) if ready else b""
        *lines, pending = (pending + chunk).split(b"\n")
        for line in lines:
            on_message(json.loads(line))
        if (ready and not chunk) or (ended and not ready):
            break
        ended = child.poll() is not None
        if time.monotonic() > deadline:
            return True
    try:
        child.wait(max(0.0, deadline - time.monotonic()))
    except subprocess.TimeoutExpired:
        return True
    return False


def _ask_to_end(child: subprocess.Popen[bytes], grace_s: float) -> None:
    if grace_s and child.poll() is None:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(child.pid, signal.SIGTERM)
        with suppress(subprocess.TimeoutExpired):
            child.wait(grace_s)


def _kill_group(child: subprocess.Popen[bytes]) -> None:
    """Kill whatever is left of the child's group: the child itself, and compilers that it started."""
    with suppress(ProcessLookupError, PermissionError):  # all gone; macOS says the second of a zombie
        os.killpg(child.pid, signal.SIGKILL)
    child.wait()


@contextmanager
def handed(descriptor: int) -> Iterator[None]:
    """Hand a descriptor to every child that :func:`run` starts meanwhile: a lock on it lives as long as they do."""
    _handed.add(descriptor)
    try:
        yield
    finally:
        _handed.discard(descriptor)


def handed_now() -> tuple[int, ...]:
    """The descriptors that :func:`run` hands on at present: for a child that is started another way."""
    return tuple(_handed)


def kill_running() -> None:
    """Kill the children that other threads wait for: their :func:`run` then ends."""
    for child in tuple(_running):
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(child.pid, signal.SIGKILL)


def child_command(request: Mapping[str, Any], python: str = sys.executable) -> list[str]:
    """The command that asks the measuring half for something, in a fresh process.

    ``-P`` keeps the folder that the process starts in off its path: the repository's folder holds another ``pcbench``.
    """
    return [python, "-P", "-m", "pcbench.child", json.dumps(dict(request))]


@contextmanager
def scratch(parent: Path | None = None) -> Iterator[Path]:
    """A folder of this process's own, removed at the end; those of processes that were killed are removed first.

    Its owner holds a lock on a file in it, so that a folder without an owner is known, in whatever container it was.
    """
    root = parent or Path(tempfile.gettempdir())
    for left in root.glob(f"{_SCRATCH}{_RANDOM}"):
        with suppress(OSError), ExitStack() as stack:
            if _owned(left, stack):
                shutil.rmtree(left, ignore_errors=True)
    with ExitStack() as stack:
        folder = Path(tempfile.mkdtemp(prefix=_SCRATCH, dir=root))
        while not _owned(folder, stack):  # another process took it, before it was locked, for one that was left
            folder = Path(tempfile.mkdtemp(prefix=_SCRATCH, dir=root))
        owner = os.getpid()
        try:
            yield folder
        finally:
            if os.getpid() == owner:  # a forked child that ends has its parent's folders
                shutil.rmtree(folder, ignore_errors=True)


def _owned(folder: Path, stack: ExitStack) -> bool:
    """Lock a scratch folder until the stack is closed; False where another process has it, or removed it.

    What another user made there is never opened.
    """
    try:
        state = folder.lstat()
        if not stat.S_ISDIR(state.st_mode) or state.st_uid != os.geteuid():
            return False
        opened = os.open(folder / _LOCK, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        lock = stack.enter_context(os.fdopen(opened, "w"))
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return os.path.samestat(os.fstat(lock.fileno()), (folder / _LOCK).lstat())
    except (BlockingIOError, FileNotFoundError):
        return False
