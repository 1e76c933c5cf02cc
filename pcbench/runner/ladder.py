"""What a measured process does to load: up to the first output, a second time, other shapes, later calls."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import torch
from torch import nn

from pcbench import targets, timing
from pcbench.models import Model
from pcbench.runner import artifact, bundled
from pcbench.runner.artifact import Artifact
from pcbench.runner.recompiling import CompileWatch
from pcbench.runner.stages import Emit, Request, StageFailedError, stage, strategy_of
from pcbench.runner.verification import require_agreement, require_same
from pcbench.samples import BUNDLED, EAGER
from pcbench.status import Status
from pcbench.strategies import Runner, Strategy


def load(request: Request, clock: timing.PhaseClock, emit: Emit) -> None:
    """Load, call once, check the answer, and emit the sample; then what else was asked for.

    What reads the artifact to check it, makes inputs or compares answers is not on the clock.
    """
    opened = None
    if request.artifact is not None:
        with stage(emit, "the manifest", Status.LOAD_FAILED):
            opened = artifact.opened(Path(request.artifact), trust=request.trust)
    cwd = Path(request.cwd)
    with clock.phase("import_other_s"):
        with stage(emit, "the imports", Status.LOAD_FAILED):
            strategy = None if request.strategy == EAGER else strategy_of(request)
        needs_model = strategy is None or strategy.weights == "passed"
        # An answer made of a model library's dataclasses needs that library, wherever the weights are.
        needs_module = needs_model or (opened is not None and bool(opened.manifest.dataclasses))
        definition = targets.find(request.target, cwd) if needs_module else None
    definition = definition or targets.find(request.target, cwd)
    if request.state is not None:
        definition = targets.with_state(definition, Path(request.state))
    with torch.set_grad_enabled(definition.grad):
        if opened is not None:
            with stage(emit, "the manifest", Status.LOAD_FAILED):
                artifact.require_here(opened, request.strategy)
        watch = CompileWatch(clock)
        emit({"stage": "building the model"})
        model = nn.Module()
        if needs_model:
            model = _timed_build(definition, clock)
            require_same(request, definition, model, opened)
        runner, output = _first_output(clock, emit, opened, strategy, model, definition, request.temperature)
        rss, elapsed_s = timing.peak_rss_bytes(), time.monotonic() - clock.started
        if not needs_model:
            model = targets.build(definition)
            require_same(request, definition, model, opened)
        require_agreement(request, emit, definition, model, output)
        emit({"sample": _sample(strategy, request.temperature, watch, rss, elapsed_s)})
        if request.hot:
            watch = CompileWatch()
            emit({"stage": "hot load: building the model"})
            if needs_model:
                model = _timed_build(definition, watch.clock)
            runner, output = _first_output(watch.clock, emit, opened, strategy, model, definition, "hot")
            require_agreement(request, emit, definition, model, output)
            emit({"sample": _sample(strategy, "hot", watch, None, None)})
        if request.calls:
            _later_calls(request, emit, definition, model, runner)
        if request.shapes:
            for name in definition.shapes:
                emit({"shape": _shape(request, emit, definition, model, runner, name)})


def _timed_build(definition: Model, clock: timing.PhaseClock) -> nn.Module:
    with clock.phase("model_s"):
        return targets.build(definition)


def _first_output(
    clock: timing.PhaseClock,
    emit: Emit,
    opened: Artifact | None,
    strategy: Strategy | None,
    model: nn.Module,
    definition: Model,
    temperature: str,
) -> tuple[Runner, Any]:
    """The runner (eager's is the model) and its first output, both on the clock; making inputs is not."""
    args, kwargs = targets.inputs(definition)
    named = "hot " if temperature == "hot" else ""
    with stage(emit, f"{named}load", Status.LOAD_FAILED), clock.phase("load_s"):
        if strategy is None or opened is None:
            runner: Runner = model
        elif opened.manifest.caches is not None and temperature == BUNDLED:
            runner = bundled.load(opened, strategy, model)
        else:
            runner = strategy.load(opened.payload, model)
    with stage(emit, f"{named}first call", Status.LOAD_FAILED), clock.phase("first_call_s"):
        output = runner(*args, **kwargs)
    return runner, output


def _shape(
    request: Request, emit: Emit, definition: Model, model: nn.Module, runner: Runner, name: str
) -> dict[str, Any]:
    """One call with inputs of another shape: its seconds and recompiles, or why it gave no right answer."""
    args, kwargs = targets.inputs(definition, name)
    watch = CompileWatch()
    try:
        with stage(emit, f"shape {name}", Status.LOAD_FAILED), watch.clock.phase("call_s"):
            output = runner(*args, **kwargs)
        recompiles = watch.recompiles
        require_agreement(request, emit, definition, model, output, shape=name)
    except StageFailedError as failed:
        return {"name": name, "status": failed.status, "reason": failed.problem}
    return {
        "name": name,
        "status": Status.OK,
        "call_s": watch.clock.wall_s["call_s"],
        "recompiles": recompiles,
        "compiler_processes": watch.clock.compilers,
    }


def _later_calls(request: Request, emit: Emit, definition: Model, model: nn.Module, runner: Runner) -> None:
    """Time calls in turn with eager's, and check that nothing compiled meanwhile and the last answers are right.

    Where a backward is part of the call, two calls at the end must add up as eager's do.
    """
    args, kwargs = targets.inputs(definition)
    watch = CompileWatch()
    with stage(emit, "a later call", Status.LOAD_FAILED), watch.clock.phase("calls_s"):
        ours, eagers = timing.interleaved(lambda: runner(*args, **kwargs), lambda: model(*args, **kwargs))
    model.zero_grad(set_to_none=True)
    output, count = None, 2 if definition.grad else 1
    for _ in range(count):
        args, kwargs = targets.inputs(definition)
        with stage(emit, "a later call", Status.LOAD_FAILED):
            output = runner(*args, **kwargs)
    require_agreement(request, emit, definition, model, output, calls=count)
    again = None if request.strategy == EAGER else watch.compiled()
    if again is not None:
        raise StageFailedError(Status.DEGRADED_TO_JIT, f"in a later call {again}")
    emit({"calls": {"call_s": ours, "eager_call_s": eagers}})


def _sample(
    strategy: Strategy | None, temperature: str, watch: CompileWatch, rss: int | None, elapsed_s: float | None
) -> dict[str, Any]:
    again = None if strategy is None or temperature == "cold" else watch.compiled(retraces=strategy.retraces)
    return {
        "temperature": temperature,
        "phases": watch.clock.wall_s,
        "cpu_s": watch.clock.cpu_s,
        "peak_rss_bytes": rss,
        "compiler_processes": watch.clock.compilers,
        "status": Status.OK if again is None else Status.DEGRADED_TO_JIT,
        "elapsed_s": elapsed_s,
        "again": again,
    }
