"""What a measured process does: capture and save a model, or load an artifact up to its first output and beyond."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import nn

from pcbench import discovery, timing, torch_api
from pcbench.errors import ExtensionError, PcbenchError, UsageError
from pcbench.models import Model
from pcbench.runner import agreement, artifact, targets
from pcbench.runner.artifact import Artifact
from pcbench.samples import EAGER
from pcbench.status import Status
from pcbench.strategies import Runner, Strategy, one_line

Emit = Callable[[dict[str, Any]], None]


class StageFailedError(PcbenchError):
    """A stage of a sample failed; the status says which kind of failure that is."""

    def __init__(self, status: Status, reason: str) -> None:
        super().__init__(reason)
        self.status = status


@dataclass(frozen=True)
class Request:
    """What a measured process was asked for."""

    target: str
    strategy: str
    threads: int
    cwd: str
    artifact: str | None = None
    temperature: str = "cold"
    hot: bool = False
    calls: bool = False


def capture(request: Request, clock: timing.PhaseClock, emit: Emit) -> None:
    """Capture and save; the times of both, and the artifact's size, are emitted. Imports are not on the clock."""
    with _stage(emit, "the imports", Status.CAPTURE_FAILED):
        strategy = _strategy(request.strategy)
        _import(strategy)
    definition = targets.find(request.target, Path(request.cwd))
    emit({"stage": "building the model"})
    model, (args, kwargs) = targets.build(definition), targets.inputs(definition)
    _require_same(request, definition, model, None)
    clock.cpu_s = 0.0
    with torch.no_grad():
        with _stage(emit, "the eager run", Status.CAPTURE_FAILED):
            description = artifact.describe(request.strategy, strategy, model, args, kwargs)
        with _stage(emit, "capture", Status.CAPTURE_FAILED), clock.phase("capture_s"):
            captured = artifact.capture(description, strategy, model, args, kwargs)
        with _stage(emit, "save", Status.SAVE_FAILED):
            saved = artifact.save(captured, Path(str(request.artifact)), clock.phase("save_s"))
    emit(
        {
            "capture": {
                "weights": strategy.weights,
                "capture_s": clock.wall_s["capture_s"],
                "save_s": clock.wall_s["save_s"],
                "cpu_s": clock.cpu_s,
                "peak_rss_bytes": timing.peak_rss_bytes(),
                "compiler_processes": clock.compilers,
                "artifact_bytes": sum(p.stat().st_size for p in saved.folder.rglob("*") if p.is_file()),
            }
        }
    )


def load(request: Request, clock: timing.PhaseClock, emit: Emit) -> None:
    """Load, call once, check the answer, and emit the sample; then a hot load and paired calls where asked for."""
    target, cwd = request.target, Path(request.cwd)
    with _stage(emit, "the imports", Status.LOAD_FAILED), clock.phase("import_other_s"):
        strategy = None if request.strategy == EAGER else _strategy(request.strategy)
        needs_model = strategy is None or strategy.weights == "passed"
        if strategy is not None:
            _import(strategy)
        definition = targets.find(target, cwd) if needs_model else None
    definition = definition or targets.find(target, cwd)
    with torch.no_grad():
        opened = _opened(request, strategy, emit)
        emit({"stage": "building the model"})
        model = nn.Module()
        if needs_model:
            model = _timed_build(definition, clock)
            _require_same(request, definition, model, opened)
        runner, output = _first_output(clock, emit, opened, strategy, model, definition)
        rss = timing.peak_rss_bytes()
        if not needs_model:
            model = targets.build(definition)
            _require_same(request, definition, model, opened)
        _check(request, emit, definition, model, output)
        emit({"sample": _sample(request, request.temperature, clock, rss)})
        if request.hot:
            again = timing.PhaseClock()
            emit({"stage": "hot load: building the model"})
            if needs_model:
                model = _timed_build(definition, again)
            runner, output = _first_output(again, emit, opened, strategy, model, definition, "hot ")
            _check(request, emit, definition, model, output)
            emit({"sample": _sample(request, "hot", again, None)})
        if request.calls:
            _later_calls(request, emit, definition, model, runner)


def probe(request: Request, clock: timing.PhaseClock, emit: Emit) -> None:  # noqa: ARG001  # one signature for all requests
    """Try the strategy, and emit the reason why it does not work here, or None, beside what it is."""
    with _stage(emit, "the probe", Status.CAPTURE_FAILED):
        strategy = _strategy(request.strategy)
        emit({"probe": {"reason": strategy.probe(), "summary": strategy.summary}})


def _strategy(name: str) -> Strategy:
    return discovery.load("pcbench.strategies", name, "STRATEGY", Strategy)


def _import(strategy: Strategy) -> None:
    for name in strategy.imports:
        torch_api.get(name)


def _timed_build(definition: Model, clock: timing.PhaseClock) -> nn.Module:
    with clock.phase("model_s"):
        return targets.build(definition)


