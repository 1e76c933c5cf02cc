"""``(a * scale_a) @ (b * scale_b)`` in 8-bit floating point: a scale for each row of ``a`` and each column of ``b``.

Shapes: ``a`` (m, k) and ``b`` (k, n) of float8_e4m3fn, ``scale_a`` (m, 1) and ``scale_b`` (1, n) of float32, any
strides; the product is (m, n) in bfloat16, contiguous. The tensor cores want k contiguous in both, so that ``inputs``
gives a ``b`` that is stored by columns. Needs a GPU with this dtype: sm_89 and later; gfx942 emulates it.

Source: the blocked product, as in ``matmul``; what belongs to a whole row or column is multiplied in at the end. The
sum over k is what the tensor cores make of it: on sm_90 that is less than float32, as in torch's ``use_fast_accum``.
"""

from __future__ import annotations

import torch
import triton
import triton.language as tl
from pcbench_kernels import Kernel, Sizes, normal

CONFIGS = [
    triton.Config({"BLOCK_M": m, "BLOCK_N": n, "BLOCK_K": k, "GROUP": 8}, num_warps=warps, num_stages=stages)
    for m, n, k, warps, stages in (
        (128, 128, 128, 8, 3),
        (128, 256, 128, 8, 3),
        (256, 128, 128, 8, 3),
        (128, 256, 128, 8, 2),
        (128, 128, 64, 4, 4),
        (64, 128, 128, 4, 4),
    )
]


@triton.autotune(CONFIGS, key=["m", "n", "k"])
@triton.jit
def _matmul(
    a,
    b,
    scale_a,
    scale_b,
    out,
    m,
    n,
    k,
    a_row,
    a_column,
    b_row,
    b_column,
    scale_a_row,
    scale_b_column,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    BLOCK_K: tl.constexpr,
    GROUP: tl.constexpr,
):
    tile_m, tile_n = tl.swizzle2d(0, tl.program_id(0), tl.cdiv(m, BLOCK_M), tl.cdiv(n, BLOCK_N), GROUP)
    row, column = tile_m * BLOCK_M, tile_n * BLOCK_N
    rows, columns, depth = tl.arange(0, BLOCK_M), tl.arange(0, BLOCK_N), tl.arange(0, BLOCK_K)
    in_rows, in_columns = rows < m - row, columns < n - column
    # The corner of a tile may lie beyond what 32 bits can count; within the tile they are enough.
    a_tile = a + row.to(tl.int64) * a_row + rows[:, None] * a_row + depth[None, :] * a_column
    b_tile = b + column.to(tl.int64) * b_column + depth[:, None] * b_row + columns[None, :] * b_column
    out_tile = out + row.to(tl.int64) * n + column + rows[:, None] * n + columns[None, :]

    total = tl.zeros((BLOCK_M, BLOCK_N), tl.float32)
    for start in range(0, k, BLOCK_K):
        inside = depth < k - start
        left = tl.load(a_tile, mask=in_rows[:, None] & inside[None, :], other=0.0)
        right = tl.load(b_tile, mask=inside[:, None] & in_columns[None, :], other=0.0)
        total = tl.dot(left, right, total)
        a_tile += BLOCK_K * a_column
        b_tile += BLOCK_K * b_row

    by_row = tl.load(scale_a + (row + rows) * scale_a_row, mask=in_rows, other=0.0)
    by_column = tl.load(scale_b + (column + columns) * scale_b_column, mask=in_columns, other=0.0)
    total *= by_row[:, None] * by_column[None, :]
    tl.store(out_tile, total.to(out.dtype.element_ty), mask=in_rows[:, None] & in_columns[None, :])


