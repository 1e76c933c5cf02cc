"""A kernel at one of its sizes and dtypes, timed and checked: all that :class:`KernelTimes` says."""

from __future__ import annotations

from collections.abc import Callable

import torch
from triton.errors import TritonError

from pcbench.codegen.recording import dtype_in_words, sizes_in_words, work_of
from pcbench.errors import PcbenchError, UnavailableError
from pcbench.kernel_samples import KernelTimes
from pcbench.kernel_timing import agreement, choosing, roofs
from pcbench.kernel_timing.agreement import WrongResultError
from pcbench.kernel_timing.gpu import Gpu
from pcbench.kernel_timing.launching import prepared
from pcbench.kernel_timing.pairs import in_pairs
from pcbench.kernel_timing.rivals import rival_of
from pcbench.kernel_timing.rotation import Place, changed, input_sets
from pcbench.status import Status
from pcbench.strategies import one_line


class LaunchFailedError(PcbenchError):
    """Triton refuses a kernel on this GPU."""

    status = Status.COMPILE_FAILED


def times_of(gpu: Gpu, name: str, place: Place, pairs: int, stage: Callable[[str], None]) -> KernelTimes:
    """Time a kernel in turn with its rival; its outputs are checked before, and those of the last run after.

    Args:
        name: The kernel's.
        stage: Gets what is done next, in words.

    Raises:
        WrongResultError: An output is wrong, or an input was changed.
        LaunchFailedError: Triton does not compile the kernel for this GPU.
        UnavailableError: The memory does not suffice.
    """
    try:
        return _times_of(gpu, name, place, pairs, stage)
    except torch.OutOfMemoryError as error:
        raise UnavailableError(f"the memory of {gpu.name} does not suffice: {one_line(error)}") from error


def _times_of(gpu: Gpu, name: str, place: Place, pairs: int, stage: Callable[[str], None]) -> KernelTimes:
    kernel = place.kernel
    stage("make inputs")
    made = input_sets(gpu, place)
    sets = made.inputs
    unavailable = {"rotation": made.limited, "clocks": gpu.clocks_unavailable}

    stage("check the answer before timing")
    rival = rival_of(name, kernel, sets[0])
    unavailable["rival"] = rival.unavailable
    with choosing.recorded() as chosen:
        outputs = [_launched(place, sets[0])]
    outputs += [_launched(place, inputs) for inputs in sets[1:]]
    own_errors = agreement.require(kernel, sets, outputs, rival.call, "before timing")
    _require_unchanged(place, sets, "before timing")
    del outputs

    stage("time it")
    launches = prepared(gpu, kernel.launch, sets)
    beside = None if rival.call is None else prepared(gpu, rival.call, sets)
    unavailable["graph"] = launches.not_captured
    unavailable["graph of the rival"] = None if beside is None else beside.not_captured
    samples, rival_samples = in_pairs(gpu, launches, beside, pairs)

    stage("check the answer after timing")
    after = "in the last timed launches"
    agreement.require_again(kernel, sets, launches.outputs, own_errors, after)
    _require_unchanged(place, sets, after)
    del launches, beside, sets, made

    stage("measure the GPU's roofs")
    copied: float | None = None
    try:
        copied, failed = roofs.copy_bytes_per_s(gpu)
        unavailable |= failed
    except UnavailableError as error:
        unavailable["copy"] = error.problem
    dtype, products = dtype_in_words(place.dtype), {}
    if kernel.bound == "compute":
        try:
            products[dtype] = roofs.matmul_flops_per_s(gpu, place.dtype)
        except UnavailableError as error:
            unavailable[f"matmul {dtype}"] = error.problem
    return KernelTimes(
        kernel=name,
        sizes=sizes_in_words(place.sizes),
        dtype=dtype,
        gpu=gpu.name,
        target=gpu.target,
        work=work_of(kernel, place.sizes, place.dtype),
        config=tuple(chosen),
        samples=samples,
        rival=rival.words,
        rival_samples=rival_samples,
        copy_bytes_per_s=copied,
        matmul_flops_per_s=products,
        unavailable={what: why for what, why in unavailable.items() if why is not None},
    )


def _launched(place: Place, inputs: tuple[object, ...]) -> object:
    try:
        return place.kernel.launch(*inputs)
    except TritonError as error:
        raise LaunchFailedError(f"Triton does not compile it for this GPU: {one_line(error)}") from error


def _require_unchanged(place: Place, sets: tuple[tuple[object, ...], ...], when: str) -> None:
    which = changed(place, sets)
    if which is not None:
        raise WrongResultError(f"{when}, {which} was overwritten: its launches had other inputs each time")
