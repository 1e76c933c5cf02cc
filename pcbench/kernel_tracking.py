"""The asv benchmarks of kernels on a GPU: seconds of a launch, and of torch's own for the same. Needs no torch.

One process gives both, and all else that it told goes into the result's sidecar. Where there is no GPU, one process
says so for all launches of a run.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from pcbench import checkout, kernel_asking
from pcbench.asking import Setting
from pcbench.kernel_asking import NoTimesError
from pcbench.kernel_samples import KernelTimes, read_times
from pcbench.sample_store import Absent
from pcbench.status import Status
from pcbench.taken_once import taken_once
from pcbench.tracked import AsvValue, refuse_unknown_kernel, samples_of, tell

_LIMIT_S = 1200.0  # every configuration of a tuned kernel is compiled, and tried


def kernel_seconds(launch: str, count: int) -> AsvValue:
    """Seconds of one launch, such as ``softmax float16 rows=4096 columns=1024``; so many samples of one process."""

    def measure() -> list[float]:
        return [sample.seconds for sample in _times(launch, "kernel", count).samples]

    return samples_of((launch,), measure)


def rival_seconds(launch: str, count: int) -> AsvValue:
    """Seconds that torch's own takes for the same, each sample beside the kernel's of the same place."""

    def measure() -> list[float]:
        times = _times(launch, "rival", count)
        if not times.rival_samples:
            raise Absent(Status.UNAVAILABLE, times.unavailable.get("rival"))
        return [sample.seconds for sample in times.rival_samples]

    return samples_of((launch,), measure)


def _times(launch: str, use: str, count: int) -> KernelTimes:
    """What a process tells of a launch, once for both uses.

    Raises:
        Absent: This commit has no such kernel, there is no GPU, or the launch has no time.
    """
    refuse_unknown_kernel(launch.partition(" ")[0])
    setting = Setting("", timeout_s=_LIMIT_S, cwd=checkout.root())
    taken_once("gpu", f"{use} of {launch}", lambda: kernel_asking.gpu(setting))
    return read_times(taken_once(f"kernel-times-{launch}", use, lambda: _taken(setting, launch, count)))


def _taken(setting: Setting, launch: str, count: int) -> dict[str, Any]:
    """New times, also for the sidecar."""
    kernel, dtype, sizes = launch.split(" ", 2)
    try:
        times = asdict(kernel_asking.timed(setting, kernel, dtype, sizes, count))
    except NoTimesError as error:
        raise Absent(error.status, error.problem) from error
    tell((launch,), "kernel_times", times)
    return times
