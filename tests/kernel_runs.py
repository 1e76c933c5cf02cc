"""Made-up runs of kernels: what was compiled of them, and what timing them told."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from compilations import rows, told
from examples import run

from pcbench.analysis.codegen_rows import CodegenRow
from pcbench.analysis.records import Absence, Case, Run
from pcbench.kernel_samples import KernelTimes, Sample, Work, launch_name

H200 = "NVIDIA H200"
SIZES = "rows=4096 columns=1024"
NO_GPU = "this machine has no GPU that torch can use"
MOVING = Work(bytes_moved=4_800_000_000, bytes_requested=9_600_000_000, flops=12_000_000_000, bound="memory")
"""1 ms of an H200's memory, 2 ms if nothing is cached."""
COMPUTING = Work(bytes_moved=480_000_000, bytes_requested=4_800_000_000, flops=989_400_000_000, bound="compute")
"""1 ms of an H200's tensor cores in float16, whether anything is cached or not."""


def compiled(
    kernel: str = "softmax", target: str = "sm_90", work: Work | None = MOVING, **changed: Any
) -> tuple[CodegenRow, ...]:
    """A launch of one function."""
    (made,) = rows(told(kernel=kernel, target=target, **changed))
    return (replace(made, work=work),)


def samples(
    times_s: Sequence[float], clock: float | None = 1980.0, throttled: str | None = "", queued: bool = True
) -> tuple[Sample, ...]:
    return tuple(Sample(time, queued, clock, throttled) for time in times_s)


def times(
    kernel: str = "softmax",
    times_s: Sequence[float] = (1.25e-3,) * 9,
    rival_s: Sequence[float] = (),
    work: Work = MOVING,
    **changed: Any,
) -> KernelTimes:
    """Timed on an H200 whose copy reaches 4 TB/s and whose float16 matmul reaches 800 TFLOP/s.

    Args:
        rival_s: The rival's; of 2.5 ms each where none are given.
    """
    own = changed.pop("samples", samples(times_s))
    made = KernelTimes(
        kernel=kernel,
        sizes=SIZES,
        dtype="float16",
        gpu=H200,
        target="sm_90",
        work=work,
        config=(),
        samples=own,
        rival=f"torch.{kernel}",
        rival_samples=samples(rival_s or (2.5e-3,) * len(own)),
        copy_bytes_per_s=4e12,
        matmul_flops_per_s={"float16": 800e12},
    )
    return replace(made, **changed)


def kernels_run(
    number: int,
    built: Sequence[tuple[CodegenRow, ...]] = (),
    timed: Sequence[KernelTimes] = (),
    unmeasured: Mapping[str, str] | None = None,
    **more: Any,
) -> Run:
    """A run with what was compiled and timed; ``unmeasured`` is why a launch was not."""
    absences = {
        Case("bench_kernels.Times.track_seconds", (("launch", launch),)): Absence("UNAVAILABLE", why)
        for launch, why in (unmeasured or {}).items()
    }
    codegen: dict[tuple[str, str], tuple[CodegenRow, ...]] = {}
    for launch in built:
        key = launch[0].key
        codegen[key.kernel, key.target] = (*codegen.get((key.kernel, key.target), ()), *launch)
    return replace(run(number, {}, absences, **more), codegen=codegen, kernel_times={one.launch: one for one in timed})


def without_gpu(number: int, kernels: Sequence[str], targets: Sequence[str] = ("sm_90", "sm_100")) -> Run:
    """Kernels compiled for targets on a machine without a GPU, from 0.1 to hundreds of operations a byte."""
    built, why = [], {}
    for place, kernel in enumerate(kernels):
        work = COMPUTING if kernel.startswith("matmul") else replace(MOVING, flops=MOVING.flops * (1 + place % 4))
        built += [compiled(kernel, target, work) for target in targets]
        why[launch_name(kernel, "float16", SIZES)] = NO_GPU
    return kernels_run(number, built, unmeasured=why)


def with_gpu(number: int, kernels: Sequence[str]) -> Run:
    """The same with an H200: memory-bound kernels at 0.96 of the copy's roof, the rest at 0.88 of the matmul's."""
    made = without_gpu(number, kernels)
    works = {kernel: launch[0].work for (kernel, _), launch in made.codegen.items()}
    timed = [
        times(kernel, (1.25e-3 if work.bound == "memory" else 1.4e-3,) * 9, work=work)
        for kernel, work in works.items()
        if work is not None
    ]
    return replace(made, kernel_times={one.launch: one for one in timed}, absences={})
