"""The sum of each row of a matrix: one read and next to no arithmetic, so that it shows early when loading got slower.

Shapes: ``x`` is (rows, columns) of any floating-point dtype; the answer is (rows,) of that dtype, summed in float32.

Source: one program for each row, which adds up ``BLOCK`` columns after another lane by lane and the lanes at the end. A
matrix of few and long rows leaves most of a GPU idle.
"""

from __future__ import annotations

import torch
import triton
import triton.language as tl
from pcbench_kernels import Kernel, Sizes, normal

LONGEST_BLOCK = 4096


@triton.jit
def _row_sum(x, out, stride, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    x += row * stride
    lanes = tl.zeros([BLOCK], tl.float32)
    for start in range(0, columns, BLOCK):
        column = start + tl.arange(0, BLOCK)
        lanes += tl.load(x + column, mask=column < columns, other=0).to(tl.float32)
    tl.store(out + row, tl.sum(lanes, 0))


def row_sum(x: torch.Tensor) -> torch.Tensor:
    """The sum of each row of a matrix."""
    if x.stride(1) != 1:
        x = x.contiguous()
    rows, columns = x.shape
    out = torch.empty(rows, dtype=x.dtype, device=x.device)
    if out.numel():
        block = min(triton.next_power_of_2(max(columns, 1)), LONGEST_BLOCK)
        _row_sum[(rows,)](x, out, x.stride(0), columns, BLOCK=block, num_warps=4)
    return out


def inputs(sizes: Sizes, dtype: torch.dtype, device: str) -> tuple[torch.Tensor]:
    return (normal(0, sizes["rows"], sizes["columns"], dtype=dtype, device=device),)


def bytes_moved(sizes: Sizes, dtype: torch.dtype) -> int:
    return sizes["rows"] * (sizes["columns"] + 1) * dtype.itemsize


KERNEL = Kernel(
    launch=row_sum,
    reference=lambda x: torch.sum(x, 1),
    inputs=inputs,
    bytes_moved=bytes_moved,
    bytes_requested=bytes_moved,
    flops=lambda sizes: sizes["rows"] * sizes["columns"],
    bound="memory",
    shapes=({"rows": 16384, "columns": 8192},),
    dtypes=(torch.float16, torch.float32),
    small=(
        {"rows": 5, "columns": 1000},
        {"rows": 3, "columns": 10_000},
        {"rows": 1, "columns": 4096},
        {"rows": 6, "columns": 1},
        {"rows": 0, "columns": 64},
        {"rows": 4, "columns": 0},
    ),
    widens=True,
)
