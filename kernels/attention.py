"""``softmax(q @ k.T / sqrt(head)) @ v`` without the matrix of scores in memory, and the logarithm of each row's sum.

Shapes: ``q``, ``k`` and ``v`` (batch, heads, length, head) of one dtype, any strides, ``head`` a power of two from 16;
where ``causal``, a row sees the columns up to its own. ``out`` has the same shape and dtype, contiguous; ``lse`` is
(batch, heads, length) in float32, the natural logarithm of the sum of ``exp(score)`` along a row. Made for float16 and
bfloat16; in float32 a GPU multiplies as it does by default, which is TF32 on NVIDIA's.

Source: flash attention (Dao, "FlashAttention-2: Faster Attention with Better Parallelism and Work Partitioning", 2023),
the forward part. Each program takes ``BLOCK_M`` rows of ``q`` and walks along the keys, with the softmax kept as a
running peak and sum (Milakov and Gimelshein, "Online normalizer calculation for softmax", 2018) in powers of two. Only
the blocks that hold what a row must not see are masked.
"""

from __future__ import annotations

import math

import torch
import triton
import triton.language as tl
from pcbench_kernels import Kernel, Sizes, normal

CONFIGS = [
    triton.Config({"BLOCK_M": m, "BLOCK_N": n}, num_warps=warps, num_stages=stages)
    for m, n, warps, stages in (
        (128, 64, 8, 2),
        (128, 64, 8, 3),
        (128, 128, 8, 2),
        (128, 64, 4, 3),
        (128, 32, 4, 2),
        (64, 64, 4, 3),
    )
]


@triton.jit
def _fold(
    out, total, peak, q, k_tile, v_tile, rows, columns, length, scale, MASKED: tl.constexpr, CAUSAL: tl.constexpr
):
    """The running output, sum and peak of some rows, with the keys and values of one block of columns folded in."""
    if MASKED:
        inside = columns < length
        keys = tl.load(k_tile, mask=inside[None, :], other=0.0)
        values = tl.load(v_tile, mask=inside[:, None], other=0.0)
    else:
        keys = tl.load(k_tile)
        values = tl.load(v_tile)
    scores = tl.dot(q, keys)
    if MASKED and CAUSAL:
        scores = tl.where(columns[None, :] <= rows[:, None], scores, float("-inf"))
    elif MASKED:
        scores = tl.where(columns[None, :] < length, scores, float("-inf"))
    higher = tl.maximum(peak, tl.max(scores, 1) * scale)
    weights = tl.exp2(scores * scale - higher[:, None])
    fade = tl.exp2(peak - higher)
    out = tl.dot(weights.to(values.dtype), values, out * fade[:, None])
    return out, total * fade + tl.sum(weights, 1), higher


