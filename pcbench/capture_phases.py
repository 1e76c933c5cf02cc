"""A capture split into phases by torch's own timers, as they start and end: nested spans are told apart exactly.

Each timer of torch's (``dynamo_timed``) tells an event log when it starts and ends. The log's two methods are wrapped
while a capture runs, and every moment goes to the innermost span that names a phase. Spans of other threads do not
count: the thread that captures waits for them in a span of its own.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import wraps
from typing import Any

from pcbench import torch_api
from pcbench.errors import UnavailableError
from pcbench.samples import CapturePhases

_PHASES = ("dynamo_s", "aot_autograd_s", "inductor_s", "compile_s")
"""By torch's timers, from the outside in: what one of them does not know is in the one before."""

_OTHER, _SERIALISE = "other_s", "serialise_s"

# A span that is not named here belongs to the phase that it lies in.
_SPANS = {
    "dynamo": "dynamo_s",
    "entire_frame_compile": "dynamo_s",
    "bytecode_tracing": "dynamo_s",
    "build_guards": "dynamo_s",
    "create_aot_dispatcher_function": "aot_autograd_s",
    "aot_collect_metadata": "aot_autograd_s",
    "aot_trace_joint_graph": "aot_autograd_s",
    "entire_backward_compile": "aot_autograd_s",
    "AOTAutogradCache.inductor_load": "aot_autograd_s",
    "min_cut_rematerialization_partition": "aot_autograd_s",
    "compile_fx_aot": "inductor_s",
    "compile_fx.<locals>.fw_compiler_base": "inductor_s",
    "compile_fx.<locals>.bw_compiler": "inductor_s",
    "_recursive_pre_grad_passes": "inductor_s",
    "_recursive_joint_graph_passes": "inductor_s",
    "_recursive_post_grad_passes": "inductor_s",
    "inductor_compile": "inductor_s",
    "fx_codegen_and_compile": "inductor_s",
    "code_gen": "inductor_s",
    "PyCodeCache.load_by_key_path": "inductor_s",
    "inductor_codecache_torch_key": "inductor_s",
    "CacheBase.get_system.triton_key": "inductor_s",
    "AotCodeCompiler.compile": "compile_s",
    "compile_file": "compile_s",
    "cpp_wrapper_compile": "compile_s",
    "aoti_precompile_header": "compile_s",
    "aoti_compile_fatbin": "compile_s",
    "async_compile.wait": "compile_s",
    "async_compile.precompile": "compile_s",
    "reload_kernel_in_parent": "compile_s",
    "StaticAutotunerFuture.warm_precompile": "compile_s",
    "CachingAutotuner.slow_precompile_config": "compile_s",
    "aoti_serialize_constants": _SERIALISE,
    "CompiledArtifact.save": _SERIALISE,
    # Both hold whole other phases. What is left of them is mostly the import of Inductor, a second or two.
    "backend_compile": _OTHER,
    "fullgraph_capture": _OTHER,
}
_SPAN_STARTS = {"compile_attempt_": "dynamo_s"}


class Timeline:
    """Seconds of one thread by phase, out of spans that start and end in it."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self.spent_s: dict[str, float] = {}
        self.lacking: str | None = None
        self._clock = clock
        self._thread = threading.get_ident()
        self._open: list[tuple[str, str]] = []
        self._since = clock()

    def start(self, span: str) -> None:
        """A span starts."""
        if threading.get_ident() == self._thread:
            inside = self._now()
            self._open.append((span, _phase_of(span) or inside))

    def end(self, span: str) -> None:
        """A span ends, and with it those inside that never did: torch forgets some when a compile is given up."""
        if threading.get_ident() == self._thread and any(name == span for name, _ in self._open):
            self._now()
            while self._open.pop()[0] != span:
                pass

    def _now(self) -> str:
        """The phase of the innermost span, which gets the time since the last event."""
        phase = self._open[-1][1] if self._open else _OTHER
        now = self._clock()
        self.spent_s[phase] = self.spent_s.get(phase, 0.0) + now - self._since
        self._since = now
        return phase


def _phase_of(span: str) -> str | None:
    starts = (phase for start, phase in _SPAN_STARTS.items() if span.startswith(start))
    return _SPANS.get(span) or next(starts, None)


@contextmanager
def timed() -> Iterator[Timeline]:
    """Follow torch's timers in this thread. Dynamo is imported for it, before the body runs."""
    timeline = Timeline()
    try:
        log = torch_api.get("event_log")
        started, ended = log.log_event_start, log.log_event_end
    except (UnavailableError, AttributeError) as error:
        timeline.lacking = f"torch {torch_api.version()} has no event log that timers tell: {error}"
        yield timeline
        return
    log.log_event_start, log.log_event_end = _told(started, timeline.start), _told(ended, timeline.end)
    try:
        yield timeline
    finally:
        log.log_event_start, log.log_event_end = started, ended


def _told(method: Callable[..., Any], tell: Callable[[str], None]) -> Callable[..., Any]:
    @wraps(method)
    def wrapper(log: Any, event_name: str, *args: Any, **kwargs: Any) -> Any:
        tell(event_name)
        return method(log, event_name, *args, **kwargs)

    return wrapper


def phases(timeline: Timeline, capture_s: float, save_s: float, took_part: Mapping[str, bool]) -> CapturePhases:
    """The phases of a capture that the timeline followed, and of its save; where all are known they add up to both.

    Args:
        timeline: Of the capture alone.
        capture_s, save_s: Wall seconds.
        took_part: Phase to whether something else shows that it took place, such as a compiler that was started. A
            timer that saw nothing of it is one that this torch does not use.
    """
    unknown: dict[str, str] = {}
    for phase in _PHASES:
        reason = timeline.lacking or torch_api.lacking_word(phase)
        if reason is None and took_part.get(phase) and not timeline.spent_s.get(phase):
            reason = f"it took part, and no timer of torch {torch_api.version()} says how long"
        if reason is not None:
            unknown[phase] = reason
    found = {phase: timeline.spent_s.get(phase, 0.0) for phase in _PHASES}
    serialised_s = timeline.spent_s.get(_SERIALISE, 0.0)
    timed_s = serialised_s + sum(found.values())
    found[_OTHER] = capture_s - timed_s
    if found[_OTHER] < 0:
        unknown[_OTHER] = f"torch's timers tell {timed_s:.6g} s, more than the {capture_s:.6g} s of the capture"
    for holder, phase in zip((_OTHER, *_PHASES[:-1]), _PHASES, strict=True):
        if phase in unknown and holder not in unknown:
            unknown[holder] = f"{phase} cannot be told from it: {unknown[phase]}"
    known = {phase: value for phase, value in found.items() if phase not in unknown}
    return CapturePhases(**known, serialise_s=serialised_s + save_s, unknown=unknown)
