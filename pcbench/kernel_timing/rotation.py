"""Inputs of a kernel in so many sets that, used in turn, none is still in the cache when it comes again."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pcbench_kernels
import torch
from pcbench_kernels import Kernel, Sizes

from pcbench.errors import UnavailableError
from pcbench.kernel_timing.gpu import Gpu

_TIMES_L2 = 2.0
"""A cache that keeps other than what was used last still has to give up most of a set before its turn comes."""
LEAST_BYTES = 1 << 29
"""Where torch does not tell of all caches: of an MI300X it tells 4 MB, one die's, and behind all dies are 256 MB."""
_FEWEST_SETS = 2
_MOST_OF_FREE = 0.5
"""Share of the free memory; the answers in float64, and what torch needs to make them, take the rest."""


@dataclass(frozen=True)
class Place:
    """A kernel at one of its sizes and dtypes, on a device."""

    kernel: Kernel
    sizes: Sizes
    dtype: torch.dtype
    device: str

    def inputs(self, number: int, device: str | None = None) -> tuple[Any, ...]:
        """The inputs of a set: random, the same each time."""
        with pcbench_kernels.input_set(number):
            made: tuple[Any, ...] = self.kernel.inputs(self.sizes, self.dtype, device or self.device)
        return made


@dataclass(frozen=True)
class InputSets:
    """Sets of inputs.

    Attributes:
        limited: Why they are fewer than it takes to be beyond the cache, or None.
    """

    inputs: tuple[tuple[Any, ...], ...]
    limited: str | None


def tensors(values: Any) -> list[torch.Tensor]:
    """The tensors of inputs, or of what a launch gave."""
    return [each for each in (values if isinstance(values, tuple | list) else (values,)) if torch.is_tensor(each)]


def _bytes_of(values: Any) -> int:
    """Bytes of their tensors."""
    return sum(each.numel() * each.element_size() for each in tensors(values))


def beyond_caches(gpu: Gpu) -> int:
    """Bytes, of which more is not in a GPU's caches when it is read again."""
    return max(math.floor(_TIMES_L2 * gpu.l2_bytes), LEAST_BYTES)


def input_sets(gpu: Gpu, place: Place) -> InputSets:
    """Sets that together are beyond the caches, two at least, as far as half of the free memory goes.

    Raises:
        UnavailableError: The memory does not hold one.
    """
    each = _bytes_of(place.inputs(0, "meta"))
    with_outputs = max(each, place.kernel.bytes_moved(place.sizes, place.dtype), 1)
    wanted = max(_FEWEST_SETS, beyond_caches(gpu) // each + 1) if each else _FEWEST_SETS
    free = gpu.free_bytes()
    fit = int(_MOST_OF_FREE * free / with_outputs)
    if fit < 1:
        raise UnavailableError(
            f"{with_outputs:,} bytes of inputs and outputs are more than half of the {free:,} bytes that {gpu.name} "
            "has free"
        )
    limited = None
    if fit < wanted:
        limited = (
            f"it takes {wanted} sets of inputs to exceed the {beyond_caches(gpu):,} bytes that may be in a cache; half "
            f"of the {free:,} bytes that are free holds {fit}"
        )
    return InputSets(tuple(place.inputs(number) for number in range(min(wanted, fit))), limited)


def changed(place: Place, sets: Sequence[tuple[Any, ...]]) -> str | None:
    """Which input is no longer what it was made as, in words, or None."""
    for number, inputs in enumerate(sets):
        for index, (now, made) in enumerate(zip(tensors(inputs), tensors(place.inputs(number)), strict=True)):
            if not torch.equal(_bits(now), _bits(made)):
                return f"tensor {index} of its inputs, set {number},"
    return None


def _bits(tensor: torch.Tensor) -> torch.Tensor:
    return tensor.contiguous().flatten().view(torch.uint8)
