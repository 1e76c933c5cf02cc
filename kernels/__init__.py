"""Triton kernels, one file each. Installed as ``pcbench_kernels``: an unrelated distribution is called ``kernels``.

A file ends in ``KERNEL = Kernel(...)``, and its name is the kernel's. It imports torch and triton, and nothing of
pcbench: it can be copied out. What launches a kernel takes tensors on any device.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, Literal

import torch

Sizes = Mapping[str, int]
"""Extents by name, such as ``{"rows": 4096, "columns": 1024}``; a switch is 0 or 1."""


@dataclass(frozen=True)
class Kernel:
    """A Triton kernel beside its reference, with what it has to move and to compute.

    Attributes:
        launch: Runs the kernel on the inputs, on their device, whatever their strides; gives a tensor or a tuple.
        reference: The same from the same inputs by torch. Of float64 inputs it is the answer that ``launch`` is checked
            against; in the kernel's own precision it is what runs beside it, unless there is ``rival``.
        inputs: Of sizes, a dtype and a device: the arguments of ``launch``, random and the same in every process.
        bytes_moved: Of sizes and a dtype: bytes that must be read or written at least once. What is read twice, from
            a cache or not, counts once.
        bytes_requested: Likewise, bytes that the programs ask for in all, with the first configuration.
        flops: Of sizes: floating-point operations; a multiplication and an addition are two.
        bound: What limits it on a GPU: ``memory``, or ``compute`` where that is the tensor cores.
        shapes: The sizes that it is tracked at, written out in the call of ``Kernel`` as literal numbers: what lists
            all launches reads them from the source. None of an extent 1, which Triton would compile in as a constant.
        dtypes: The dtypes that it is tracked in, likewise written out as ``torch.float16``.
        small: Sizes for a check in the interpreter, which takes milliseconds for each program: ragged, one row, one
            column, and empty where the kernel has an answer to that.
        rival: torch's own kernel for the same, where that is not the reference.
        widens: It computes in float32 right after loading, so that Triton's interpreter is right in bfloat16 as well.
        reduced: Its inputs are of no floating-point dtype that float64 could stand for, so that ``reference`` is given
            the inputs as they are, and answers in float64.
    """

    launch: Callable[..., Any]
    reference: Callable[..., Any]
    inputs: Callable[[Sizes, torch.dtype, str], tuple[Any, ...]]
    bytes_moved: Callable[[Sizes, torch.dtype], int]
    bytes_requested: Callable[[Sizes, torch.dtype], int]
    flops: Callable[[Sizes], int]
    bound: Literal["memory", "compute"]
    shapes: tuple[Sizes, ...]
    dtypes: tuple[torch.dtype, ...]
    small: tuple[Sizes, ...]
    rival: Callable[..., Any] | None = None
    widens: bool = False
    reduced: bool = False


_INPUT_SET = ContextVar("_INPUT_SET", default=0)


@contextmanager
def input_set(number: int) -> Iterator[None]:
    """Within it :func:`generator` is that set's own, the same in every process; elsewhere it is that of set 0."""
    before = _INPUT_SET.set(number)
    try:
        yield
    finally:
        _INPUT_SET.reset(before)


def generator(seed: int, device: str) -> torch.Generator:
    """What random inputs are drawn from: of a seed, another one for each input, and of the set of inputs."""
    return torch.Generator(device).manual_seed(seed + 7919 * _INPUT_SET.get())


def normal(seed: int, *shape: int, dtype: torch.dtype, device: str) -> torch.Tensor:
    """Normally distributed numbers from :func:`generator`; on the device ``meta`` there are no numbers at all."""
    if device == "meta":
        return torch.empty(shape, dtype=dtype, device=device)
    return torch.randn(shape, dtype=dtype, device=device, generator=generator(seed, device))
