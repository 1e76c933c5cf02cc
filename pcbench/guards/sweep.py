"""A guard family over sizes: the slope of its time over its size does not care what else the machine does."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import asdict
from pathlib import Path

import torch

from pcbench import guard_families, timing
from pcbench.guard_samples import Sweep
from pcbench.guards import subjects
from pcbench.guards.census import census
from pcbench.guards.guarded import guarded
from pcbench.guards.request import Emit, Request
from pcbench.guards.subjects import Subject


def guard_sweep(request: Request, clock: timing.PhaseClock, emit: Emit) -> None:  # noqa: ARG001  # one signature for all requests
    """Emit the family's sweep over the request's sizes.

    Raises:
        UsageError: There is no such family.
    """
    guard_families.family(request.target)
    made: dict[int, Subject] = {}
    torch.compiler.reset()  # not between sizes: it takes globals away at which the guards made before look
    with ExitStack() as stack:
        for size in request.sizes:
            emit({"stage": f"compiling {request.target} of size {size}"})
            made[size] = stack.enter_context(subjects.compiled(guarded(request.target, size, Path(request.cwd))))
        emit({"stage": "timing"})
        emit({"sweep": asdict(sweep(request.target, made))})


def sweep(family: str, made: dict[int, Subject]) -> Sweep:
    """Checks of all sizes, taken in turn.

    Raises:
        PcbenchError: One of them refuses its call.
    """
    taken = timing.in_turn({str(size): subject.checking() for size, subject in made.items()}, rounds=15)
    for subject in made.values():
        subject.require_valid()
    guards = {size: census(subject).counts["guards"] for size, subject in made.items()}
    return Sweep(family, guards, {size: tuple(taken[str(size)]) for size in made})
