"""Runs asv as a process and says what it is about to measure: how many of how many, case by case."""

from __future__ import annotations

import contextlib
import ctypes
import itertools
import json
import math
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pcbench.commands._progress import Step, steps

_POLL_S = 0.2
_ENDING_S = 30.0
_QUOTE = "'"
_PR_SET_PDEATHSIG = 1
_TOTAL = re.compile(r"\((\d+) commits \* (\d+) environments \* \d+ benchmarks\)")


@dataclass(frozen=True)
class Ending:
    """How asv ended.

    Attributes:
        returncode: 0 done, 2 some case failed, else it could not measure.
        interrupted: Ctrl-C ended it, or its limit; what it had measured is stored.
        out_of_time: It was its limit.
        started, total: The cases that it started, those that failed too, and all that there were to measure.
    """

    returncode: int
    interrupted: bool
    started: int
    total: int
    out_of_time: bool = False


def run(
    words: Sequence[str],
    *,
    root: Path,
    results: Path,
    log: Path,
    variables: Mapping[str, str],
    limit_s: float | None = None,
    inherited: Sequence[int] = (),
) -> Ending:
    """Run ``asv`` with ``words`` in ``root``; its output goes to ``log``, progress to stderr.

    At Ctrl-C asv is interrupted, too, and waited for: it ends its processes and stores what it has. So it does where
    this process is killed.

    Args:
        limit_s: Seconds after which it is interrupted.
        inherited: Files that asv keeps open until it ends, such as a lock.
    """
    log.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="pcbench-bench-") as folder, log.open("w") as output:
        told = Path(folder) / "progress"
        told.touch()
        process = subprocess.Popen(
            [sys.executable, "-m", "asv", *words],
            cwd=root,
            env=os.environ | variables | {"PCBENCH_PROGRESS": str(told)},
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            # Ctrl-C in a terminal then reaches this process alone, which hands it on once.
            start_new_session=True,
            pass_fds=inherited,
            preexec_fn=_interrupted_with_its_parent(),
        )
        interrupted = out_of_time = False
        try:
            out_of_time = not _follow(process, told, results, log, limit_s)
        except KeyboardInterrupt:
            interrupted = True
            print("interrupted: ending asv, which stores what it has measured", file=sys.stderr)
        finally:
            _end(process)
        started = len(told.read_text().splitlines())
        total = _total(log, _cases(results)) if started else 0
        return Ending(process.returncode, interrupted or out_of_time, started, total, out_of_time)


def _interrupted_with_its_parent() -> Callable[[], None] | None:
    """What a child runs at its start so that the kernel interrupts it when its parent is killed; Linux alone can."""
    if sys.platform != "linux":
        return None
    prctl = ctypes.CDLL(None).prctl  # looked up here: the child, between fork and exec, is to load nothing

    def ask() -> None:
        prctl(_PR_SET_PDEATHSIG, int(signal.SIGINT))

    return ask


def _follow(
    process: subprocess.Popen[bytes], told: Path, results: Path, log: Path, limit_s: float | None = None
) -> bool:
    """Say each case that starts, until asv ends; False where the limit came first."""
    deadline = math.inf if limit_s is None else time.monotonic() + limit_s
    with contextlib.ExitStack() as stack, told.open() as stream:
        step: Step | None = None
        cases: dict[str, list[tuple[str, ...]]] = {}
        while True:
            ended = process.poll() is not None
            for line in stream:
                start: dict[str, Any] = json.loads(line)
                if step is None:
                    cases = _cases(results)
                    step = stack.enter_context(steps(_total(log, cases)))
                name, index = start["benchmark"], start["index"]
                params = cases.get(name, [])
                step(f"{start['commit'][:8]} {_named(name, params[index] if index < len(params) else ())}")
            if ended:
                return True
            if time.monotonic() > deadline:
                return False
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(_POLL_S)


def _end(process: subprocess.Popen[bytes]) -> None:
    if process.poll() is None:
        # A second Ctrl-C would leave asv's processes behind.
        before = signal.signal(signal.SIGINT, signal.SIG_IGN)
        try:
            process.send_signal(signal.SIGINT)
            process.wait(_ENDING_S)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
        finally:
            signal.signal(signal.SIGINT, before)
    process.wait()


def case_names(results: Path) -> dict[str, str]:
    """Each case's id in pcbench's records to its name as asv's ``-b`` matches it, which quotes texts."""
    ids = (
        (f"{name}({', '.join(param.strip(_QUOTE) for param in case)})" if case else name, _named(name, case))
        for name, cases in _cases(results).items()
        for case in cases
    )
    return dict(ids)


def _cases(results: Path) -> dict[str, list[tuple[str, ...]]]:
    """The parameters of each case by benchmark, in asv's order, from the list that asv has just written."""
    known: dict[str, Any] = json.loads((results / "benchmarks.json").read_text())
    return {name: list(itertools.product(*entry["params"])) for name, entry in known.items() if name != "version"}


def _total(log: Path, cases: Mapping[str, Sequence[tuple[str, ...]]]) -> int:
    """How many cases there are to measure: asv says before how many commits and environments."""
    found = _TOTAL.search(log.read_text())
    repetitions = int(found[1]) * int(found[2]) if found else 1
    return repetitions * sum(map(len, cases.values()))


def _named(benchmark: str, params: Sequence[str]) -> str:
    return f"{benchmark}({', '.join(params)})" if params else benchmark