@triton.autotune(CONFIGS, key=["length", "HEAD", "CAUSAL"])
@triton.jit
def _attention(
    q,
    k,
    v,
    out,
    lse,
    heads,
    length,
    scale,
    q_batch,
    q_head,
    q_row,
    q_column,
    k_batch,
    k_head,
    k_row,
    k_column,
    v_batch,
    v_head,
    v_row,
    v_column,
    HEAD: tl.constexpr,
    CAUSAL: tl.constexpr,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
):
    blocks = tl.cdiv(length, BLOCK_M)
    sequence = (tl.program_id(0) // blocks).to(tl.int64)
    batch, head = sequence // heads, sequence % heads
    # The last rows first: where causal, they have the longest way.
    first = (blocks - 1 - tl.program_id(0) % blocks) * BLOCK_M
    rows, columns, places = first + tl.arange(0, BLOCK_M), tl.arange(0, BLOCK_N), tl.arange(0, HEAD)
    in_rows = rows < length
    q_tile = q + batch * q_batch + head * q_head + rows[:, None].to(tl.int64) * q_row + places[None, :] * q_column
    k_tile = k + batch * k_batch + head * k_head + places[:, None] * k_column + columns[None, :] * k_row
    v_tile = v + batch * v_batch + head * v_head + columns[:, None] * v_row + places[None, :] * v_column

    queries = tl.load(q_tile, mask=in_rows[:, None], other=0.0)
    output = tl.zeros((BLOCK_M, HEAD), tl.float32)
    total = tl.zeros((BLOCK_M,), tl.float32)
    peak = tl.full((BLOCK_M,), float("-inf"), tl.float32)
    seen_by_all = (first if CAUSAL else length) // BLOCK_N * BLOCK_N
    seen_by_any = tl.minimum(first + BLOCK_M, length) if CAUSAL else length
    for start in range(0, seen_by_all, BLOCK_N):
        output, total, peak = _fold(
            output, total, peak, queries, k_tile, v_tile, rows, start + columns, length, scale, False, CAUSAL
        )
        k_tile += BLOCK_N * k_row
        v_tile += BLOCK_N * v_row
    for start in range(seen_by_all, seen_by_any, BLOCK_N):
        output, total, peak = _fold(
            output, total, peak, queries, k_tile, v_tile, rows, start + columns, length, scale, True, CAUSAL
        )
        k_tile += BLOCK_N * k_row
        v_tile += BLOCK_N * v_row

    output /= total[:, None]
    out_tile = out + (sequence * length + rows[:, None]) * HEAD + places[None, :]
    tl.store(out_tile, output.to(out.dtype.element_ty), mask=in_rows[:, None])
    natural = (peak + tl.log2(total)) * 0.6931471805599453
    tl.store(lse + sequence * length + rows, natural, mask=in_rows)


def attention(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, causal: bool) -> tuple[torch.Tensor, torch.Tensor]:
    """The output and the log-sum-exp of each row."""
    batch, heads, length, head = q.shape
    out = torch.empty(q.shape, dtype=q.dtype, device=q.device)
    lse = torch.empty((batch, heads, length), dtype=torch.float32, device=q.device)
    if out.numel():
        _attention[lambda tile: (triton.cdiv(length, tile["BLOCK_M"]) * batch * heads,)](
            q,
            k,
            v,
            out,
            lse,
            heads,
            length,
            1 / math.sqrt(head) / math.log(2),
            *q.stride(),
            *k.stride(),
            *v.stride(),
            HEAD=head,
            CAUSAL=causal,
        )
    return out, lse


def whole(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, causal: bool) -> tuple[torch.Tensor, torch.Tensor]:
    """The same from the whole matrix of scores."""
    scores = q @ k.mT / math.sqrt(q.shape[-1])
    if causal:
        scores.masked_fill_(torch.ones(scores.shape[-2:], dtype=torch.bool, device=q.device).triu(1), -math.inf)
    lse = scores.logsumexp(-1)
    return scores.sub_(lse[..., None]).exp_() @ v, lse


def inputs(sizes: Sizes, dtype: torch.dtype, device: str) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, bool]:
    shape = sizes["batch"], sizes["heads"], sizes["length"], sizes["head"]
    q, k, v = (normal(seed, *shape, dtype=dtype, device=device) for seed in range(3))
    return q, k, v, bool(sizes["causal"])


def _bytes(sizes: Sizes, dtype: torch.dtype, keys: int) -> int:
    """What is read and written when so many rows of ``k``, and of ``v``, are read for each head."""
    rows = 2 * sizes["length"] + 2 * keys
    each_head = rows * sizes["head"] * dtype.itemsize + sizes["length"] * torch.float32.itemsize
    return sizes["batch"] * sizes["heads"] * each_head


def bytes_requested(sizes: Sizes, dtype: torch.dtype) -> int:
    """Each block of rows reads all keys; where causal, those up to its own last row."""
    length, block = sizes["length"], CONFIGS[0].kwargs["BLOCK_M"]
    ends = range(block, length + block, block)
    return _bytes(sizes, dtype, sum(min(end, length) if sizes["causal"] else length for end in ends))


def flops(sizes: Sizes) -> int:
    """Of the two products, for what is seen."""
    length = sizes["length"]
    pairs = length * (length + 1) // 2 if sizes["causal"] else length * length
    return 4 * sizes["batch"] * sizes["heads"] * pairs * sizes["head"]


KERNEL = Kernel(
    launch=attention,
    reference=whole,
    inputs=inputs,
    bytes_moved=lambda sizes, dtype: _bytes(sizes, dtype, sizes["length"]),
    bytes_requested=bytes_requested,
    flops=flops,
    bound="compute",
    shapes=(
        {"batch": 4, "heads": 16, "length": 4096, "head": 128, "causal": 1},
        {"batch": 4, "heads": 16, "length": 4096, "head": 128, "causal": 0},
        {"batch": 4, "heads": 32, "length": 4096, "head": 64, "causal": 1},
    ),
    dtypes=(torch.float16, torch.bfloat16),
    small=(
        {"batch": 1, "heads": 2, "length": 150, "head": 64, "causal": 1},
        {"batch": 2, "heads": 1, "length": 150, "head": 64, "causal": 0},
        {"batch": 1, "heads": 1, "length": 70, "head": 128, "causal": 1},
        {"batch": 1, "heads": 1, "length": 1, "head": 64, "causal": 1},
        {"batch": 1, "heads": 2, "length": 0, "head": 64, "causal": 0},
    ),
    rival=lambda q, k, v, causal: torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=causal),
)
