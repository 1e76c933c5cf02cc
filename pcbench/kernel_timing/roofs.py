"""What this GPU reaches in this session: a copy bounds what the memory limits, a large product what computing does."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Mapping
from typing import Any

import torch
from pcbench_kernels import matmul, matmul_fp8, normal, vector_add
from triton.errors import TritonError

from pcbench.errors import UnavailableError
from pcbench.kernel_timing.gpu import Gpu
from pcbench.kernel_timing.launching import prepared
from pcbench.kernel_timing.pairs import in_pairs
from pcbench.kernel_timing.rivals import torchs_own
from pcbench.kernel_timing.rotation import beyond_caches
from pcbench.strategies import one_line

EXTENT = 8192
"""Of the square matrices whose product is a roof."""
COPIED_BYTES = 1 << 30
TIMES_L2 = 8
_MOST_OF_FREE = 0.25
_PAIRS = 7

COPIES: Mapping[str, Callable[[torch.Tensor, torch.Tensor], Any]] = {
    "vector_add.copy": lambda source, target: vector_add.copy(source),
    "torch's copy_": lambda source, target: target.copy_(source),
}


def copy_bytes_per_s(gpu: Gpu) -> tuple[float, dict[str, str]]:
    """Bytes read and written a second by the best way to copy a tensor far beyond the cache, and what failed, why.

    Raises:
        UnavailableError: The memory does not hold two such tensors, or nothing copies.
    """
    wanted, most = max(COPIED_BYTES, TIMES_L2 * gpu.l2_bytes), int(_MOST_OF_FREE * gpu.free_bytes())
    size = min(wanted, most)
    if size <= beyond_caches(gpu):
        raise UnavailableError(
            f"a quarter of the free memory of {gpu.name} is {most:,} bytes, {beyond_caches(gpu):,} may be in a cache"
        )
    try:
        source = normal(0, size // torch.float32.itemsize, dtype=torch.float32, device=gpu.device)
        target = torch.empty_like(source)
    except torch.OutOfMemoryError as error:
        raise UnavailableError(one_line(error)) from error
    took, failed = [], {}
    for name, copy in COPIES.items():
        try:
            given = copy(source, target)
            if not torch.equal(given, source):
                failed[name] = "its copy is another tensor"
                continue
            del given
            took.append(_seconds(gpu, copy, (source, target)))
        except UnavailableError as error:
            failed[name] = error.problem
        except (TritonError, RuntimeError) as error:
            failed[name] = one_line(error)
    if not took:
        raise UnavailableError(f"nothing copies a tensor of {size:,} bytes on {gpu.name}: {failed}")
    return 2 * source.numel() * source.element_size() / min(took), failed


def matmul_flops_per_s(gpu: Gpu, dtype: torch.dtype) -> float:
    """What torch's product of two large square matrices of a dtype reaches; of float8, its scaled one.

    Raises:
        UnavailableError: This torch or this GPU has none in that dtype, or no memory for it, or it waits for the CPU.
    """
    kernel = matmul_fp8.KERNEL if dtype in matmul_fp8.KERNEL.dtypes else matmul.KERNEL
    product = torchs_own(kernel)
    if product is None:
        raise UnavailableError(f"this torch has no product of matrices of {dtype}")
    sizes = dict.fromkeys("mnk", EXTENT)
    try:
        inputs = kernel.inputs(sizes, dtype, gpu.device)
        product(*inputs)
        seconds = _seconds(gpu, product, inputs)
    except RuntimeError as error:  # torch's own refusal, or no memory
        raise UnavailableError(one_line(error)) from error
    return float(kernel.flops(sizes) / seconds)


def _seconds(gpu: Gpu, call: Callable[..., Any], inputs: tuple[Any, ...]) -> float:
    """Of one call.

    Raises:
        UnavailableError: Time of the CPU's is in it.
    """
    samples, _ = in_pairs(gpu, prepared(gpu, call, [inputs]), None, _PAIRS)
    waited = sum(not sample.queued for sample in samples)
    if waited:
        raise UnavailableError(f"the GPU had to wait for the CPU in {waited} of {len(samples)} samples")
    return statistics.median(sample.seconds for sample in samples)
