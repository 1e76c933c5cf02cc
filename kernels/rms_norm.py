"""Root-mean-square normalisation of each row: ``x / sqrt(mean(x * x) + epsilon) * weight``.

Shapes: ``x`` is (rows, columns), ``weight`` (columns,), the answer (rows, columns); of one floating-point dtype. It is
computed in float32, and a row is held in registers from its one load to its one store.

Source: Zhang and Sennrich, "Root Mean Square Layer Normalization", 2019; one program for each row, which reads the
weights anew (from the cache, all rows but the first).
"""

from __future__ import annotations

import torch
import torch.nn.functional as F
import triton
import triton.language as tl
from pcbench_kernels import Kernel, Sizes, normal

EPSILON = 1e-6


@triton.jit
def _rms_norm(x, weight, out, stride, columns, epsilon, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    column = tl.arange(0, BLOCK)
    inside = column < columns
    values = tl.load(x + row * stride + column, mask=inside, other=0).to(tl.float32)
    weights = tl.load(weight + column, mask=inside, other=0).to(tl.float32)
    scale = tl.rsqrt(tl.sum(values * values, 0) / columns + epsilon)
    tl.store(out + row * columns + column, values * scale * weights, mask=inside)


def rms_norm(x: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
    """The rows of a matrix, each divided by its root mean square, times the weights; the answer is contiguous."""
    if x.stride(1) != 1:
        x = x.contiguous()
    weight = weight.contiguous()
    rows, columns = x.shape
    out = torch.empty((rows, columns), dtype=x.dtype, device=x.device)
    if out.numel():
        block = triton.next_power_of_2(columns)
        warps = min(max(block // 1024, 4), 32)
        _rms_norm[(rows,)](x, weight, out, x.stride(0), columns, EPSILON, BLOCK=block, num_warps=warps)
    return out


def reference(x: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
    return F.rms_norm(x, weight.shape, weight, EPSILON)


def inputs(sizes: Sizes, dtype: torch.dtype, device: str) -> tuple[torch.Tensor, torch.Tensor]:
    rows, columns = sizes["rows"], sizes["columns"]
    return normal(0, rows, columns, dtype=dtype, device=device), normal(1, columns, dtype=dtype, device=device)


def bytes_moved(sizes: Sizes, dtype: torch.dtype) -> int:
    return (2 * sizes["rows"] + 1) * sizes["columns"] * dtype.itemsize


def bytes_requested(sizes: Sizes, dtype: torch.dtype) -> int:
    return 3 * sizes["rows"] * sizes["columns"] * dtype.itemsize


KERNEL = Kernel(
    launch=rms_norm,
    reference=reference,
    inputs=inputs,
    bytes_moved=bytes_moved,
    bytes_requested=bytes_requested,
    flops=lambda sizes: 4 * sizes["rows"] * sizes["columns"],
    bound="memory",
    shapes=({"rows": 16384, "columns": 4096},),
    dtypes=(torch.bfloat16, torch.float32),
    small=(
        {"rows": 5, "columns": 1000},
        {"rows": 1, "columns": 4096},
        {"rows": 6, "columns": 1},
        {"rows": 0, "columns": 64},
    ),
    widens=True,
)
