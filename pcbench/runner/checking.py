"""Whether an artifact would load in this process, without loading it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from pcbench import manifest, timing
from pcbench.errors import ArtifactError
from pcbench.runner import artifact
from pcbench.runner.stages import Emit, Request


def check(request: Request, clock: timing.PhaseClock, emit: Emit) -> None:  # noqa: ARG001  # one signature for all requests
    """Emit the artifact's manifest, or why a load would refuse it, in a process with as many threads as it wants.

    Nothing in it is unpickled, executed or mapped, nor is a module imported that it names.
    """
    emit({"stage": "the manifest"})
    try:
        found = artifact.opened(Path(str(request.artifact)), trust=request.trust)
        stated = found.manifest
        here = replace(artifact.here(), threads=stated.platform.threads)
        manifest.check(found.folder, stated, stated.strategy, here)
    except ArtifactError as error:
        emit({"refused": {"problem": error.problem, "hint": error.hint, "layer": error.layer}})
    else:
        emit({"manifest": manifest.text_of(stated).decode()})
