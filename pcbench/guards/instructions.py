"""Instructions per guard check: a count, which does not care what else the machine does."""

from __future__ import annotations

import functools
import gc
import json
import os
import sys
import traceback
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from itertools import pairwise, repeat
from pathlib import Path
from typing import Any, NoReturn

import torch

from pcbench import callgrind, hardware_counter, timing, torch_api
from pcbench.callgrind import Count
from pcbench.errors import PcbenchError, UnavailableError
from pcbench.guards import subjects
from pcbench.guards.guarded import guarded
from pcbench.guards.request import Emit, Request
from pcbench.guards.subjects import Subject

_LENGTHS = (25, 50, 75), (250, 500, 750)
"""How many calls are counted; the longer where the shorter are uneven, as Python called by a guard may be."""

_UNCOUNTED = 2  # rounds that warm up the way to the calls
_UNEVEN = 0.01
_WARM = 4_200
"""Calls before the first count: CPython specialises a bytecode anew after at most 4,095 executions that it spoilt."""
_FILLERS = 5_000, 6_000, 7_000
"""Tensors made before each compilation of a target: with them, where in memory things come to lie."""

Counting = Callable[[], AbstractContextManager[Count]]
Run = Callable[[int], object]
"""Does what is counted so many times, with as little as possible around it."""


def guard_instructions(request: Request, clock: timing.PhaseClock, emit: Emit) -> None:  # noqa: ARG001  # one signature for all requests
    """Emit the instructions of each target as soon as they are counted, or why they are not."""
    counting = _counting()
    torch_api.get("dynamo")  # imported once, for all copies of this process
    for target, size in request.targets:
        named = {"target": target, "size": size}
        emit({"stage": f"counting {target}", "counting": named})
        try:
            counts = [
                apart(functools.partial(_per_check, target, size, Path(request.cwd), counting, fillers))
                for fillers in _FILLERS
            ]
        except PcbenchError as error:
            lacking = isinstance(error, UnavailableError)
            emit({"uncounted": named | {"unavailable": lacking, "reason": error.problem}})
            continue
        emit({"instructions": named | {"per_check": counts}})


def _counting() -> Counting:
    """The way in which this process can count: that of callgrind where it runs under it, else the CPU's."""
    folder = os.environ.get(callgrind.FOLDER)
    if folder is not None:
        return functools.partial(callgrind.counting, Path(folder))
    hardware_counter.require()
    return lambda: nullcontext(hardware_counter.count)


def apart(work: Callable[[], float]) -> float:
    """What the work gives in a copy of this process, which ends with it.

    Each copy starts from the same memory, globals and counters, whatever was counted before it.

    Raises:
        PcbenchError: The work did, or its process died.
    """
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        _answer(work, writer)
    os.close(writer)
    with os.fdopen(reader) as answers:
        said = answers.read()
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if code != 0:
        how = f"was killed by signal {-code}" if code < 0 else "raised: its traceback is in what it printed"
        raise PcbenchError(f"the process that counted it {how}")
    answer: dict[str, Any] = json.loads(said)
    if "problem" in answer:
        raise (UnavailableError if answer["unavailable"] else PcbenchError)(answer["problem"])
    return float(answer["value"])


def _answer(work: Callable[[], float], writer: int) -> NoReturn:
    code = 1
    try:
        try:
            answer: dict[str, Any] = {"value": work()}
        except PcbenchError as error:
            answer = {"problem": error.problem, "unavailable": isinstance(error, UnavailableError)}
        os.write(writer, json.dumps(answer).encode())
        code = 0
    except Exception:  # as at the top of any process: a stranger's code may raise anything
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def _per_check(target: str, size: int, cwd: Path, counting: Counting, fillers: int) -> float:
    with _settled(fillers), subjects.compiled(guarded(target, size, cwd)) as subject, _uncollected():
        return per_call(functools.partial(_check, subject), counting)


def _check(subject: Subject, times: int) -> None:
    for frame in subject.frames:
        deque(map(frame.manager.root.check, repeat(frame.f_locals, times)), maxlen=0)


def per_call(run: Run, counting: Counting) -> float:
    """Instructions per call: what more calls count more, so that the way to them is left out.

    Raises:
        PcbenchError: They do not grow in step with the calls.
    """
    run(_WARM)
    with counting() as count:
        for lengths in _LENGTHS:
            for _ in range(_UNCOUNTED):
                _slopes(run, count, lengths)
            slopes = _slopes(run, count, lengths)
            if 0 < max(slopes) <= (1 + _UNEVEN) * min(slopes):
                return sum(slopes) / len(slopes)
    told = " and ".join(f"{slope:.6g}" for slope in slopes)
    raise PcbenchError(f"its instructions do not grow in step with its calls: {told} per call")


def _slopes(run: Run, count: Count, lengths: Sequence[int]) -> list[float]:
    counts = [(length, count(functools.partial(run, length))) for length in lengths]
    return [(more - less) / (longer - shorter) for (shorter, less), (longer, more) in pairwise(counts)]


@contextmanager
def _settled(fillers: int) -> Iterator[None]:
    """Let what is allocated inside lie side by side.

    Guards against tensors that alias each other keep their addresses in a hash table: how often they collide there, and
    with it the number of instructions, else depends on the gaps that everything before has left in memory.
    """
    gc.collect()
    made = [torch.empty(0) for _ in range(fillers)]
    yield
    made.clear()


@contextmanager
def _uncollected() -> Iterator[None]:
    collecting = gc.isenabled()
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        if collecting:
            gc.enable()
