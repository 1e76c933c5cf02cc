"""A kernel and its rival timed in turn."""

from __future__ import annotations

from pcbench.kernel_samples import Sample
from pcbench.kernel_timing.gpu import Gpu, timed_without_cpu
from pcbench.kernel_timing.launching import Launches

_WARM_S = 0.2
"""Of work for the GPU: by then its clock has risen to where the work keeps it."""

WITH_CPU = "the GPU had to wait for the CPU in {count} of {all} samples, whose time is longer by that"


def in_pairs(
    gpu: Gpu, kernel: Launches, rival: Launches | None, pairs: int
) -> tuple[tuple[Sample, ...], tuple[Sample, ...], int]:
    """Samples of a kernel and of its rival (or none), and how many of all have time of the CPU's in them.

    The two are run in turn until the GPU is warm, then sampled in turn; every second pair runs backwards (A B, B A).
    """
    both = [kernel] if rival is None else [kernel, rival]
    worked_s = 0.0
    while worked_s < _WARM_S:
        worked_s += sum(gpu.timed(each.run, 0.0).seconds for each in both)
    taken: list[list[Sample]] = [[] for _ in both]
    with_cpu = 0
    for pair in range(pairs):
        for which in range(len(both)) if pair % 2 == 0 else reversed(range(len(both))):
            launches = both[which]
            timing, _ = timed_without_cpu(gpu, launches.run, launches.lead_s)
            with_cpu += not timing.queued
            seconds = timing.seconds / launches.count
            taken[which].append(Sample(seconds, timing.sm_clock_mhz, timing.throttled))
    return tuple(taken[0]), tuple(taken[1]) if rival is not None else (), with_cpu
