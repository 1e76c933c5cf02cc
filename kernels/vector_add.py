"""``x + y``, element by element: the simplest kernel there is, and one whose time is that of the memory.

Shapes: ``x`` and ``y`` of the same shape, any dtype of floating point; the sum likewise. :func:`copy` beside it reads
one tensor and writes one: what it reaches is the roof of whatever is limited by memory.

Source: the elementwise map, one program for each block of ``BLOCK`` neighbouring elements.
"""

from __future__ import annotations

import torch
import triton
import triton.language as tl
from pcbench_kernels import Kernel, Sizes, normal

BLOCK = 1024


@triton.jit
def _add(x, y, out, elements, BLOCK: tl.constexpr):
    places = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = places < elements
    total = tl.load(x + places, mask=inside) + tl.load(y + places, mask=inside)
    tl.store(out + places, total, mask=inside)


@triton.jit
def _copy(x, out, elements, BLOCK: tl.constexpr):
    places = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = places < elements
    tl.store(out + places, tl.load(x + places, mask=inside), mask=inside)


def add(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """The sum of two tensors of one shape, contiguous."""
    x, y = x.contiguous(), y.contiguous()
    out = torch.empty_like(x)
    if out.numel():
        _add[(triton.cdiv(out.numel(), BLOCK),)](x, y, out, out.numel(), BLOCK=BLOCK)
    return out


def copy(x: torch.Tensor) -> torch.Tensor:
    """A copy of a tensor, contiguous."""
    x = x.contiguous()
    out = torch.empty_like(x)
    if out.numel():
        _copy[(triton.cdiv(out.numel(), BLOCK),)](x, out, out.numel(), BLOCK=BLOCK)
    return out


def inputs(sizes: Sizes, dtype: torch.dtype, device: str) -> tuple[torch.Tensor, torch.Tensor]:
    x, y = (normal(seed, sizes["elements"], dtype=dtype, device=device) for seed in (0, 1))
    return x, y


def bytes_moved(sizes: Sizes, dtype: torch.dtype) -> int:
    return 3 * sizes["elements"] * dtype.itemsize


KERNEL = Kernel(
    launch=add,
    reference=torch.add,
    inputs=inputs,
    bytes_moved=bytes_moved,
    bytes_requested=bytes_moved,
    flops=lambda sizes: sizes["elements"],
    bound="memory",
    shapes=({"elements": 67_108_864},),
    dtypes=(torch.float32, torch.float16),
    small=({"elements": 3000}, {"elements": 1}, {"elements": 0}),
)
