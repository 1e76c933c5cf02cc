"""Dropout whose pattern follows from the seed and an element's place alone: the same on every GPU, and in torch.

Shapes: ``x`` of any shape and floating-point dtype, the answer likewise. Element ``i``, in the order of rows, is 0
unless its random number is above ``probability`` (0 <= probability < 1), then it is divided by ``1 - probability``.
That number comes from the word ``i % 4`` of block ``i // 4`` of Philox 4x32-10 with the seed as key: one block serves
four elements, for its ten rounds take longer than to load and store one.

Source: Salmon, Moraes, Dror and Shaw, "Parallel Random Numbers: As Easy as 1, 2, 3", 2011; ``triton.language.rand4x``,
which makes a number in [0, 1) of a word read as a signed integer: folded to its 31 bits, converted to float32, scaled.
"""

from __future__ import annotations

import torch
import torch.nn.functional as F
import triton
import triton.language as tl
from pcbench_kernels import Kernel, Sizes, normal

BLOCK = 1024
WORD = (1 << 32) - 1


@triton.jit(do_not_specialize=["seed"])
def _dropout(x, out, elements, probability, scale, seed, BLOCK: tl.constexpr):
    program = tl.program_id(0)
    first, second, third, fourth = tl.rand4x(seed, program * (BLOCK // 4) + tl.arange(0, BLOCK // 4))
    uniform = tl.interleave(tl.interleave(first, third), tl.interleave(second, fourth))
    start = program.to(tl.int64) * BLOCK
    place = tl.arange(0, BLOCK)
    inside = place < elements - start
    values = tl.load(x + start + place, mask=inside).to(tl.float32)
    tl.store(out + start + place, tl.where(uniform > probability, values * scale, 0.0), mask=inside)


def dropout(x: torch.Tensor, probability: float, seed: int) -> torch.Tensor:
    """Each element divided by ``1 - probability``, or 0 with that probability; contiguous."""
    x = x.contiguous()
    out = torch.empty_like(x)
    if out.numel():
        grid = (triton.cdiv(out.numel(), BLOCK),)
        _dropout[grid](x, out, out.numel(), probability, 1 / (1 - probability), seed, BLOCK=BLOCK)
    return out


def _philox(seed: int, block: torch.Tensor) -> torch.Tensor:
    """The four words of each block of Philox 4x32-10, in the last dimension; int64, from 0 to 2**32 - 1."""
    words = [block & WORD, block >> 32, torch.zeros_like(block), torch.zeros_like(block)]
    keys = [seed & WORD, (seed >> 32) & WORD]
    for _ in range(10):
        # The product of two words wraps around to a negative int64, whose bits are the right ones all the same.
        even, odd = words[0] * 0xD2511F53, words[2] * 0xCD9E8D57
        high_even, high_odd = (even >> 32) & WORD, (odd >> 32) & WORD
        words = [high_odd ^ words[1] ^ keys[0], odd & WORD, high_even ^ words[3] ^ keys[1], even & WORD]
        keys = [(keys[0] + 0x9E3779B9) & WORD, (keys[1] + 0xBB67AE85) & WORD]
    return torch.stack(words, -1)


def reference(x: torch.Tensor, probability: float, seed: int) -> torch.Tensor:
    block = torch.arange(triton.cdiv(x.numel(), 4), device=x.device)
    words = _philox(seed, block).flatten()[: x.numel()].reshape(x.shape)
    uniform = torch.minimum(words, WORD - words).to(torch.float32) * 4.6566127342e-10
    return torch.where(uniform > probability, x / (1 - probability), 0)


def inputs(sizes: Sizes, dtype: torch.dtype, device: str) -> tuple[torch.Tensor, float, int]:
    return normal(0, sizes["elements"], dtype=dtype, device=device), 0.1, 2011


def bytes_moved(sizes: Sizes, dtype: torch.dtype) -> int:
    return 2 * sizes["elements"] * dtype.itemsize


KERNEL = Kernel(
    launch=dropout,
    reference=reference,
    inputs=inputs,
    bytes_moved=bytes_moved,
    bytes_requested=bytes_moved,
    flops=lambda sizes: 2 * sizes["elements"],
    bound="memory",
    shapes=({"elements": 67_108_864},),
    dtypes=(torch.float32, torch.float16),
    small=({"elements": 3000}, {"elements": 1}, {"elements": 0}),
    rival=lambda x, probability, seed: F.dropout(x, probability),
    widens=True,
)
