"""AOTInductor: a shared library with its weights, compiled ahead of time, in a .pt2 package."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path
from typing import Any

from torch import nn

from pcbench import torch_api
from pcbench.strategies import Runner, Strategy, round_trip
from pcbench.strategies._exported import exported, sink

_FILE = "model.pt2"


def capture(model: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Path:
    """A compiled package in a temporary file: compiling and packaging are one step of AOTInductor."""
    handle, name = tempfile.mkstemp(suffix=".pt2")
    os.close(handle)
    package = Path(name)
    try:
        with sink(package) as opened:
            torch_api.get("aoti_compile_and_package")(exported(model, args, kwargs), package_path=opened)
    except BaseException:
        package.unlink()
        raise
    return package


def save(package: Path, folder: Path) -> None:
    """Move the package: left in the temporary folder, it would be carried along by every copy of the caches."""
    shutil.move(package, folder / _FILE)


def load(folder: Path, model: nn.Module) -> Runner:  # noqa: ARG001  # one signature for all strategies
    """The library, loaded."""
    runner: Runner = torch_api.get("aoti_load_package")(str(folder / _FILE))
    return runner


STRATEGY = Strategy(
    summary="AOTInductor package: a compiled shared library with its weights",
    weights="baked",
    probe=lambda: round_trip(capture, save, load),
    capture=capture,
    save=save,
    load=load,
    imports=("aoti_load_package",),
    takes_options=True,
)
