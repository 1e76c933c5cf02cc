"""A kernel and its rival timed in turn."""

from __future__ import annotations

from pcbench.kernel_samples import Sample
from pcbench.kernel_timing.gpu import Gpu, timed_without_cpu
from pcbench.kernel_timing.launching import Launches

_WARM_S = 0.2
"""Of work for the GPU, which leaves its idle clock. Where power still pulls that down later, the samples say so."""


def in_pairs(
    gpu: Gpu, kernel: Launches, rival: Launches | None, pairs: int
) -> tuple[tuple[Sample, ...], tuple[Sample, ...]]:
    """Samples of a kernel and of its rival (or none).

    The two are run in turn for 0.2 s, then sampled in turn; every second pair runs backwards (A B, B A).
    """
    both = [kernel] if rival is None else [kernel, rival]
    worked_s = 0.0
    while worked_s < _WARM_S:
        worked_s += sum(gpu.timed(each.run, 0.0).seconds for each in both)
    taken: list[list[Sample]] = [[] for _ in both]
    for pair in range(pairs):
        for which in range(len(both)) if pair % 2 == 0 else reversed(range(len(both))):
            launches = both[which]
            timing, _ = timed_without_cpu(gpu, launches.run, launches.lead_s)
            seconds = timing.seconds / launches.count
            taken[which].append(Sample(seconds, timing.queued, timing.sm_clock_mhz, timing.throttled))
    return tuple(taken[0]), tuple(taken[1]) if rival is not None else ()
