"""What a measured process does to capture: build the model, capture it with a strategy, save the artifact."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import asdict
from pathlib import Path

import torch

from pcbench import discovery, targets, timing
from pcbench.capture_counts import counted
from pcbench.capture_phases import phases, timed
from pcbench.runner import artifact, bundled, verification
from pcbench.runner.stages import Emit, Request, stage, strategy_of
from pcbench.status import Status
from pcbench.strategies import Strategy


def capture(request: Request, clock: timing.PhaseClock, emit: Emit) -> None:
    """Capture and save; the times of both, by phase, counts, and the artifact's size are emitted.

    What the strategy loads with, and Dynamo, are imported before the clock starts.
    """
    with stage(emit, "the imports", Status.CAPTURE_FAILED):
        strategy = strategy_of(request)
    definition = targets.find(request.target, Path(request.cwd))
    emit({"stage": "building the model"})
    model, (args, kwargs) = targets.build(definition), targets.inputs(definition)
    verification.require_threads(request)
    if request.state is not None:
        targets.keep_state(model, (args, kwargs), Path(request.state))
    clock.cpu_s = 0.0
    with torch.set_grad_enabled(definition.grad):
        with stage(emit, "the eager run", Status.CAPTURE_FAILED):
            description = artifact.describe(request.strategy, strategy, model, args, kwargs)
        caches = bundled.saving(strategy, description) if request.with_caches else nullcontext()
        with caches as gather:
            with stage(emit, "capture", Status.CAPTURE_FAILED), timed() as timeline, counted() as counting:
                with clock.phase("capture_s"):
                    captured = artifact.capture(description, strategy, model, args, kwargs)
                builds = clock.builds
            with stage(emit, "save", Status.SAVE_FAILED):
                saved = artifact.save(captured, Path(str(request.artifact)), clock.phase("save_s"), gather)
    capture_s, save_s = clock.wall_s["capture_s"], clock.wall_s["save_s"]
    emit(
        {
            "capture": {
                "weights": strategy.weights,
                "capture_s": capture_s,
                "save_s": save_s,
                "cpu_s": clock.cpu_s,
                "peak_rss_bytes": timing.peak_rss_bytes(),
                "compiler_processes": clock.compilers,
                "artifact_bytes": sum(p.stat().st_size for p in saved.folder.rglob("*") if p.is_file()),
                "phases": asdict(phases(timeline, capture_s, save_s, counting.took_part(builds))),
                "counts": asdict(counting.counts(builds)),
            }
        }
    )


def probe(request: Request, clock: timing.PhaseClock, emit: Emit) -> None:  # noqa: ARG001  # one signature for all requests
    """Try the strategy, and emit the reason why it does not work here, or None, beside what it is."""
    with stage(emit, "the probe", Status.CAPTURE_FAILED):
        strategy = discovery.load("pcbench.strategies", request.strategy, "STRATEGY", Strategy)
        emit({"probe": {"reason": strategy.probe(), "summary": strategy.summary}})
