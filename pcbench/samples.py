"""The records that a measured process gives: captures and load samples. Shared by both halves; needs no torch."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any

from pcbench.status import Status

BUNDLED = "bundled"
TEMPERATURES = ("cold", BUNDLED, "warm", "hot")
"""Of loads, coldest first. bundled: a fresh process with empty caches, and those that the artifact carries."""
USUAL_TEMPERATURES = ("cold", "warm", "hot")
EAGER = "eager"


@dataclass(frozen=True)
class Phases:
    """Seconds from the start of a process to the first output, in order; a hot load has only the last two."""

    interpreter_s: float = 0.0
    import_torch_s: float = 0.0
    import_other_s: float = 0.0
    model_s: float = 0.0
    load_s: float = 0.0
    first_call_s: float = 0.0

    @property
    def total_s(self) -> float:
        return sum((getattr(self, phase.name) for phase in fields(self)), 0.0)


@dataclass(frozen=True)
class LoadSample:
    """One load in one process.

    Attributes:
        temperature: ``cold`` (empty compiler caches), ``warm`` (the capture's caches) or ``hot`` (a second load).
        phases: Wall seconds by phase.
        cpu_s: CPU seconds of the same phases, children included.
        peak_rss_bytes: Peak resident memory of the process at its first output; None for a hot load, before which the
            process has done more than load.
        compiler_processes: Compilers that the process started (``g++`` and the like, its ISA probe included).
        status: OK, or DEGRADED_TO_JIT when it compiled although it had the capture's caches.
        elapsed_s: Wall seconds from the start of the process to its first output, with what is in no phase, such as
            the check of the artifact; None for a hot load.
    """

    temperature: str
    phases: Phases
    cpu_s: float
    peak_rss_bytes: int | None
    compiler_processes: int
    status: Status = Status.OK
    elapsed_s: float | None = None


@dataclass(frozen=True)
class ShapeCall:
    """One call of a loaded runner with inputs of another shape than the captured one.

    Attributes:
        name: The model's name for the shape.
        call_s: Wall seconds of this first call with it; None where it gave no right answer.
        recompiles: Frames that Dynamo traced in the call; ``compiler_processes`` the compilers that it started.
    """

    name: str
    status: Status
    reason: str | None = None
    call_s: float | None = None
    recompiles: int | None = None
    compiler_processes: int | None = None


@dataclass(frozen=True)
class Outcome:
    """What a load process gave: its samples and paired calls, or why there are none.

    Attributes:
        status: OK, or what went wrong; ``samples`` are those that were good before it did.
        shapes: A call per extra shape of the model, where they were asked for; ``status`` does not speak of them.
        call_s: Seconds per later call of the loaded runner; ``eager_call_s`` was taken in turn with it, pair by pair.
    """

    status: Status
    reason: str | None = None
    samples: tuple[LoadSample, ...] = ()
    call_s: tuple[float, ...] = ()
    eager_call_s: tuple[float, ...] = ()
    shapes: tuple[ShapeCall, ...] = ()


@dataclass(frozen=True)
class CapturePhases:
    """Wall seconds of a capture and its save, by torch's own timers; each second is in one phase, the innermost.

    Attributes:
        dynamo_s: Dynamo's tracing and guards.
        aot_autograd_s: AOTAutograd, whoever calls it: export's decompositions do.
        inductor_s: Inductor's passes, lowering, scheduling, code generation and cache keys.
        compile_s: C++ and Triton compilers, and waiting for those at work elsewhere; Inductor's search for the
            instruction set and its precompiled headers are among them.
        serialise_s: The save, and what torch times as serialising during the capture.
        other_s: What has no timer: ``make_fx``, ``torch.export``, imports made on the way, the strategy itself.
        unknown: Phase to the reason why it is None: this torch lacks a timer, or the one that would tell it apart.
    """

    dynamo_s: float | None = None
    aot_autograd_s: float | None = None
    inductor_s: float | None = None
    compile_s: float | None = None
    serialise_s: float | None = None
    other_s: float | None = None
    unknown: Mapping[str, str] = field(default_factory=dict)


def _count(worse: str) -> Any:
    """A count; ``worse`` is the direction in which a change of it is one for the worse, ``any`` where none is."""
    return field(default=None, metadata={"worse": worse})


@dataclass(frozen=True)
class CaptureCounts:
    """What torch and the compilers did during a capture, counted; None where that is not known.

    A model's graph may grow or shrink for good reasons, and more kernels may be faster ones: such a change is to be
    looked at, whichever way it goes. What torch did again, gave up, compiled or found in no cache costs time; a hit
    that is gone is a cache that no longer serves.

    Attributes:
        graphs: Graphs that Dynamo, ``torch.export`` or precompile's ``make_fx`` captured; ``fx_nodes`` are their nodes.
        graph_breaks: Places where Dynamo gave up a graph.
        recompiles: Frames that Dynamo compiled again.
        generated_kernels: Kernels that Inductor generated, or found in its caches.
        compiler_builds: Compiler processes that built something; those that preprocess or tell a version do not count.
            Unknown where torch's compile workers, whose processes are not seen, may have built kernels.
        fxgraph_hits: Inductor's cache of graphs; ``bypasses`` are graphs that it cannot keep.
        aot_autograd_hits: AOTAutograd's cache; likewise.
        dynamo_hits: Dynamo's cache of caching_precompile.
        async_compile_hits: The cache of Triton kernels that compile workers share.
        unknown: Count to the reason why it is None.
    """

    graphs: int | None = _count("any")
    graph_breaks: int | None = _count("up")
    recompiles: int | None = _count("up")
    fx_nodes: int | None = _count("any")
    generated_kernels: int | None = _count("any")
    compiler_builds: int | None = _count("up")
    fxgraph_hits: int | None = _count("down")
    fxgraph_misses: int | None = _count("up")
    fxgraph_bypasses: int | None = _count("up")
    aot_autograd_hits: int | None = _count("down")
    aot_autograd_misses: int | None = _count("up")
    aot_autograd_bypasses: int | None = _count("up")
    dynamo_hits: int | None = _count("down")
    dynamo_misses: int | None = _count("up")
    async_compile_hits: int | None = _count("down")
    async_compile_misses: int | None = _count("up")
    unknown: Mapping[str, str] = field(default_factory=dict)


CAPTURE_PHASES = tuple(each.name for each in fields(CapturePhases) if each.name != "unknown")
WORSE_BY_COUNT: Mapping[str, str] = {
    each.name: each.metadata["worse"] for each in fields(CaptureCounts) if each.name != "unknown"
}
CAPTURE_COUNTS = tuple(WORSE_BY_COUNT)


@dataclass(frozen=True)
class Capture:
    """What a capture process gave.

    Attributes:
        weights: ``baked`` or ``passed``, as the strategy states.
        capture_s, save_s: Wall seconds; ``cpu_s`` their CPU seconds together, children included. torch, Dynamo and what
            the strategy loads with were imported before: a process pays for those once, however much it captures.
            What else torch imports on the way, Inductor's passes say, is within.
        artifact_bytes: Bytes of all files of the artifact.
        phases: Where ``capture_s`` and ``save_s`` went, as their parts; ``counts`` what was done in ``capture_s``.
    """

    status: Status
    reason: str | None = None
    weights: str | None = None
    capture_s: float | None = None
    save_s: float | None = None
    cpu_s: float | None = None
    peak_rss_bytes: int | None = None
    compiler_processes: int | None = None
    artifact_bytes: int | None = None
    phases: CapturePhases | None = None
    counts: CaptureCounts | None = None

    @property
    def total_s(self) -> float:
        """Seconds of capture and save.

        Raises:
            ValueError: The capture failed, so there are none.
        """
        if self.capture_s is None or self.save_s is None:
            raise ValueError(f"a capture that is {self.status} has no time")
        return self.capture_s + self.save_s


def read_capture(stored: Mapping[str, Any]) -> Capture:
    """The capture whose ``dataclasses.asdict`` went through JSON."""
    known = dict(stored)
    phases, counts = known.pop("phases", None), known.pop("counts", None)
    return Capture(
        Status(known.pop("status")),
        phases=None if phases is None else CapturePhases(**phases),
        counts=None if counts is None else CaptureCounts(**counts),
        **known,
    )
