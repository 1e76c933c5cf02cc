"""What a measured process does: capture and save a model, or load an artifact up to its first output and beyond."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import nn

from pcbench import discovery, manifest, timing
from pcbench.errors import PcbenchError, UsageError
from pcbench.models import Model
from pcbench.runner import agreement, artifact, targets
from pcbench.samples import EAGER
from pcbench.status import Status
from pcbench.strategies import Runner, Strategy, one_line

Emit = Callable[[dict[str, Any]], None]

_GUARD_WORDS = "GuardManager check failed"


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
    """Capture and save; the times of both, and the artifact's size, are emitted."""
    strategy = _strategy(request.strategy)
    definition = targets.find(request.target, Path(request.cwd))
    model, (args, kwargs) = targets.build(definition), targets.inputs(definition)
    clock.cpu_s = 0.0
    with torch.no_grad():
        with _stage(emit, "the eager run", Status.CAPTURE_FAILED):
            description = artifact.describe(request.strategy, strategy, model, args, kwargs)
        with _stage(emit, "capture", Status.CAPTURE_FAILED), clock.phase("capture_s"):
            captured = artifact.capture(description, strategy, model, args, kwargs)
        with _stage(emit, "save", Status.SAVE_FAILED), clock.phase("save_s"):
            saved = artifact.save(captured, Path(str(request.artifact)))
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
    eager = request.strategy == EAGER
    with clock.phase("import_other_s"):
        strategy = None if eager else _strategy(request.strategy)
        for module in () if strategy is None else strategy.imports:
            importlib.import_module(module)
        definition = targets.find(request.target, Path(request.cwd))
    args, kwargs = targets.inputs(definition)
    with torch.no_grad():
        needs_model = strategy is None or strategy.weights == "passed"
        model = _timed_build(definition, clock) if needs_model else nn.Module()
        get_runner = _loader(request, strategy, model, emit)
        runner, output = _first_output(clock, emit, get_runner, definition)
        rss = timing.peak_rss_bytes()
        if not needs_model:
            model = targets.build(definition)
        _check(request, definition, model, output)
        emit({"sample": _sample(request, request.temperature, clock, rss)})
        if request.hot:
            again = timing.PhaseClock()
            runner, output = _first_output(again, emit, get_runner, definition)
            _check(request, definition, model, output)
            emit({"sample": _sample(request, "hot", again, timing.peak_rss_bytes())})
        if request.calls:
            with _stage(emit, "a later call", Status.LOAD_FAILED):
                ours, eagers = timing.interleaved(lambda: runner(*args, **kwargs), lambda: model(*args, **kwargs))
                output = runner(*args, **kwargs)
            _check(request, definition, model, output)
            emit({"calls": {"call_s": ours, "eager_call_s": eagers}})


def probe(request: Request, clock: timing.PhaseClock, emit: Emit) -> None:  # noqa: ARG001  # one signature for all requests
    """Try the strategy, and emit the reason why it does not work here, or None."""
    emit({"stage": "probe"})
    emit({"probe": {"reason": _strategy(request.strategy).probe()}})


def _strategy(name: str) -> Strategy:
    return discovery.load("pcbench.strategies", name, "STRATEGY", Strategy)


def _timed_build(definition: Model, clock: timing.PhaseClock) -> nn.Module:
    with clock.phase("model_s"):
        return targets.build(definition)


def _loader(request: Request, strategy: Strategy | None, model: nn.Module, emit: Emit) -> Callable[[], Runner]:
    if strategy is None:
        return lambda: model
    with _stage(emit, "the manifest", Status.LOAD_FAILED):
        opened = artifact.open_checked(Path(str(request.artifact)), request.strategy)
    return artifact.loader(opened, strategy, model)


def _first_output(
    clock: timing.PhaseClock, emit: Emit, get_runner: Callable[[], Runner], definition: Model
) -> tuple[Runner, Any]:
    args, kwargs = targets.inputs(definition)
    with _stage(emit, "load", Status.LOAD_FAILED), clock.phase("load_s"):
        runner = get_runner()
    with _stage(emit, "the first call", Status.LOAD_FAILED), clock.phase("first_call_s"):
        output = runner(*args, **kwargs)
    return runner, output


def _check(request: Request, definition: Model, model: nn.Module, output: Any) -> None:
    """Compare an output with eager's, on fresh inputs.

    Raises:
        StageFailedError: They differ.
        UsageError: The model is another one than at the capture, or its output holds no tensor.
    """
    args, kwargs = targets.inputs(definition)
    if request.artifact is not None:
        made = manifest.read(Path(request.artifact)).fingerprint
        if made != agreement.fingerprint(model, args, kwargs):
            raise UsageError(
                f"{request.target} builds other weights or inputs in each process, so no answer can be checked",
                hint="seed every random number that it uses (torch's generator is seeded already)",
            )
    expected = model(*args, **kwargs)
    agreement.require_tensors(expected)
    differs = agreement.difference(expected, output)
    if differs is not None:
        raise StageFailedError(Status.WRONG_RESULT, differs)


def _sample(request: Request, temperature: str, clock: timing.PhaseClock, rss: int) -> dict[str, Any]:
    compiled_again = temperature != "cold" and request.strategy != EAGER and clock.builds > 0
    return {
        "temperature": temperature,
        "phases": clock.wall_s,
        "cpu_s": clock.cpu_s,
        "peak_rss_bytes": rss,
        "compiler_processes": clock.compilers,
        "status": Status.DEGRADED_TO_JIT if compiled_again else Status.OK,
    }


@contextmanager
def _stage(emit: Emit, name: str, status: Status) -> Iterator[None]:
    """Say what is being done, and turn whatever it raises into a failure of this kind."""
    emit({"stage": name})
    try:
        yield
    except (StageFailedError, UsageError):
        raise
    except Exception as error:  # a strategy may raise anything: the kind of failure is the stage's
        print(f"{name}: {error}", file=sys.stderr)
        failed = Status.GUARD_FAILED if _GUARD_WORDS in str(error) else status
        raise StageFailedError(failed, f"{name}: {one_line(error)}") from error