def matmul(a: torch.Tensor, b: torch.Tensor, scale_a: torch.Tensor, scale_b: torch.Tensor) -> torch.Tensor:
    """The product of two scaled matrices, in bfloat16."""
    (m, k), n = a.shape, b.shape[1]
    out = torch.empty((m, n), dtype=torch.bfloat16, device=a.device)
    if out.numel():
        _matmul[lambda tile: (triton.cdiv(m, tile["BLOCK_M"]) * triton.cdiv(n, tile["BLOCK_N"]),)](
            a, b, scale_a, scale_b, out, m, n, k, *a.stride(), *b.stride(), scale_a.stride(0), scale_b.stride(1)
        )
    return out


def dequantised(a: torch.Tensor, b: torch.Tensor, scale_a: torch.Tensor, scale_b: torch.Tensor) -> torch.Tensor:
    """The same in float64, whatever the inputs are."""
    a, b, scale_a, scale_b = (tensor.to(torch.float64) for tensor in (a, b, scale_a, scale_b))
    return (a * scale_a) @ (b * scale_b)


def scaled_mm(a: torch.Tensor, b: torch.Tensor, scale_a: torch.Tensor, scale_b: torch.Tensor) -> torch.Tensor:
    """The same by torch, which wants ``a`` by rows, ``b`` by columns, extents divisible by 16 and a GPU with float8."""
    return torch._scaled_mm(a, b, scale_a, scale_b, out_dtype=torch.bfloat16, use_fast_accum=True)


def _quantised(seed: int, rows: int, k: int, dtype: torch.dtype, device: str) -> tuple[torch.Tensor, torch.Tensor]:
    """Rows that fill the range of a dtype, and what each was divided by, of shape (rows, 1)."""
    values = normal(seed, rows, k, dtype=torch.float32, device=device)
    scales = values.abs().amax(dim=1, keepdim=True) / torch.finfo(dtype).max
    return (values / scales).to(dtype), scales


def inputs(sizes: Sizes, dtype: torch.dtype, device: str) -> tuple[torch.Tensor, ...]:
    a, scale_a = _quantised(0, sizes["m"], sizes["k"], dtype, device)
    b, scale_b = _quantised(1, sizes["n"], sizes["k"], dtype, device)
    return a, b.t(), scale_a, scale_b.t()


def _bytes(sizes: Sizes, dtype: torch.dtype, tiles_m: int, tiles_n: int) -> int:
    """What is read and written when ``a`` is read ``tiles_n`` times and ``b`` is read ``tiles_m`` times."""
    m, n, k = sizes["m"], sizes["n"], sizes["k"]
    a, b = m * (k * dtype.itemsize + torch.float32.itemsize), n * (k * dtype.itemsize + torch.float32.itemsize)
    return a * tiles_n + b * tiles_m + m * n * torch.bfloat16.itemsize


def bytes_requested(sizes: Sizes, dtype: torch.dtype) -> int:
    tile = CONFIGS[0].kwargs
    return _bytes(sizes, dtype, triton.cdiv(sizes["m"], tile["BLOCK_M"]), triton.cdiv(sizes["n"], tile["BLOCK_N"]))


KERNEL = Kernel(
    launch=matmul,
    reference=dequantised,
    inputs=inputs,
    bytes_moved=lambda sizes, dtype: _bytes(sizes, dtype, 1, 1),
    bytes_requested=bytes_requested,
    flops=lambda sizes: 2 * sizes["m"] * sizes["n"] * sizes["k"],
    bound="compute",
    shapes=(
        {"m": 8192, "n": 8192, "k": 8192},
        {"m": 4096, "n": 4096, "k": 4096},
        {"m": 4000, "n": 4112, "k": 4048},
    ),
    dtypes=(torch.float8_e4m3fn,),
    small=(
        {"m": 150, "n": 130, "k": 140},
        {"m": 1, "n": 130, "k": 70},
        {"m": 150, "n": 1, "k": 70},
        {"m": 20, "n": 30, "k": 1},
        {"m": 0, "n": 30, "k": 20},
    ),
    rival=scaled_mm if hasattr(torch, "_scaled_mm") else None,
    reduced=True,
)
