"""A GPU whose clock is simulated: what runs on it are functions on the CPU that say how long they take."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal

import pytest
import torch
from pcbench_kernels import Kernel, normal

from pcbench.kernel_samples import KernelTimes
from pcbench.kernel_timing import roofs, rotation
from pcbench.kernel_timing.gpu import CaptureFailedError, Run, Timing
from pcbench.kernel_timing.rotation import Place
from pcbench.kernel_timing.timing_kernel import times_of

KERNEL_S, RIVAL_S = 1e-4, 2e-4
ELEMENTS = 64
SET_BYTES = 2 * ELEMENTS * 4


@dataclass(frozen=True)
class Piece:
    """Launches that were timed together."""

    what: str
    launches: int
    seconds: float
    lead_s: float


@dataclass
class FakeGpu:
    """Attributes beside those of a Gpu:

    free: What ``free_bytes`` gives.
    refuses: Why nothing can be captured, or None.
    dead: A graph does nothing when it is run.
    needs_lead_s: How long other work must keep it busy for all launches to be queued; what waits for it never is.
    clock: Gives the clock and why it is held down.
    piece_s: What every timed piece of work takes beside its launches.
    worked_s: Its clock.
    pieces: Every timed piece of work.
    """

    name: str = "Simulated 1"
    target: str = "sim_1"
    device: str = "cpu"
    l2_bytes: int = 1000
    clocks_unavailable: str | None = None
    free: int = 1 << 30
    refuses: str | None = None
    dead: bool = False
    needs_lead_s: float = 0.0
    clock: Callable[[], tuple[float | None, str | None]] = lambda: (1500.0, "")
    piece_s: float = 0.0
    worked_s: float = 0.0
    pieces: list[Piece] = field(default_factory=list)
    ran: list[str] = field(default_factory=list)

    def free_bytes(self) -> int:
        return self.free

    def capture(self, run: Run) -> Run:
        if self.refuses is not None:
            raise CaptureFailedError(self.refuses)
        worked_s = self.worked_s
        run()
        self.worked_s = worked_s
        return (lambda: self._work(1e-3, "nothing")) if self.dead else run

    def timed(self, run: Run, lead_s: float) -> Timing:
        before, ran_before = self.worked_s, len(self.ran)
        self.worked_s += self.piece_s
        run()
        launched = self.ran[ran_before:]
        self.pieces.append(Piece(" ".join(dict.fromkeys(launched)), len(launched), self.worked_s - before, lead_s))
        return Timing(self.worked_s - before, lead_s >= self.needs_lead_s, *self.clock())

    def running(self, name: str, seconds: float, function: Callable[..., Any]) -> Callable[..., Any]:
        """A function that takes so long on this GPU."""

        def run(*args: Any) -> Any:
            self._work(seconds, name)
            return function(*args)

        return run

    def _work(self, seconds: float, name: str) -> None:
        self.worked_s += seconds
        self.ran.append(name)


def with_small_roofs(monkeypatch: pytest.MonkeyPatch) -> FakeGpu:
    """A copy of 8000 bytes takes 100 us or, by another way, 200, and a product of 16 x 16 takes 300 us.

    No cache is larger than torch tells.
    """
    made = FakeGpu()
    monkeypatch.setattr(rotation, "LEAST_BYTES", 0)
    monkeypatch.setattr(roofs, "COPIED_BYTES", 8000)
    monkeypatch.setattr(roofs, "EXTENT", 16)
    copies = {
        "ours": made.running("copy", 2e-4, lambda source, target: source.clone()),
        "torch's": made.running("copy", 1e-4, lambda source, target: target.copy_(source)),
    }
    monkeypatch.setattr(roofs, "COPIES", copies)
    product = made.running("matmul", 3e-4, torch.matmul)
    monkeypatch.setattr(roofs.matmul, "KERNEL", kernel_of(torch.matmul, product, matrices, flops=2 * 16**3))
    return made


def vectors(sizes: Any, dtype: torch.dtype, device: str) -> tuple[torch.Tensor, ...]:
    return tuple(normal(seed, sizes["elements"], dtype=dtype, device=device) for seed in range(2))


def matrices(sizes: Any, dtype: torch.dtype, device: str) -> tuple[torch.Tensor, ...]:
    return tuple(normal(seed, sizes["m"], sizes["n"], dtype=dtype, device=device) for seed in range(2))


def kernel_of(
    launch: Callable[..., Any],
    reference: Callable[..., Any] = torch.add,
    inputs: Callable[..., tuple[torch.Tensor, ...]] = vectors,
    flops: int = ELEMENTS,
    bound: Literal["memory", "compute"] = "memory",
    **more: Any,
) -> Kernel:
    return Kernel(
        launch=launch,
        reference=reference,
        inputs=inputs,
        bytes_moved=lambda sizes, dtype: 3 * ELEMENTS * dtype.itemsize,
        bytes_requested=lambda sizes, dtype: 4 * ELEMENTS * dtype.itemsize,
        flops=lambda sizes: flops,
        bound=bound,
        shapes=({"elements": ELEMENTS},),
        dtypes=(torch.float32,),
        small=(),
        **more,
    )


def adding(gpu: FakeGpu, launch: Callable[..., Any] = torch.add, **more: Any) -> Kernel:
    """A kernel that adds, and a rival that takes twice as long."""
    return kernel_of(gpu.running("kernel", KERNEL_S, launch), rival=gpu.running("rival", RIVAL_S, torch.add), **more)


def timed(gpu: FakeGpu, kernel: Kernel, pairs: int = 4, dtype: torch.dtype = torch.float32) -> KernelTimes:
    return times_of(gpu, "adding", at(kernel, dtype), pairs, lambda what: None)


def at(kernel: Kernel, dtype: torch.dtype = torch.float32) -> Place:
    return Place(kernel, {"elements": ELEMENTS}, dtype, "cpu")


def calls_later(count: int, later: Callable[..., Any]) -> Callable[..., Any]:
    """Adds so many times, and does something else from then on."""
    calls = itertools.count()
    return lambda x, y: torch.add(x, y) if next(calls) < count else later(x, y)
