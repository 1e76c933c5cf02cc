"""What guards cost: a check, a call with and without them, a hit further down the cache, a loaded function's own."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import asdict
from functools import partial
from pathlib import Path

import torch

from pcbench import timing, torch_api
from pcbench.errors import UnavailableError
from pcbench.guard_samples import (
    BINDING,
    CHECK,
    COLD_CHECK,
    DIRECT,
    HIT,
    LOADED_CALL,
    LOADED_CHECK,
    LOADED_UNCHECKED,
    SKIPPED,
    Cost,
    hit_at,
)
from pcbench.guards import entries, loaded, subjects
from pcbench.guards.guarded import guarded
from pcbench.guards.request import BUILDING, Emit, Request
from pcbench.guards.subjects import Subject
from pcbench.strategies import one_line

_ENTRIES = 8
_PLACES = (1, 2, 4, 8)
_COLD_CHECKS = 25
_ROUNDS = 25
_BUDGET_S = 5.0


def guard_cost(request: Request, clock: timing.PhaseClock, emit: Emit) -> None:  # noqa: ARG001  # one signature for all requests
    """Emit the seconds that each measure takes, in turn."""
    emit({"stage": BUILDING})
    target = guarded(request.target, request.size, Path(request.cwd))
    emit({"stage": "compiling"})
    with subjects.compiled(target) as subject:
        emit({"stage": "timing"})
        emit({"cost": asdict(cost(subject))})


def cost(subject: Subject) -> Cost:
    """Seconds per call of each measure that this subject and this torch allow.

    Raises:
        PcbenchError: What was compiled beside it made its guards refuse its call.
    """
    calls: dict[str, Callable[[], object]] = {CHECK: subject.checking(), HIT: subject.call}
    around: dict[str, Callable[[], AbstractContextManager[object]]] = {}
    unavailable: dict[str, str] = {}
    if len(subject.frames) == 1:
        calls[DIRECT] = subject.frames[0].direct()
    else:
        unavailable[DIRECT] = f"a call runs {len(subject.frames)} compiled frames: the graph breaks"
    skipping = partial(torch.compiler.set_stance, skip_guard_eval_unsafe=True)
    try:
        with skipping():
            subject.call()
    except RuntimeError as error:  # torch would compile again, which the stance forbids
        unavailable[SKIPPED] = one_line(error)
    else:
        calls[SKIPPED], around[SKIPPED] = subject.call, skipping
    try:
        calls |= loaded.calls(subject.guarded)
    except UnavailableError as error:
        unavailable |= dict.fromkeys((BINDING, LOADED_CHECK, LOADED_CALL, LOADED_UNCHECKED), error.problem)
    for place, call in entries.hits(subject.guarded, subject.backend, _ENTRIES, _PLACES).items():
        calls[hit_at(place, _ENTRIES)] = call
    samples = timing.in_turn(calls, rounds=_ROUNDS, budget_s=_BUDGET_S, around=around)
    subject.require_valid()
    samples[COLD_CHECK] = [_cold_check_s(subject) for _ in range(_COLD_CHECKS)]
    return Cost({name: tuple(taken) for name, taken in samples.items()}, unavailable)


def _cold_check_s(subject: Subject) -> float:
    """Torch's own number: seconds of one check after the CPU's caches were flushed, of all frames."""
    profile = torch_api.get("guard_profile")
    return 1e-6 * sum(float(profile(frame.manager.root, frame.f_locals, 1)) for frame in subject.frames)
