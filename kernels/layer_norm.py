"""Layer normalisation, forward and backward: ``(x - mean) / sqrt(variance + epsilon) * weight + bias`` for each row.

Shapes: ``x`` and ``grad_output`` are (rows, columns), ``weight`` and ``bias`` (columns,), of one floating-point dtype.
Gives ``y``, shaped like ``x``, and the gradients of ``x``, ``weight`` and ``bias``; computed in float32.

Source: Ba, Kiros and Hinton, "Layer Normalization", 2016, and its derivative. Forward, one program for each row, which
keeps the row's mean and scale. Backward, each program goes through every so-many-th row and sums what these add to the
gradients of weight and bias; a third launch adds up the programs' sums. No atomics: the same bits every time.

The backward reads all of ``x`` after the forward has: 5 tensors of its size move where 4 are compulsory, so that 0.8 of
the roof of the memory is the most that it can reach. At 16,384 columns its two sums and one row are more than a GPU's
registers hold, and the compiler spills some of the row.
"""

from __future__ import annotations

import torch
import triton
import triton.language as tl
from pcbench_kernels import Kernel, Sizes, normal

EPSILON = 1e-5


@triton.jit
def _forward(x, weight, bias, y, means, scales, stride, columns, epsilon, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    column = tl.arange(0, BLOCK)
    inside = column < columns
    values = tl.load(x + row * stride + column, mask=inside, other=0).to(tl.float32)
    mean = tl.sum(values, 0) / columns
    centred = values - mean
    scale = tl.rsqrt(tl.sum(tl.where(inside, centred * centred, 0.0), 0) / columns + epsilon)
    tl.store(means + row, mean)
    tl.store(scales + row, scale)
    weights = tl.load(weight + column, mask=inside, other=0).to(tl.float32)
    biases = tl.load(bias + column, mask=inside, other=0).to(tl.float32)
    tl.store(y + row * columns + column, centred * scale * weights + biases, mask=inside)


@triton.jit
def _backward(
    x, weight, grad_y, means, scales, grad_x, partial_sums, stride_x, stride_grad, rows, columns, BLOCK: tl.constexpr
):
    program = tl.program_id(0).to(tl.int64)
    programs = tl.num_programs(0)
    column = tl.arange(0, BLOCK)
    inside = column < columns
    weight_sum = tl.zeros([BLOCK], tl.float32)
    bias_sum = tl.zeros([BLOCK], tl.float32)
    for row in range(program, rows, programs):
        values = tl.load(x + row * stride_x + column, mask=inside, other=0).to(tl.float32)
        grads = tl.load(grad_y + row * stride_grad + column, mask=inside, other=0).to(tl.float32)
        scale = tl.load(scales + row)
        normed = (values - tl.load(means + row)) * scale
        weight_sum += grads * normed
        bias_sum += grads
        weighted = grads * tl.load(weight + column, mask=inside, other=0).to(tl.float32)
        slope = tl.sum(weighted * normed, 0) / columns
        shift = tl.sum(weighted, 0) / columns
        tl.store(grad_x + row * columns + column, (weighted - normed * slope - shift) * scale, mask=inside)
    tl.store(partial_sums + program * columns + column, weight_sum, mask=inside)
    tl.store(partial_sums + (programs + program) * columns + column, bias_sum, mask=inside)


@triton.jit
def _sum_programs(partial_sums, sums, programs, columns, PROGRAMS: tl.constexpr, BLOCK: tl.constexpr):
    kind = tl.program_id(1)
    program = tl.arange(0, PROGRAMS)[:, None]
    column = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = (program < programs) & (column < columns)
    parts = tl.load(partial_sums + (kind * programs + program) * columns + column, mask=inside, other=0)
    tl.store(sums + kind * columns + column, tl.sum(parts, 0), mask=column < columns)


def _programs(rows: int, block: int) -> int:
    """How many programs share the rows: four rows each at least, and at most 2**21 sums of either kind, which half fill
    the registers of the largest GPUs of 2024."""
    return min(triton.cdiv(rows, 4), max((1 << 21) // block, 1), 512)


def layer_norm(
    x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor, grad_output: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]:
    """``y``, and the gradients of ``x``, ``weight`` and ``bias`` for that of ``y``; all are contiguous."""
    x, grad_output = (rows if rows.stride(1) == 1 else rows.contiguous() for rows in (x, grad_output))
    weight, bias = weight.contiguous(), bias.contiguous()
    rows, columns = x.shape
    y, grad_x = (torch.empty((rows, columns), dtype=x.dtype, device=x.device) for _ in range(2))
    if not y.numel():
        return y, grad_x, torch.zeros_like(weight), torch.zeros_like(bias)
    block = triton.next_power_of_2(columns)
    warps = min(max(block // 1024, 4), 32)
    programs = _programs(rows, block)
    means, scales = (torch.empty(rows, dtype=torch.float32, device=x.device) for _ in range(2))
    partial_sums = torch.empty((2, programs, columns), dtype=torch.float32, device=x.device)
    sums = torch.empty((2, columns), dtype=weight.dtype, device=x.device)
    _forward[(rows,)](x, weight, bias, y, means, scales, x.stride(0), columns, EPSILON, BLOCK=block, num_warps=warps)
    tensors = x, weight, grad_output, means, scales, grad_x, partial_sums
    strides = x.stride(0), grad_output.stride(0)
    _backward[(programs,)](*tensors, *strides, rows, columns, BLOCK=block, num_warps=warps)
    tall = triton.next_power_of_2(programs)
    wide = 8192 // tall
    _sum_programs[(triton.cdiv(columns, wide), 2)](
        partial_sums, sums, programs, columns, PROGRAMS=tall, BLOCK=wide, num_warps=8
    )
    return y, grad_x, sums[0], sums[1]


def reference(
    x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor, grad_output: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]:
    y, mean, scale = torch.native_layer_norm(x, weight.shape, weight, bias, EPSILON)
    gradients = torch.ops.aten.native_layer_norm_backward(
        grad_output, x, weight.shape, mean, scale, weight, bias, (True, True, True)
    )
    return y, *gradients


def inputs(sizes: Sizes, dtype: torch.dtype, device: str) -> tuple[torch.Tensor, ...]:
    rows, columns = sizes["rows"], sizes["columns"]
    shapes = (rows, columns), (columns,), (columns,), (rows, columns)
    return tuple(normal(seed, *shape, dtype=dtype, device=device) for seed, shape in enumerate(shapes))


def _own_bytes(sizes: Sizes) -> int:
    """What the three launches hand each other, written and read: two numbers for each row, the programs' sums."""
    programs = _programs(sizes["rows"], triton.next_power_of_2(sizes["columns"]))
    return 2 * (2 * sizes["rows"] + 2 * programs * sizes["columns"]) * torch.float32.itemsize


def bytes_moved(sizes: Sizes, dtype: torch.dtype) -> int:
    return (4 * sizes["rows"] + 4) * sizes["columns"] * dtype.itemsize + _own_bytes(sizes)


def bytes_requested(sizes: Sizes, dtype: torch.dtype) -> int:
    return (8 * sizes["rows"] + 2) * sizes["columns"] * dtype.itemsize + _own_bytes(sizes)


KERNEL = Kernel(
    launch=layer_norm,
    reference=reference,
    inputs=inputs,
    bytes_moved=bytes_moved,
    bytes_requested=bytes_requested,
    flops=lambda sizes: 22 * sizes["rows"] * sizes["columns"],
    bound="memory",
    shapes=({"rows": 16384, "columns": 4096}, {"rows": 4096, "columns": 16384}),
    dtypes=(torch.float16, torch.bfloat16),
    small=(
        {"rows": 21, "columns": 1000},
        {"rows": 1, "columns": 4096},
        {"rows": 6, "columns": 1},
        {"rows": 0, "columns": 64},
    ),
    widens=True,
)
