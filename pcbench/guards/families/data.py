"""Guards on inputs: tensors and constants."""

from __future__ import annotations

from contextlib import nullcontext

import torch

from pcbench.guards.guarded import Guarded


def tensors(n: int) -> Guarded:
    """Tensor inputs, (1,) float32 each.

    A tensor adds three guards: on its metadata, on marks of dynamic dims, and, told to all, that no two are one.
    """
    inputs = tuple(torch.ones(1) for _ in range(n))
    return Guarded(_sum, inputs, breaking=lambda: nullcontext((*inputs[:-1], torch.ones(1, dtype=torch.float64))))


def requires_grad(n: int) -> Guarded:
    """Tensor inputs that require gradients, called with gradients enabled.

    Their guards are those of ``tensors``: whether a tensor requires gradients is part of the one on its metadata. Grad
    mode, autocast, threads and the like are one guard, whatever n.
    """
    inputs = tuple(torch.ones(1, requires_grad=True) for _ in range(n))
    return Guarded(_sum, inputs, grad=True, breaking=lambda: nullcontext((*inputs[:-1], torch.ones(1))))


def constants(n: int) -> Guarded:
    """Arguments that are constants: ints, floats, strings and bools in turn.

    Each is compared with the value that it had. One that the function does not use has no guard.
    """
    x = torch.ones(1)
    values = tuple((index + 1000, index + 0.5, f"{index}", True)[index % 4] for index in range(n))

    def function(x: torch.Tensor, *constants: int | float | str | bool) -> torch.Tensor:
        return x + sum([bool(constant) for constant in constants])

    other = False if values[-1] is True else type(values[-1])(n + 2000)
    return Guarded(function, (x, *values), breaking=lambda: nullcontext((x, *values[:-1], other)))


def _sum(*inputs: torch.Tensor) -> torch.Tensor:
    return torch.stack(inputs).sum()
