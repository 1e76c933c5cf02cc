"""Clocks of a measured process: phases from its start to its first output, and calls taken in turn, pair by pair."""

from __future__ import annotations

import functools
import gc
import os
import resource
import shlex
import sys
import time
import weakref
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path

from pcbench import compilers

_BUILDING = ("import_other_s", "model_s")
"""Phases in which a model's own code runs, which may build an extension."""


class PhaseClock:
    """Wall and CPU seconds by phase, and compilers started meanwhile; what runs between phases does not count.

    Attributes:
        started: When the process started, by the monotonic clock, as the one that started it says.
        wall_s: Wall seconds by phase name.
        cpu_s: CPU seconds of all phases, of this process and of the children that it has waited for.
        compilers: Compiler processes started in a phase by this process itself (a compile worker's are not seen).
        builds: Those of them that build something, and not in the model's own imports and construction; the others only
            preprocess, or tell their version.
    """

    def __init__(self, started: float = 0.0, *, sees_compilers: bool = True) -> None:
        self.started = started
        self.wall_s: dict[str, float] = {}
        self.cpu_s = 0.0
        self.compilers = 0
        self.builds = 0
        self._phase: str | None = None
        if sees_compilers:
            _hook_once()
            _CLOCKS.add(self)

    @contextmanager
    def phase(self, name: str) -> Iterator[None]:
        self._phase = name
        cpu, wall = cpu_seconds(), time.monotonic()
        try:
            yield
        finally:
            self.wall_s[name] = time.monotonic() - wall
            self.cpu_s += cpu_seconds() - cpu
            self._phase = None

    def see(self, command: object) -> None:
        """Take note of a process that was started, if that was in a phase."""
        words = [] if self._phase is None else _words(command)
        if words and compilers.is_compiler(words[0]):
            self.compilers += 1
            self.builds += self._phase not in _BUILDING and "-o" in words and "-E" not in words


_CLOCKS: weakref.WeakSet[PhaseClock] = weakref.WeakSet()


@functools.cache
def _hook_once() -> None:
    """An audit hook stays for good, and is called for every ``id()``, too: one is enough for all clocks."""
    sys.addaudithook(_audit)


def _audit(event: str, args: tuple[object, ...]) -> None:
    if event == "subprocess.Popen":
        for clock in list(_CLOCKS):
            clock.see(args[1])


def _words(command: object) -> list[str]:
    if isinstance(command, str):
        return shlex.split(command)
    return [os.fsdecode(word) for word in command]  # type: ignore[attr-defined]  # Popen takes a string or a sequence


def cpu_seconds() -> float:
    """CPU seconds of this process and of the children that it has waited for."""
    own, children = resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN)
    return own.ru_utime + own.ru_stime + children.ru_utime + children.ru_stime


def peak_rss_bytes() -> int:
    """Peak resident memory of this process.

    On Linux ``ru_maxrss`` starts from the parent's memory after a fork and exec, so ``VmHWM`` is read instead.
    """
    status = Path("/proc/self/status")
    if status.exists():
        line = next(line for line in status.read_text().splitlines() if line.startswith("VmHWM:"))
        return int(line.split()[1]) * 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def interleaved(
    first: Callable[[], object],
    second: Callable[[], object],
    *,
    pairs: int = 25,
    block_s: float = 0.002,
    budget_s: float = 2.0,
) -> tuple[list[float], list[float]]:
    """Seconds per call of two functions, as pairs of blocks taken in turn (A B, B A, ...): see :func:`in_turn`."""
    taken = in_turn({"first": first, "second": second}, rounds=pairs, block_s=block_s, budget_s=budget_s)
    return taken["first"], taken["second"]


def in_turn(
    calls: Mapping[str, Callable[[], object]],
    *,
    rounds: int = 25,
    block_s: float = 0.002,
    budget_s: float = 2.0,
    around: Mapping[str, Callable[[], AbstractContextManager[object]]] | None = None,
) -> dict[str, list[float]]:
    """Seconds per call of each function, a block of each in every round, in this process.

    Every second round runs backwards (A B C, C B A, ...), so that what drifts meets all alike; the n-th samples of all
    belong together. A block lasts about ``block_s`` and at least one call; rounds stop, after the fifth, when
    ``budget_s`` is spent. What is ``around`` a call is entered for each block, off the clock.
    """
    around, counts, names = around or {}, {}, list(calls)
    for name, call in calls.items():
        with around.get(name, nullcontext)():
            call()
            counts[name] = _calibrate(call, block_s)
    taken: dict[str, list[float]] = {name: [] for name in calls}
    deadline = time.perf_counter() + budget_s
    collecting = gc.isenabled()
    gc.disable()
    try:
        for turn in range(rounds):
            if turn >= 5 and time.perf_counter() > deadline:
                break
            for name in names if turn % 2 == 0 else reversed(names):
                with around.get(name, nullcontext)():
                    taken[name].append(_block(calls[name], counts[name]))
    finally:
        if collecting:
            gc.enable()
    return taken


def _calibrate(call: Callable[[], object], block_s: float) -> int:
    # The least of some: an interrupted one would make every block too short.
    return max(1, round(block_s / max(min(_block(call, 3) for _ in range(3)), 1e-9)))


def _block(call: Callable[[], object], count: int) -> float:
    start = time.perf_counter()
    for _ in range(count):
        call()
    return (time.perf_counter() - start) / count
