"""AOTInductor: a shared library with its weights, compiled ahead of time, in a .pt2 package."""

from __future__ import annotations

import shutil
import weakref
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from torch import nn

from pcbench import processes, torch_api
from pcbench.strategies import Runner, Strategy, round_trip
from pcbench.strategies._exported import exported, sink

_FILE = "model.pt2"


@dataclass(frozen=True)
class Package:
    """A compiled package in a temporary folder that goes with it."""

    path: Path


def capture(model: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Package:
    """The compiled package: compiling and packaging are one step of AOTInductor."""
    with ExitStack() as stack:
        package = Package(stack.enter_context(processes.scratch()) / _FILE)
        with sink(package.path) as opened:
            torch_api.get("aoti_compile_and_package")(exported(model, args, kwargs), package_path=opened)
        weakref.finalize(package, stack.pop_all().close)
    return package


def save(package: Package, folder: Path) -> None:
    """Move the package, which can be large."""
    shutil.move(package.path, folder / _FILE)


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
