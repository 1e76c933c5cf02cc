"""Cross-entropy over a vocabulary: the loss of each token, and the gradient of their mean with respect to the logits.

Shapes: ``logits`` is (tokens, vocabulary) of any floating-point dtype and stays as it is; ``targets`` is (tokens,) of
int64, each from 0 to vocabulary - 1. Gives the losses, (tokens,) of float32, and the gradient, (tokens, vocabulary) of
the dtype of ``logits``; computed in float32.

Source: Milakov and Gimelshein, "Online normalizer calculation for softmax", 2018; one program for each token reads its
logits twice, for the normaliser and for the gradient. Where the cache holds the rows of all the programs that run at
one time it answers the second read, and the memory moves each logit once; where not, 2/3 of its roof is the most.
"""

from __future__ import annotations

import torch
import torch.nn.functional as F
import triton
import triton.language as tl
from pcbench_kernels import Kernel, Sizes, normal

LONGEST_BLOCK = 8192


@triton.jit
def _cross_entropy(logits, targets, losses, gradient, stride, vocabulary, share, BLOCK: tl.constexpr):
    token = tl.program_id(0).to(tl.int64)
    logits += token * stride
    gradient += token * vocabulary
    target = tl.load(targets + token)
    # Not minus infinity: a first block that is all minus infinity would give the difference of two.
    largest = -3.4e38
    total = 0.0
    for start in range(0, vocabulary, BLOCK):
        word = start + tl.arange(0, BLOCK)
        values = tl.load(logits + word, mask=word < vocabulary, other=float("-inf"), eviction_policy="evict_last")
        values = values.to(tl.float32)
        so_far = largest
        largest = tl.maximum(so_far, tl.max(values, 0))
        total = total * tl.exp(so_far - largest) + tl.sum(tl.exp(values - largest), 0)
    normaliser = largest + tl.log(total)
    tl.store(losses + token, normaliser - tl.load(logits + target).to(tl.float32))
    for start in range(0, vocabulary, BLOCK):
        word = start + tl.arange(0, BLOCK)
        values = tl.load(logits + word, mask=word < vocabulary, other=0, eviction_policy="evict_first").to(tl.float32)
        excess = tl.exp(values - normaliser) - tl.where(word == target, 1.0, 0.0)
        tl.store(gradient + word, excess * share, mask=word < vocabulary, eviction_policy="evict_first")


def cross_entropy(logits: torch.Tensor, targets: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """The loss of each row of logits, and the gradient of the mean loss; both are contiguous."""
    if logits.stride(1) != 1:
        logits = logits.contiguous()
    targets = targets.contiguous()
    tokens, vocabulary = logits.shape
    losses = torch.empty(tokens, dtype=torch.float32, device=logits.device)
    gradient = torch.empty((tokens, vocabulary), dtype=logits.dtype, device=logits.device)
    if gradient.numel():
        block = min(triton.next_power_of_2(vocabulary), LONGEST_BLOCK)
        warps = max(block // 512, 4)
        strides = logits.stride(0), vocabulary
        _cross_entropy[(tokens,)](logits, targets, losses, gradient, *strides, 1 / tokens, BLOCK=block, num_warps=warps)
    return losses, gradient


def reference(logits: torch.Tensor, targets: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    with torch.enable_grad():
        logits = logits.detach().requires_grad_()
        losses = F.cross_entropy(logits, targets, reduction="none")
        (gradient,) = torch.autograd.grad(losses.mean(), logits)
    return losses.detach(), gradient


def inputs(sizes: Sizes, dtype: torch.dtype, device: str) -> tuple[torch.Tensor, torch.Tensor]:
    tokens, vocabulary = sizes["tokens"], sizes["vocabulary"]
    targets = torch.arange(tokens, device=device) * 7919 % vocabulary
    return normal(0, tokens, vocabulary, dtype=dtype, device=device), targets


def _bytes(sizes: Sizes, dtype: torch.dtype, *, passes: int, picked: int) -> int:
    logits = passes * sizes["vocabulary"] + picked
    return sizes["tokens"] * (logits * dtype.itemsize + torch.int64.itemsize + torch.float32.itemsize)


KERNEL = Kernel(
    launch=cross_entropy,
    reference=reference,
    inputs=inputs,
    bytes_moved=lambda sizes, dtype: _bytes(sizes, dtype, passes=2, picked=0),
    bytes_requested=lambda sizes, dtype: _bytes(sizes, dtype, passes=3, picked=1),
    flops=lambda sizes: 6 * sizes["tokens"] * sizes["vocabulary"],
    bound="memory",
    shapes=({"tokens": 4096, "vocabulary": 32_000},),
    dtypes=(torch.bfloat16, torch.float32),
    small=(
        {"tokens": 5, "vocabulary": 1000},
        {"tokens": 2, "vocabulary": 20_000},
        {"tokens": 1, "vocabulary": 128},
        {"tokens": 6, "vocabulary": 1},
        {"tokens": 0, "vocabulary": 64},
    ),
    widens=True,
)
