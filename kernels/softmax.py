"""The softmax of each row of a matrix.

Shapes: ``x`` is (rows, columns) of any floating-point dtype, the answer likewise; computed in float32. A row is held in
registers from its one load to its one store, so that the time is the memory's up to 65,536 columns or so.

Source: the usual formula that subtracts the largest element first, so that no exponential overflows; one program for
each row.
"""

from __future__ import annotations

import torch
import triton
import triton.language as tl
from pcbench_kernels import Kernel, Sizes, normal


@triton.jit
def _softmax(x, out, stride, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    column = tl.arange(0, BLOCK)
    inside = column < columns
    values = tl.load(x + row * stride + column, mask=inside, other=float("-inf")).to(tl.float32)
    powers = tl.exp(values - tl.max(values, 0))
    tl.store(out + row * columns + column, powers / tl.sum(powers, 0), mask=inside)


def softmax(x: torch.Tensor) -> torch.Tensor:
    """The softmax along the rows of a matrix; the answer is contiguous."""
    if x.stride(1) != 1:
        x = x.contiguous()
    rows, columns = x.shape
    out = torch.empty((rows, columns), dtype=x.dtype, device=x.device)
    if out.numel():
        block = triton.next_power_of_2(columns)
        warps = min(max(block // 1024, 4), 32)
        _softmax[(rows,)](x, out, x.stride(0), columns, BLOCK=block, num_warps=warps)
    return out


def inputs(sizes: Sizes, dtype: torch.dtype, device: str) -> tuple[torch.Tensor]:
    return (normal(0, sizes["rows"], sizes["columns"], dtype=dtype, device=device),)


def bytes_moved(sizes: Sizes, dtype: torch.dtype) -> int:
    return 2 * sizes["rows"] * sizes["columns"] * dtype.itemsize


KERNEL = Kernel(
    launch=softmax,
    reference=lambda x: torch.softmax(x, 1),
    inputs=inputs,
    bytes_moved=bytes_moved,
    bytes_requested=bytes_moved,
    flops=lambda sizes: 5 * sizes["rows"] * sizes["columns"],
    bound="memory",
    shapes=({"rows": 16384, "columns": 4096},),
    dtypes=(torch.float16, torch.float32),
    small=(
        {"rows": 5, "columns": 1000},
        {"rows": 1, "columns": 4096},
        {"rows": 6, "columns": 1},
        {"rows": 0, "columns": 64},
    ),
    widens=True,
)
