"""``a @ b`` on the tensor cores, accumulated in float32.

Shapes: ``a`` (m, k) and ``b`` (k, n) of one dtype, any strides; the product is (m, n), contiguous, of that dtype. Made
for float16 and bfloat16; in float32 a GPU multiplies as it does by default, which is TF32 on NVIDIA's.

Source: the blocked product. Each program makes one tile, adding up products of tiles along k. Programs that start
together take tiles from the same ``GROUP`` rows of tiles, so that they find each other's operands in the L2 cache.
"""

from __future__ import annotations

import torch
import triton
import triton.language as tl
from pcbench_kernels import Kernel, Sizes, normal

CONFIGS = [
    triton.Config({"BLOCK_M": m, "BLOCK_N": n, "BLOCK_K": k, "GROUP": 8}, num_warps=warps, num_stages=stages)
    for m, n, k, warps, stages in (
        (128, 128, 64, 8, 3),
        (128, 256, 64, 8, 3),
        (256, 128, 64, 8, 3),
        (128, 256, 64, 8, 2),
        (128, 128, 32, 4, 4),
        (64, 128, 64, 4, 4),
    )
]


@triton.autotune(CONFIGS, key=["m", "n", "k"])
@triton.jit
def _matmul(
    a,
    b,
    out,
    m,
    n,
    k,
    a_row,
    a_column,
    b_row,
    b_column,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    BLOCK_K: tl.constexpr,
    GROUP: tl.constexpr,
):
    tile_m, tile_n = tl.swizzle2d(0, tl.program_id(0), tl.cdiv(m, BLOCK_M), tl.cdiv(n, BLOCK_N), GROUP)
    row, column = tile_m * BLOCK_M, tile_n * BLOCK_N
    rows, columns, depth = tl.arange(0, BLOCK_M), tl.arange(0, BLOCK_N), tl.arange(0, BLOCK_K)
    in_rows, in_columns = (rows < m - row)[:, None], (columns < n - column)[None, :]
    # The corner of a tile may lie beyond what 32 bits can count; within the tile they are enough.
    a_tile = a + row.to(tl.int64) * a_row + rows[:, None] * a_row + depth[None, :] * a_column
    b_tile = b + column.to(tl.int64) * b_column + depth[:, None] * b_row + columns[None, :] * b_column
    out_tile = out + row.to(tl.int64) * n + column + rows[:, None] * n + columns[None, :]

    total = tl.zeros((BLOCK_M, BLOCK_N), tl.float32)
    for start in range(0, k, BLOCK_K):
        inside = depth < k - start
        left = tl.load(a_tile, mask=in_rows & inside[None, :], other=0.0)
        right = tl.load(b_tile, mask=inside[:, None] & in_columns, other=0.0)
        total = tl.dot(left, right, total)
        a_tile += BLOCK_K * a_column
        b_tile += BLOCK_K * b_row
    tl.store(out_tile, total.to(out.dtype.element_ty), mask=in_rows & in_columns)


def matmul(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """The product of two matrices of one dtype."""
    (m, k), n = a.shape, b.shape[1]
    out = torch.empty((m, n), dtype=a.dtype, device=a.device)
    if out.numel():
        _matmul[lambda tile: (triton.cdiv(m, tile["BLOCK_M"]) * triton.cdiv(n, tile["BLOCK_N"]),)](
            a, b, out, m, n, k, *a.stride(), *b.stride()
        )
    return out


def inputs(sizes: Sizes, dtype: torch.dtype, device: str) -> tuple[torch.Tensor, torch.Tensor]:
    a = normal(0, sizes["m"], sizes["k"], dtype=dtype, device=device)
    b = normal(1, sizes["k"], sizes["n"], dtype=dtype, device=device)
    return a, b


def bytes_moved(sizes: Sizes, dtype: torch.dtype) -> int:
    m, n, k = sizes["m"], sizes["n"], sizes["k"]
    return (m * k + k * n + m * n) * dtype.itemsize


def bytes_requested(sizes: Sizes, dtype: torch.dtype) -> int:
    """``a`` once for each column of tiles, ``b`` once for each row of them."""
    m, n, k = sizes["m"], sizes["n"], sizes["k"]
    tiles_m, tiles_n = triton.cdiv(m, CONFIGS[0].kwargs["BLOCK_M"]), triton.cdiv(n, CONFIGS[0].kwargs["BLOCK_N"])
    return (m * k * tiles_n + k * n * tiles_m + m * n) * dtype.itemsize


KERNEL = Kernel(
    launch=matmul,
    reference=torch.matmul,
    inputs=inputs,
    bytes_moved=bytes_moved,
    bytes_requested=bytes_requested,
    flops=lambda sizes: 2 * sizes["m"] * sizes["n"] * sizes["k"],
    bound="compute",
    shapes=(
        {"m": 8192, "n": 8192, "k": 8192},
        {"m": 4096, "n": 4096, "k": 4096},
        {"m": 4000, "n": 4112, "k": 4048},
    ),
    dtypes=(torch.float16, torch.bfloat16),
    small=(
        {"m": 150, "n": 130, "k": 70},
        {"m": 1, "n": 130, "k": 70},
        {"m": 150, "n": 1, "k": 70},
        {"m": 20, "n": 30, "k": 1},
        {"m": 20, "n": 30, "k": 0},
        {"m": 0, "n": 30, "k": 20},
    ),
)
