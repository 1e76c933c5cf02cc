"""What a measured process does to capture: build the model, capture it with a strategy, save the artifact."""

from __future__ import annotations

from pathlib import Path

import torch

from pcbench import discovery, timing
from pcbench.runner import artifact, targets, verification
from pcbench.runner.stages import Emit, Request, stage, strategy_of
from pcbench.status import Status
from pcbench.strategies import Strategy


def capture(request: Request, clock: timing.PhaseClock, emit: Emit) -> None:
    """Capture and save; the times of both, and the artifact's size, are emitted. Imports are not on the clock."""
    with stage(emit, "the imports", Status.CAPTURE_FAILED):
        strategy = strategy_of(request)
    definition = targets.find(request.target, Path(request.cwd))
    emit({"stage": "building the model"})
    model, (args, kwargs) = targets.build(definition), targets.inputs(definition)
    verification.require_threads(request)
    clock.cpu_s = 0.0
    with torch.set_grad_enabled(definition.grad):
        with stage(emit, "the eager run", Status.CAPTURE_FAILED):
            description = artifact.describe(request.strategy, strategy, model, args, kwargs)
        with stage(emit, "capture", Status.CAPTURE_FAILED), clock.phase("capture_s"):
            captured = artifact.capture(description, strategy, model, args, kwargs)
        with stage(emit, "save", Status.SAVE_FAILED):
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


def probe(request: Request, clock: timing.PhaseClock, emit: Emit) -> None:  # noqa: ARG001  # one signature for all requests
    """Try the strategy, and emit the reason why it does not work here, or None, beside what it is."""
    with stage(emit, "the probe", Status.CAPTURE_FAILED):
        strategy = discovery.load("pcbench.strategies", request.strategy, "STRATEGY", Strategy)
        emit({"probe": {"reason": strategy.probe(), "summary": strategy.summary}})
