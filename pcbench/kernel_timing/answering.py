"""The request for a kernel's times."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from pcbench import timing
from pcbench.codegen.recording import dtype_in_words, load_kernel, sizes_in_words
from pcbench.errors import UnavailableError
from pcbench.kernel_timing import torch_gpu
from pcbench.kernel_timing.rotation import Place
from pcbench.kernel_timing.timing_kernel import times_of

Emit = Callable[[dict[str, Any]], None]


@dataclass(frozen=True)
class Request:
    """What a measured process was asked for.

    Attributes:
        target: Of no account.
        kernel: A name, or the path of a file that ends in KERNEL.
        dtype, sizes: One of those that it is tracked at, in words: ``float16``, ``rows=4096 columns=1024``.
        pairs: How many samples of the kernel, and of its rival, are taken.
    """

    target: str
    threads: int
    cwd: str
    kernel: str
    dtype: str
    sizes: str
    pairs: int


def kernel_times(request: Request, clock: timing.PhaseClock, emit: Emit) -> None:  # noqa: ARG001  # one signature for all requests
    """Emit what is done next, and at the end the fields of :class:`pcbench.kernel_samples.KernelTimes`.

    Raises:
        UsageError: There is no such kernel.
        UnavailableError: There is no GPU, or not enough of its memory, or the kernel is not tracked there.
        WrongResultError: The kernel's answer is wrong.
        LaunchFailedError: Triton does not compile it for this GPU.
    """

    def stage(what: str) -> None:
        emit({"stage": f"{request.kernel} in {request.dtype}: {what}"})

    stage("look for a GPU")
    gpu = torch_gpu.found()
    stage("load it")
    place = place_of(request)
    times = times_of(gpu, request.kernel, place, request.pairs, stage)
    emit({"kernel_times": asdict(times)})


def place_of(request: Request) -> Place:
    """Where the kernel is timed.

    Raises:
        UsageError: There is no such kernel.
        UnavailableError: It is not tracked there.
    """
    kernel = load_kernel(request.kernel, Path(request.cwd))
    for sizes in kernel.shapes:
        for dtype in kernel.dtypes:
            if (sizes_in_words(sizes), dtype_in_words(dtype)) == (request.sizes, request.dtype):
                return Place(kernel, sizes, dtype, "cuda")
    raise UnavailableError(
        f"{request.kernel} is not tracked at {request.sizes} in {request.dtype}, but at "
        f"{'; '.join(map(sizes_in_words, kernel.shapes))} in {', '.join(map(dtype_in_words, kernel.dtypes))}"
    )
