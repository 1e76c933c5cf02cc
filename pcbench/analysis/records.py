"""What was measured, on what, and what could not be: the records that reports and gate read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from pathlib import Path
from typing import Literal

from pcbench.analysis.codegen_rows import CodegenRow
from pcbench.claims import ClaimResult
from pcbench.guard_samples import Census
from pcbench.kernel_samples import KernelTimes

LEFT_OUT = "LEFT_OUT"
"""The status of a case that a night left out on purpose, for its budget."""

Worse = Literal["up", "down", "any"]
Kind = Literal["time", "count", "bytes", "memory", "instructions", "number"]


class Verdict(StrEnum):
    """What became of a case from baseline to candidate. Only SAME and FASTER mean that all is well."""

    SAME = "SAME"
    """No change beyond the threshold, and enough evidence to say so."""
    FASTER = "FASTER"
    """It changed in the direction that is better: less time, fewer bytes, a better count."""
    SLOWER = "SLOWER"
    """It changed in the direction that is worse."""
    CHANGED = "CHANGED"
    """An exact value differs, and no direction of it is declared worse."""
    INCONCLUSIVE = "INCONCLUSIVE"
    """The evidence allows neither."""
    NEW = "NEW"
    """It has no baseline yet."""
    MISSING = "MISSING"
    """It had a baseline, and the candidate has no number of it."""
    FAILED = "FAILED"
    """Its benchmark failed in the candidate."""
    UNJUDGED = "UNJUDGED"
    """Both have it, and they cannot be compared: another machine, torch, GPU or number of threads."""
    HOST = "HOST"
    """The machine changed between the two, so that nothing is said of the code."""


@dataclass(frozen=True)
class Case:
    """One benchmark at one combination of its parameters.

    Attributes:
        benchmark: asv's name, for example ``bench_load.Load.track_first_output``.
        params: (name, value) in the benchmark's order; strings without the quotes that asv stores them with.
    """

    benchmark: str
    params: tuple[tuple[str, str], ...] = ()

    def __str__(self) -> str:
        return f"{self.benchmark}({', '.join(value for _, value in self.params)})" if self.params else self.benchmark

    def param(self, name: str) -> str | None:
        """The value of a parameter, or None where the benchmark has none of that name."""
        return dict(self.params).get(name)

    def without(self, name: str) -> Case:
        """The case without one parameter: what the cases that differ in it alone have in common."""
        return Case(self.benchmark, tuple(pair for pair in self.params if pair[0] != name))


@dataclass(frozen=True, slots=True)
class Measurement:
    """A number that asv stored.

    Attributes:
        value: The median of the samples, or the number itself, in ``unit``.
        samples: In ``unit``; None where asv was not asked to record them.
        low, high: Quartiles of the samples; None where there is one sample.
        n: Number of samples; None for a plain number, such as a count.
        worse: The direction that is worse; ``any`` where none is declared.
        kind: What it is: a time, an exact count, bytes, peak memory, instructions, or any other number.
        codegen: Which number of a kernel's machine code it is, such as ``spills``; empty where it is none.
    """

    value: float
    unit: str
    samples: tuple[float, ...] | None = None
    low: float | None = None
    high: float | None = None
    n: int | None = None
    worse: Worse = "any"
    kind: Kind = "number"
    codegen: str = ""


@dataclass(frozen=True)
class Absence:
    """Why a case has no number.

    Attributes:
        status: ``n/a`` (the benchmark said that it does not apply), ``failed``, or what the run's sidecar says.
        reason: One sentence, or None where nothing recorded it.
    """

    status: str
    reason: str | None = None

    @property
    def not_measured(self) -> bool:
        """Whether the run left the case out: asv writes the same ``n/a`` for what ``--bench`` did not select."""
        return self.status == LEFT_OUT or (self.status == "n/a" and self.reason is None)


@dataclass(frozen=True)
class Machine:
    """The machine as asv's machine file describes it; None where the file does not say."""

    name: str
    cpu: str | None = None
    num_cpu: str | None = None
    arch: str | None = None
    os: str | None = None
    ram: str | None = None
    gpu: str | None = None


@dataclass(frozen=True)
class Context:
    """What asv does not record of a run: the sidecar's first line. None where it does not say.

    Attributes:
        load_average: Processes that wanted a CPU over the last minute, when measuring began.
    """

    commit: str
    environment: str
    torch: str | None = None
    torch_git: str | None = None
    triton: str | None = None
    python: str | None = None
    threads: int | None = None
    isa: str | None = None
    gpu: str | None = None
    driver: str | None = None
    profile: str | None = None
    flags: Mapping[str, str] = field(default_factory=dict)
    compiler: str | None = None
    load_average: float | None = None


@dataclass(frozen=True)
class Run:
    """One commit measured in one environment on one machine.

    Attributes:
        date: The commit's date.
        environment: asv's name of it.
        context: None where the result has no sidecar: what it ran on is unknown.
        measurements, absences: Every case of the suite that the run holds is in exactly one of them.
        left_out: Benchmark to the reason why its result is no part of the series, such as another version.
        claims: A document's claim, by its id, to what became of it.
        censuses: A model to the census of its guards.
        codegen: A kernel and a target to what the compiler made of it.
        kernel_times: A launch, as ``softmax float16 rows=4096 columns=1024``, to what timing it on a GPU told.
    """

    commit: str
    date: datetime
    environment: str
    machine: Machine
    context: Context | None
    measurements: Mapping[Case, Measurement]
    absences: Mapping[Case, Absence] = field(default_factory=dict)
    left_out: Mapping[str, str] = field(default_factory=dict)
    claims: Mapping[str, ClaimResult] = field(default_factory=dict)
    censuses: Mapping[str, Census] = field(default_factory=dict)
    codegen: Mapping[tuple[str, str], tuple[CodegenRow, ...]] = field(default_factory=dict)
    kernel_times: Mapping[str, KernelTimes] = field(default_factory=dict)


@dataclass(frozen=True)
class Problem:
    """A file in a results folder, and what of it could not be read."""

    path: Path
    what: str


@dataclass(frozen=True)
class Results:
    """A results folder: its runs by commit date, and what could not be read."""

    runs: tuple[Run, ...]
    problems: tuple[Problem, ...] = ()
