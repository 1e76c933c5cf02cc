"""The GPU that torch uses: NVIDIA's by CUDA, or AMD's by ROCm, which torch calls by the same names."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import torch
from triton.runtime import driver

from pcbench.errors import UnavailableError
from pcbench.kernel_timing import clocks
from pcbench.kernel_timing.clocks import Clocks
from pcbench.kernel_timing.gpu import CaptureFailedError, Run, Timing
from pcbench.strategies import one_line

_BALLAST_BYTES = 1 << 28
_BALLAST_COPIES = 10


def require() -> None:
    """Return if torch can use a GPU.

    Raises:
        UnavailableError: It cannot, for this reason.
    """
    if torch.version.cuda is None and torch.version.hip is None:
        raise UnavailableError(f"torch {torch.__version__} was built without CUDA and without ROCm")
    try:
        torch.cuda.current_device()
    except (RuntimeError, AssertionError) as error:  # AssertionError: built without what it needs to look
        raise UnavailableError(f"torch {torch.__version__} can use no GPU: {one_line(error)}") from error


@dataclass(frozen=True)
class TorchGpu:
    """torch's current GPU and stream.

    Attributes:
        clocks: How its clocks are read.
        ballast: Two tensors; one is copied to the other to keep the GPU busy.
        ballast_s: How long such a copy takes.
    """

    name: str
    target: str
    device: str
    l2_bytes: int
    clocks: Clocks
    ballast: tuple[torch.Tensor, torch.Tensor]
    ballast_s: float

    @property
    def clocks_unavailable(self) -> str | None:
        return self.clocks.unavailable

    def free_bytes(self) -> int:
        torch.cuda.empty_cache()
        free: int = torch.cuda.mem_get_info()[0]
        return free

    def capture(self, run: Run) -> Run:
        graph = torch.cuda.CUDAGraph()
        try:
            # Where a capture fails, torch leaves its stream the current one: the outer context goes back.
            with torch.cuda.stream(torch.cuda.current_stream()), torch.cuda.graph(graph):
                run()
        except torch.OutOfMemoryError:
            raise
        except RuntimeError as error:
            raise CaptureFailedError(one_line(error)) from error
        return graph.replay

    def timed(self, run: Run, lead_s: float) -> Timing:
        source, target = self.ballast
        start, end = _event(), _event()
        for _ in range(math.ceil(lead_s / self.ballast_s)):
            target.copy_(source)
        start.record()
        run()
        end.record()
        queued = not start.query()
        # Now the GPU is at work, or about to be: an idle one has another clock.
        clock, throttled = self.clocks.read()
        end.synchronize()
        return Timing(start.elapsed_time(end) / 1e3, queued, clock, throttled)


def found() -> TorchGpu:
    """The GPU, ready to time.

    Raises:
        UnavailableError: There is none, for this reason.
    """
    require()
    has = torch.cuda.get_device_properties(torch.cuda.current_device())
    told = clocks.untold("AMD's driver is not asked") if torch.version.hip else clocks.nvidia_clocks(str(has.uuid))
    ballast = torch.randn(2, _BALLAST_BYTES // torch.float32.itemsize, device="cuda").unbind()
    start, end = _event(), _event()
    ballast[1].copy_(ballast[0])
    start.record()
    for _ in range(_BALLAST_COPIES):
        ballast[1].copy_(ballast[0])
    end.record()
    end.synchronize()
    copy_s = start.elapsed_time(end) / 1e3 / _BALLAST_COPIES
    return TorchGpu(has.name, _target(), "cuda", has.L2_cache_size, told, (ballast[0], ballast[1]), copy_s)


def _target() -> str:
    told = driver.active.get_current_target()
    return f"sm_{told.arch}" if told.backend == "cuda" else str(told.arch)


def _event() -> Any:
    return torch.cuda.Event(enable_timing=True)  # type: ignore[no-untyped-call]  # torch's class has no types