def _opened(request: Request, strategy: Strategy | None, emit: Emit) -> Artifact | None:
    if strategy is None:
        return None
    with _stage(emit, "the manifest", Status.LOAD_FAILED):
        return artifact.open_checked(Path(str(request.artifact)), request.strategy)


def _first_output(
    clock: timing.PhaseClock,
    emit: Emit,
    opened: Artifact | None,
    strategy: Strategy | None,
    model: nn.Module,
    definition: Model,
    named: str = "",
) -> tuple[Runner, Any]:
    """The runner (eager's is the model) and its first output, both on the clock; making inputs is not."""
    args, kwargs = targets.inputs(definition)
    with _stage(emit, f"{named}load", Status.LOAD_FAILED), clock.phase("load_s"):
        runner = model if strategy is None or opened is None else strategy.load(opened.folder, model)
    with _stage(emit, f"{named}first call", Status.LOAD_FAILED), clock.phase("first_call_s"):
        output = runner(*args, **kwargs)
    return runner, output


def _later_calls(request: Request, emit: Emit, definition: Model, model: nn.Module, runner: Runner) -> None:
    """Time calls in turn with eager's, and check that nothing compiled meanwhile and the last answer is right."""
    args, kwargs = targets.inputs(definition)
    clock = timing.PhaseClock()
    with _stage(emit, "a later call", Status.LOAD_FAILED), clock.phase("calls_s"):
        ours, eagers = timing.interleaved(lambda: runner(*args, **kwargs), lambda: model(*args, **kwargs))
    args, kwargs = targets.inputs(definition)
    with _stage(emit, "a later call", Status.LOAD_FAILED):
        output = runner(*args, **kwargs)
    _check(request, emit, definition, model, output)
    if request.strategy != EAGER and _compiled(clock):
        raise StageFailedError(Status.DEGRADED_TO_JIT, "a later call compiled")
    emit({"calls": {"call_s": ours, "eager_call_s": eagers}})


def _check(request: Request, emit: Emit, definition: Model, model: nn.Module, output: Any) -> None:
    """Compare an output with eager's, on fresh inputs.

    Raises:
        StageFailedError: They differ, or cannot be compared.
        UsageError: The output holds no tensor, or eager does not agree with itself.
    """
    (args, kwargs), (more_args, more_kwargs) = targets.inputs(definition), targets.inputs(definition)
    with _stage(emit, "the comparison with eager", Status.LOAD_FAILED):
        expected = model(*args, **kwargs)
        agreement.require_tensors(expected)
        # Making inputs seeds torch's generator; eager's second answer follows its first without that.
        compared = model(*more_args, **more_kwargs) if request.strategy == EAGER else output
        differs = agreement.difference(expected, compared)
    if differs is not None and request.strategy == EAGER:
        itself = differs.replace("eager's", "its next")
        raise UsageError(
            f"{request.target} does not agree with itself in eager mode: {itself}",
            hint="call .eval() in build(), or take out what is random or counts calls",
        )
    if differs is not None:
        raise StageFailedError(Status.WRONG_RESULT, differs)


def _require_same(request: Request, definition: Model, model: nn.Module, opened: Artifact | None) -> None:
    """Check that a model that was just built, and its inputs, are those of the capture, and that threads are as asked.

    Raises:
        UsageError: They are not.
    """
    if torch.get_num_threads() != request.threads:
        raise UsageError(
            f"{request.target} sets torch's threads to {torch.get_num_threads()}, {request.threads} were asked for",
            hint="take torch.set_num_threads out of the model, and use --threads",
        )
    if opened is None:
        return
    if opened.manifest.fingerprint != agreement.fingerprint(model, *targets.inputs(definition)):
        raise UsageError(
            f"{request.target} builds other weights or inputs in each process, so no answer can be checked",
            hint="seed every random number that it uses (torch's generator is seeded already)",
        )


def _sample(request: Request, temperature: str, clock: timing.PhaseClock, rss: int | None) -> dict[str, Any]:
    compiled_again = temperature != "cold" and request.strategy != EAGER and _compiled(clock)
    return {
        "temperature": temperature,
        "phases": clock.wall_s,
        "cpu_s": clock.cpu_s,
        "peak_rss_bytes": rss,
        "compiler_processes": clock.compilers,
        "status": Status.DEGRADED_TO_JIT if compiled_again else Status.OK,
    }


def _compiled(clock: timing.PhaseClock) -> bool:
    """Whether a compiler built something while the clock loaded or called, or Dynamo traced a frame in this process."""
    return clock.builds > 0 or torch_api.frames_compiled() > 0


@contextmanager
def _stage(emit: Emit, name: str, status: Status) -> Iterator[None]:
    """Say what is being done, and turn whatever it raises into a failure of this kind."""
    emit({"stage": name})
    try:
        yield
    except (StageFailedError, UsageError, ExtensionError):
        raise
    except Exception as error:  # a strategy may raise anything: the kind of failure is the stage's
        print(f"{name}: {error}", file=sys.stderr)
        failed = Status.GUARD_FAILED if torch_api.GUARD_FAILURE in str(error) else status
        raise StageFailedError(failed, f"{name}: {one_line(error)}") from error
