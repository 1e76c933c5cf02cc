"""What bounds a kernel on a card: the least time by the card's documented peaks, and what was measured, apart.

Source of the model: S. Williams, A. Waterman, D. Patterson, "Roofline", CACM 52(4), 2009.
"""

from __future__ import annotations

import statistics
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from pcbench.analysis.cards import Card
from pcbench.analysis.spread import Spread, spread
from pcbench.kernel_samples import KernelTimes, Sample, Work


@dataclass(frozen=True)
class Unknown:
    """What cannot be said, and why, in words."""

    reason: str


@dataclass(frozen=True)
class Prediction:
    """The least time that a card can take for some work: a floor, not a forecast.

    Attributes:
        least_s: Where each byte goes through memory once.
        uncached_s: Where each byte that is asked for does, as if nothing were cached.
        limit: Which peak ``least_s`` is of.
        flops: The work's.
    """

    least_s: float
    uncached_s: float
    limit: Literal["memory", "compute"]
    flops: int

    @property
    def flops_per_s(self) -> float:
        """The roof above the kernel."""
        return self.flops / self.least_s

    @property
    def uncached_flops_per_s(self) -> float:
        """The same if nothing is cached."""
        return self.flops / self.uncached_s


@dataclass(frozen=True)
class Measured:
    """What the samples of a launch say.

    Attributes:
        seconds: Of one launch.
        bytes_per_s: ``bytes_moved`` by the median.
        flops_per_s: ``flops`` by the median.
        of_roof: The share reached of the rate of the process's copy, or for a kernel that is bound by computing, of
            that of torch's matmul in its dtype. A copy reads as much as it writes: what mostly reads may exceed it.
        beside: What that share is of.
        ratio: Kernel / rival, sample by sample: above 1 is slower than torch's own.
        unqueued: How many of the samples were not queued in time: the CPU's time may be in them.
        rival_unqueued: The same of the rival's.
        rotated: Whether the inputs of a launch were no longer in the cache when they came again.
        throttled: The share of the samples with a clock that was held down, of those that tell.
        clock_mhz: The lowest and the highest.
    """

    gpu: str
    config: tuple[str, ...]
    rival: str
    seconds: Spread
    bytes_per_s: float
    flops_per_s: float
    of_roof: float | Unknown
    beside: Literal["copy", "matmul"]
    ratio: Spread | Unknown
    unqueued: int
    rival_unqueued: int
    rotated: bool
    throttled: float | Unknown
    clock_mhz: tuple[float, float] | Unknown


@dataclass(frozen=True)
class Roofs:
    """What a session's copy and matmuls reached, the median over its launches; None where no copy was timed."""

    bytes_per_s: float | None
    flops_per_s: dict[str, float]


def intensity(work: Work) -> float:
    """Operations per byte that has to be moved; the work must move some."""
    return work.flops / work.bytes_moved


def predict(work: Work | None, dtype: str, card: Card | None) -> Prediction | Unknown:
    """What the card's documented peaks allow, or why that is not known."""
    if work is None:
        return Unknown("what it has to move and to compute is not known")
    if card is None:
        return Unknown("no documented peaks of this card are kept")
    if work.bytes_moved <= 0:
        return Unknown("it moves nothing at these sizes")
    if work.bound == "compute" and dtype == "float32":
        return Unknown("its products in float32 may be of TF32, which has another peak")
    peak = card.flops_per_s.get(dtype)
    if peak is None:
        return Unknown(f"no documented peak of the {card.name} in {dtype or 'an unknown dtype'}")
    moving, asking, computing = (
        work.bytes_moved / card.memory_bytes_per_s,
        work.bytes_requested / card.memory_bytes_per_s,
        work.flops / peak,
    )
    limit: Literal["memory", "compute"] = "memory" if moving >= computing else "compute"
    least = max(moving, computing)
    return Prediction(least, max(asking, least), limit, work.flops)


def measure(times: KernelTimes) -> Measured:
    """What the samples say, throttled ones and those with the CPU's time in them too."""
    seconds = _spread([sample.seconds for sample in times.samples])
    bytes_per_s, flops_per_s = times.work.bytes_moved / seconds.median, times.work.flops / seconds.median
    throttled, clock_mhz = _clocks(times)
    return Measured(
        gpu=times.gpu,
        config=times.config,
        rival=times.rival,
        seconds=seconds,
        bytes_per_s=bytes_per_s,
        flops_per_s=flops_per_s,
        of_roof=_of_roof(times, bytes_per_s, flops_per_s),
        beside="copy" if times.work.bound == "memory" else "matmul",
        ratio=_ratio(times),
        unqueued=_unqueued(times.samples),
        rival_unqueued=_unqueued(times.rival_samples),
        rotated="rotation" not in times.unavailable,
        throttled=throttled,
        clock_mhz=clock_mhz,
    )


def roofs(timed: Sequence[KernelTimes]) -> Roofs:
    """The roofs that launches of one session were timed under; at least one launch."""
    by_dtype: dict[str, list[float]] = defaultdict(list)
    for times in timed:
        for dtype, rate in times.matmul_flops_per_s.items():
            by_dtype[dtype].append(rate)
    copied = [times.copy_bytes_per_s for times in timed if times.copy_bytes_per_s is not None]
    return Roofs(
        statistics.median(copied) if copied else None,
        {dtype: statistics.median(rates) for dtype, rates in by_dtype.items()},
    )


def _of_roof(times: KernelTimes, bytes_per_s: float, flops_per_s: float) -> float | Unknown:
    if times.work.bound == "memory":
        reached, roof, what = bytes_per_s, times.copy_bytes_per_s, "copy"
    else:
        what = f"matmul {times.dtype}"
        reached, roof = flops_per_s, times.matmul_flops_per_s.get(times.dtype)
    return Unknown(times.unavailable.get(what, f"no {what} was timed beside it")) if roof is None else reached / roof


def _ratio(times: KernelTimes) -> Spread | Unknown:
    if not times.rival_samples:
        why = times.unavailable.get("rival", "nothing of it was timed")
        return Unknown(f"{times.rival}: {why}" if times.rival else "torch has none to time beside it")
    pairs = zip(times.samples, times.rival_samples, strict=True)
    return _spread([own.seconds / rival.seconds for own, rival in pairs])


def _spread(values: Sequence[float]) -> Spread:
    found = spread(values)
    assert found is not None
    return found


def _unqueued(samples: Sequence[Sample]) -> int:
    return sum(not sample.queued for sample in samples)


def _clocks(times: KernelTimes) -> tuple[float | Unknown, tuple[float, float] | Unknown]:
    silent = Unknown(times.unavailable.get("clocks", "the driver does not tell"))
    told = [bool(sample.throttled) for sample in times.samples if sample.throttled is not None]
    clocks = [sample.sm_clock_mhz for sample in times.samples if sample.sm_clock_mhz is not None]
    return sum(told) / len(told) if told else silent, (min(clocks), max(clocks)) if clocks else silent
