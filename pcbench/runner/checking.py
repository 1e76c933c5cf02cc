"""Whether an artifact would load in this process, without loading it."""

from __future__ import annotations

from pathlib import Path

from pcbench import manifest, timing
from pcbench.runner import artifact
from pcbench.runner.stages import Emit, Request, stage
from pcbench.status import Status


def check(request: Request, clock: timing.PhaseClock, emit: Emit) -> None:  # noqa: ARG001  # one signature for all requests
    """Check the artifact as a load would, short of unpickling, executing or mapping anything in it."""
    with stage(emit, "the manifest", Status.LOAD_FAILED):
        found = artifact.opened(Path(str(request.artifact)), trust=request.trust)
        manifest.check(found.folder, found.manifest, request.strategy, artifact.here())
    emit({"checked": True})
