"""Launches in a row, made one piece of work for the GPU: a graph, or else a burst that is queued behind other work."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch

from pcbench.kernel_timing.gpu import CaptureFailedError, Gpu, Run, timed_without_cpu
from pcbench.kernel_timing.rotation import tensors

_LEAST_S = 1e-3
"""How long a piece lasts: the clock of events ticks in half microseconds, and a graph starts within a few."""
_MOST_LAUNCHES = 2000
"""A graph of more takes long to be made, and has been seen to end the process on AMD's GPUs."""
_ESTIMATES = 3


@dataclass(frozen=True)
class Launches:
    """Launches that go through sets of inputs in turn.

    Attributes:
        run: Queues all of them.
        count: How many they are: a multiple of the number of sets.
        lead_s: How long other work has to keep the GPU busy for all of them to be queued.
        outputs: By set, what the last launch on it gave; a run fills them anew.
        not_captured: Why they are no graph, or None.
    """

    run: Run
    count: int
    lead_s: float
    outputs: list[Any]
    not_captured: str | None


def prepared(gpu: Gpu, launch: Callable[..., Any], sets: Sequence[tuple[Any, ...]]) -> Launches:
    """Launches for about a millisecond or longer; each was run on its own before, so that nothing is compiled now."""
    outputs: list[Any] = [None] * len(sets)

    def burst(count: int) -> None:
        for turn in range(count):
            place = turn % len(sets)
            outputs[place] = None  # its memory is the next one's
            outputs[place] = launch(*sets[place])

    def round_of_sets() -> None:
        burst(len(sets))

    timings = [timed_without_cpu(gpu, round_of_sets)[0] for _ in range(_ESTIMATES)]
    count = _count(min(timing.seconds for timing in timings), len(sets))

    def all_of_them() -> None:
        burst(count)

    outputs[:] = [None] * len(sets)
    run: Run = all_of_them
    not_captured = None
    try:
        run = gpu.capture(all_of_them)
    except CaptureFailedError as error:
        not_captured = error.problem
    _spoil(outputs, sets)
    _, lead_s = timed_without_cpu(gpu, run)
    return Launches(run, count, lead_s, outputs, not_captured)


def _spoil(outputs: Sequence[Any], sets: Sequence[tuple[Any, ...]]) -> None:
    """Fill outputs with NaN, and integers with their largest, so that what a run leaves unwritten shows.

    What is neither, as booleans, stays as it is, and so does an output that is an input.
    """
    kept = {tensor.untyped_storage().data_ptr() for inputs in sets for tensor in tensors(inputs)}
    for given in outputs:
        for tensor in tensors(given):
            if tensor.untyped_storage().data_ptr() in kept:
                continue
            if tensor.is_floating_point():
                tensor.fill_(float("nan"))
            elif tensor.dtype is not torch.bool and not tensor.is_complex():
                tensor.fill_(torch.iinfo(tensor.dtype).max)


def _count(round_s: float, sets: int) -> int:
    rounds = math.ceil(_LEAST_S / round_s) if round_s > 0 else _MOST_LAUNCHES
    return sets * max(1, min(rounds, _MOST_LAUNCHES // sets))
