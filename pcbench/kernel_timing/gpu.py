"""What timing needs of a GPU: no more, so that a simulated one can stand in its place."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from pcbench.errors import PcbenchError

Run = Callable[[], object]
"""Work for the GPU, which may still be under way when it returns."""

_SHORTEST_LEAD_S = 2e-4
_LONGEST_LEAD_S = 0.1


class CaptureFailedError(PcbenchError):
    """Work cannot be made a graph; the problem is what the driver or torch said."""


@dataclass(frozen=True)
class Timing:
    """Work between two events.

    Attributes:
        seconds: From the GPU's clock.
        queued: All of it was queued before the GPU came to its start: no time of the CPU's is in it.
        sm_clock_mhz, throttled: As in :class:`pcbench.kernel_samples.Sample`, while it ran.
    """

    seconds: float
    queued: bool
    sm_clock_mhz: float | None
    throttled: str | None


class Gpu(Protocol):
    """A GPU with one stream of work."""

    @property
    def name(self) -> str:
        """The card's."""

    @property
    def target(self) -> str:
        """Its chip, as a row of codegen says it: ``sm_90``, ``gfx942``."""

    @property
    def device(self) -> str:
        """What torch calls it."""

    @property
    def l2_bytes(self) -> int:
        """Its second-level cache, as torch tells it."""

    @property
    def clocks_unavailable(self) -> str | None:
        """Why its clocks are not told, or None."""

    def free_bytes(self) -> int:
        """Memory that is not in use."""

    def capture(self, run: Run) -> Run:
        """What ``run`` queues, as one piece of work to be run again and again on the same memory.

        Raises:
            CaptureFailedError: It cannot be captured.
        """

    def timed(self, run: Run, lead_s: float) -> Timing:
        """Time ``run``, queued behind other work that keeps the GPU busy for ``lead_s`` or longer; wait for its end."""


def timed_without_cpu(gpu: Gpu, run: Run, lead_s: float = _SHORTEST_LEAD_S) -> tuple[Timing, float]:
    """Time ``run`` behind work that lasts until all of it is queued, and how long that work had to be.

    What waits for the GPU itself can never be queued as a whole: its timing then says so.
    """
    timing = gpu.timed(run, lead_s)
    while not timing.queued and lead_s < _LONGEST_LEAD_S:
        lead_s *= 2
        timing = gpu.timed(run, lead_s)
    return timing, lead_s
