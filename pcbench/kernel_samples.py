"""What is known of a Triton kernel's time on a GPU, and of the work that bounds it. Shared by both halves; no torch."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from pcbench.errors import ResultsError

_MOST = 2.0**80
"""No kernel moves or computes as much."""


@dataclass(frozen=True)
class Work:
    """What a kernel has to do at its sizes, by its own model, which is tested in the interpreter.

    Attributes:
        bytes_moved: Read or written at least once; what is read twice counts once.
        bytes_requested: Asked for by its programs in all, with the first configuration.
        flops: Floating-point operations; a multiplication and an addition are two.
        bound: What limits it: ``memory``, or ``compute`` where that is the tensor cores.
    """

    bytes_moved: int
    bytes_requested: int
    flops: int
    bound: Literal["memory", "compute"]


@dataclass(frozen=True)
class Sample:
    """Launches in a row, timed together.

    Attributes:
        seconds: Of one launch, from the GPU's own clock.
        queued: All of them were queued before the GPU came to the first: no time of the CPU's is in it.
        sm_clock_mhz: The clock of its multiprocessors around then; None where the driver does not tell.
        throttled: Why that clock was held down, in the driver's words; empty where it was not, None where it is not
            told.
    """

    seconds: float
    queued: bool
    sm_clock_mhz: float | None
    throttled: str | None


@dataclass(frozen=True)
class KernelTimes:
    """A kernel at one of its sizes and dtypes, timed on a GPU in one process, in turn with torch's own.

    Attributes:
        kernel, sizes, dtype: As in a row of codegen: ``rows=4096 columns=1024``, ``float16``.
        gpu: The card's name.
        target: What Triton calls its chip: ``sm_90``, ``gfx942``.
        config: What each launch that is tuned chose, as a row of codegen says it; empty where nothing is chosen.
        samples: The kernel's, each against the rival's of the same place.
        rival: What torch runs for the same: ``torch.softmax``, say; empty where there is none to time.
        rival_samples: The rival's; as many, or none.
        copy_bytes_per_s: The process's roof of memory: what a copy of a large tensor reached, in bytes read and
            written; None where it could not be had.
        matmul_flops_per_s: The process's roof of the tensor cores by dtype: what torch's large matmul reached; of a
            kernel that they bound.
        unavailable: What of it could not be had, such as ``clocks`` or ``copy``, with the reason.
    """

    kernel: str
    sizes: str
    dtype: str
    gpu: str
    target: str
    work: Work
    config: tuple[str, ...]
    samples: tuple[Sample, ...]
    rival: str
    rival_samples: tuple[Sample, ...]
    copy_bytes_per_s: float | None
    matmul_flops_per_s: Mapping[str, float]
    unavailable: Mapping[str, str] = field(default_factory=dict)

    @property
    def launch(self) -> str:
        """``softmax float16 rows=4096 columns=1024``."""
        return launch_name(self.kernel, self.dtype, self.sizes)


def launch_name(kernel: str, dtype: str, sizes: str) -> str:
    """What people and asv call a kernel at sizes and a dtype: ``softmax float16 rows=4096 columns=1024``."""
    return " ".join(filter(None, (kernel, dtype, sizes)))


def read_work(stored: Mapping[str, Any]) -> Work:
    """Work from its fields, as :func:`dataclasses.asdict` gives them and JSON keeps them.

    Raises:
        KeyError, TypeError, ValueError: It has another form.
    """
    bound = stored["bound"]
    if bound not in ("memory", "compute"):
        raise ValueError(f"{bound!r} bounds no kernel")
    amounts = {name: stored[name] for name in ("bytes_moved", "bytes_requested", "flops")}
    for name, amount in amounts.items():
        if not 0 <= amount < _MOST:
            raise ValueError(f"{name} is {amount!r:.40}")
    return Work(**{name: int(amount) for name, amount in amounts.items()}, bound=bound)


def read_times(stored: Mapping[str, Any]) -> KernelTimes:
    """Times from their fields, likewise.

    Raises:
        KeyError, TypeError, ValueError: They have another form.
        ResultsError: They have no sample, or one that is no time, or another number of the rival's, or a roof that
            is no rate.
    """
    texts = {name: str(stored[name]) for name in ("kernel", "sizes", "dtype", "gpu", "target", "rival")}
    times = KernelTimes(
        **texts,
        work=read_work(stored["work"]),
        config=tuple(map(str, stored["config"])),
        samples=tuple(map(_sample, stored["samples"])),
        rival_samples=tuple(map(_sample, stored["rival_samples"])),
        copy_bytes_per_s=None if stored["copy_bytes_per_s"] is None else float(stored["copy_bytes_per_s"]),
        matmul_flops_per_s={str(dtype): float(rate) for dtype, rate in stored["matmul_flops_per_s"].items()},
        unavailable={str(what): str(why) for what, why in stored["unavailable"].items()},
    )
    count, rivals = len(times.samples), len(times.rival_samples)
    if not count or rivals not in (0, count):
        raise ResultsError(f"{times.launch} has {count} samples, and {rivals} of its rival")
    for sample in (*times.samples, *times.rival_samples):
        if not 0 < sample.seconds < math.inf:
            raise ResultsError(f"{times.launch} has a sample of {sample.seconds} s")
    rates = (times.copy_bytes_per_s, *times.matmul_flops_per_s.values())
    for rate in rates:
        if rate is not None and not 0 < rate < math.inf:
            raise ResultsError(f"{times.launch} has a roof of {rate}")
    return times


def _sample(stored: Mapping[str, Any]) -> Sample:
    clock, throttled = stored["sm_clock_mhz"], stored["throttled"]
    return Sample(
        float(stored["seconds"]),
        bool(stored["queued"]),
        None if clock is None else float(clock),
        None if throttled is None else str(throttled),
    )
