"""The request for the GPU's name: the quickest way to know that there is none."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch

from pcbench import timing
from pcbench.kernel_timing import torch_gpu


@dataclass(frozen=True)
class Request:
    """What a measured process was asked for; its target is of no account."""

    target: str
    threads: int
    cwd: str


def find_gpu(request: Request, clock: timing.PhaseClock, emit: Callable[[dict[str, Any]], None]) -> None:  # noqa: ARG001  # one signature for all requests
    """Emit the name of the GPU that torch uses.

    Raises:
        UnavailableError: It can use none, for this reason.
    """
    emit({"stage": "look for a GPU"})
    torch_gpu.require()
    emit({"gpu": torch.cuda.get_device_name()})
