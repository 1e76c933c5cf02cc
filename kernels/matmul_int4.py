"""``x @ weight.T`` with a weight of 4 bits an element, for the few rows of ``x`` that decoding a text has.

Shapes: ``x`` (m, k) of float16, bfloat16 or float32; ``packed`` (n, groups * 64) of uint8 and ``scales`` (groups, n) of
the dtype of ``x``, where ``groups`` is k / 128, rounded up; any strides. The product is (m, n), contiguous, of that
dtype. Along k, 128 neighbouring elements of a row of the weight form a group with one scale: an element is its four
bits, less 8, times that. Byte j of the 64 of a group holds element j in its low half and element j + 64 in its high
half. What fills up the last group counts for nothing.

Source: the blocked product. A group is one step along k: its low halves meet the first 64 columns of ``x`` and its high
halves the other 64, so that nothing has to be interleaved, and its scales are multiplied into the product of the step,
which is smaller than the weight that it was made of. With few rows the time is that of reading the weight.
"""

from __future__ import annotations

import torch
import triton
import triton.language as tl
from pcbench_kernels import Kernel, Sizes, generator, normal

GROUP = 128

CONFIGS = [
    triton.Config({"BLOCK_N": n}, num_warps=warps, num_stages=stages)
    for n, warps, stages in ((128, 4, 4), (128, 8, 4), (128, 4, 3), (64, 4, 5), (64, 4, 3), (256, 8, 3))
]


@triton.autotune(CONFIGS, key=["n", "k", "BLOCK_M"])
@triton.jit
def _matmul(
    x,
    packed,
    scales,
    out,
    m,
    n,
    k,
    x_row,
    x_column,
    packed_row,
    packed_column,
    scales_row,
    scales_column,
    GROUP: tl.constexpr,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
):
    column, row = tl.program_id(0) * BLOCK_N, tl.program_id(1) * BLOCK_M
    HALF: tl.constexpr = GROUP // 2
    rows, columns, depth = tl.arange(0, BLOCK_M), tl.arange(0, BLOCK_N), tl.arange(0, HALF)
    in_rows, in_columns = (rows < m - row)[:, None], (columns < n - column)[None, :]
    # The corner of a tile may lie beyond what 32 bits can count; within the tile they are enough.
    x_tile = x + row.to(tl.int64) * x_row + rows[:, None] * x_row + depth[None, :] * x_column
    packed_tile = packed + column.to(tl.int64) * packed_row + columns[None, :] * packed_row
    packed_tile += depth[:, None] * packed_column
    scales_tile = scales + column.to(tl.int64) * scales_column + columns[None, :] * scales_column
    out_tile = out + row.to(tl.int64) * n + column + rows[:, None] * n + columns[None, :]

    total = tl.zeros((BLOCK_M, BLOCK_N), tl.float32)
    for start in range(0, k, GROUP):
        first = tl.load(x_tile, mask=in_rows & (depth < k - start)[None, :], other=0.0)
        second = tl.load(x_tile + HALF * x_column, mask=in_rows & (depth < k - start - HALF)[None, :], other=0.0)
        both = tl.load(packed_tile, mask=in_columns, other=0)
        scale = tl.load(scales_tile, mask=in_columns, other=0.0)
        low = ((both & 15).to(tl.int8) - 8).to(x.dtype.element_ty)
        high = ((both >> 4).to(tl.int8) - 8).to(x.dtype.element_ty)
        total += tl.dot(second, high, tl.dot(first, low)) * scale
        x_tile += GROUP * x_column
        packed_tile += HALF * packed_column
        scales_tile += scales_row
    tl.store(out_tile, total.to(out.dtype.element_ty), mask=in_rows & in_columns)


def _block_m(m: int) -> int:
    """Rows of a tile: what the tensor cores take at least, and all rows in one tile up to 64."""
    return min(max(triton.next_power_of_2(m), 16), 64)


def matmul(x: torch.Tensor, packed: torch.Tensor, scales: torch.Tensor) -> torch.Tensor:
    """The product of a matrix with a packed weight."""
    (m, k), n = x.shape, packed.shape[0]
    out = torch.empty((m, n), dtype=x.dtype, device=x.device)
    rows = _block_m(m)
    if out.numel():
        _matmul[lambda tile: (triton.cdiv(n, tile["BLOCK_N"]), triton.cdiv(m, rows))](
            x,
            packed,
            scales,
            out,
            m,
            n,
            k,
            *x.stride(),
            *packed.stride(),
            *scales.stride(),
            GROUP=GROUP,
            BLOCK_M=rows,
        )
    return out


def dequantised(x: torch.Tensor, packed: torch.Tensor, scales: torch.Tensor) -> torch.Tensor:
    """The same with the weight made whole first, in the dtype of ``x``."""
    bits = packed.unflatten(1, (scales.shape[0], GROUP // 2))
    weight = (torch.cat((bits & 15, bits >> 4), dim=2).to(x.dtype) - 8) * scales.t()[:, :, None]
    return x @ weight.flatten(1)[:, : x.shape[1]].t()


def inputs(sizes: Sizes, dtype: torch.dtype, device: str) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    m, n, groups = sizes["m"], sizes["n"], triton.cdiv(sizes["k"], GROUP)
    x = normal(0, m, sizes["k"], dtype=dtype, device=device)
    packed = torch.empty((n, groups * GROUP // 2), dtype=torch.uint8, device=device)
    if device != "meta":
        packed.random_(0, 256, generator=generator(1, device))
    return x, packed, normal(2, groups, n, dtype=dtype, device=device) / GROUP


def _bytes(sizes: Sizes, dtype: torch.dtype, tiles_m: int, tiles_n: int) -> int:
    """What is read and written when ``x`` is read ``tiles_n`` times and the weight is read ``tiles_m`` times."""
    m, n, k, groups = sizes["m"], sizes["n"], sizes["k"], triton.cdiv(sizes["k"], GROUP)
    weight = n * groups * (GROUP // 2 + dtype.itemsize)
    return m * k * dtype.itemsize * tiles_n + weight * tiles_m + m * n * dtype.itemsize


def bytes_requested(sizes: Sizes, dtype: torch.dtype) -> int:
    m, n = sizes["m"], sizes["n"]
    return _bytes(sizes, dtype, triton.cdiv(m, _block_m(m)), triton.cdiv(n, CONFIGS[0].kwargs["BLOCK_N"]))


KERNEL = Kernel(
    launch=matmul,
    reference=dequantised,
    inputs=inputs,
    bytes_moved=lambda sizes, dtype: _bytes(sizes, dtype, 1, 1),
    bytes_requested=bytes_requested,
    flops=lambda sizes: 2 * sizes["m"] * sizes["n"] * sizes["k"],
    bound="memory",
    shapes=({"m": 16, "n": 28672, "k": 16384},),
    dtypes=(torch.float16, torch.bfloat16),
    small=(
        {"m": 20, "n": 150, "k": 200},
        {"m": 1, "n": 130, "k": 256},
        {"m": 70, "n": 1, "k": 130},
        {"m": 3, "n": 20, "k": 1},
        {"m": 0, "n": 20, "k": 128},
    ),
)
