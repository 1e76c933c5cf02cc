"""Guards on inputs: tensors, constants, containers."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch

from pcbench.guards.guarded import Guarded


def tensors(n: int) -> Guarded:
    """Tensor inputs, (1,) float32 each."""
    inputs = tuple(torch.ones(1) for _ in range(n))

    def function(*inputs: torch.Tensor) -> torch.Tensor:
        return torch.stack(inputs).sum()

    @contextmanager
    def breaking() -> Iterator[tuple[torch.Tensor, ...]]:
        yield (*inputs[:-1], torch.ones(1, dtype=torch.float64))

    return Guarded(function, inputs, breaking=breaking)
