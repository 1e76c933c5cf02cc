"""Guards on several inputs at once: which are one object, and how their shapes relate."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import replace

import torch

from pcbench import torch_api
from pcbench.errors import UnavailableError
from pcbench.guards.guarded import Guarded


def object_aliasing(n: int) -> Guarded:
    """Tensor inputs that are the first one again.

    In C++, a guard on both of the two, whatever this torch does by default: the other way is one guard for all, in
    Python.
    """
    x = torch.ones(1)

    def function(x: torch.Tensor, *again: torch.Tensor) -> torch.Tensor:
        return torch.stack((x, *again)).sum()

    return Guarded(
        function,
        (x,) * (n + 1),
        breaking=lambda: nullcontext((*(x,) * n, torch.ones(1))),
        config={torch_api.holder("aliasing_in_python")[1]: False},
    )


def python_shape_guards(n: int) -> Guarded:
    """Tensor inputs of one dynamic size: guards on shapes in Python.

    One guard holds the conditions of all: that the size is 2 or more, and that each other tensor's is the first one's.
    Beside it are the guards of ``tensors``.
    """
    inputs = tuple(torch.ones(3) for _ in range(n))

    def function(*inputs: torch.Tensor) -> torch.Tensor:
        return torch.cat(inputs).sum()

    return Guarded(
        function,
        inputs,
        breaking=lambda: nullcontext((*inputs[:-1], torch.ones(1))),
        config={torch_api.holder("cpp_shape_guards")[1]: False},
        dynamic=True,
    )


def cpp_shape_guards(n: int) -> Guarded:
    """Tensor inputs of one dynamic size: guards on shapes in C++, compiled for each n.

    The conditions are those of ``python_shape_guards``, in one guard that each size of a tensor is told to.

    Raises:
        UnavailableError: There is no C++ compiler.
    """
    try:
        torch_api.get("cpp_compiler")()
    except Exception as error:
        # Without a compiler torch would not fail, but check the shapes in Python.
        if type(error).__name__ not in torch_api.COMPILER_FAILURES:
            raise
        raise UnavailableError("guards on shapes in C++ need a C++ compiler", hint="install g++, or set CXX") from error
    return replace(python_shape_guards(n), config={torch_api.holder("cpp_shape_guards")[1]: True})
