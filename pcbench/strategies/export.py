"""``torch.export``: the graph with its weights in a .pt2 archive, run by torch's interpreter; nothing is compiled."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch
from torch import nn

from pcbench import torch_api
from pcbench.strategies import Runner, Strategy, round_trip
from pcbench.strategies._exported import exported, write

_FILE = "model.pt2"


def capture(model: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> torch.export.ExportedProgram:
    """An exported program, decomposed to core ATen."""
    program: torch.export.ExportedProgram = exported(model, args, kwargs).run_decompositions({})
    return program


def save(program: torch.export.ExportedProgram, folder: Path) -> None:
    """Write the archive."""
    write(program, folder / _FILE)


def load(folder: Path, model: nn.Module) -> Runner:  # noqa: ARG001  # one signature for all strategies
    """The archive's program as a module."""
    runner: Runner = torch_api.get("load_pt2")(str(folder / _FILE)).exported_programs["forward"].module()
    return runner


STRATEGY = Strategy(
    summary="torch.export archive, run by torch's own interpreter",
    weights="baked",
    probe=lambda: round_trip(capture, save, load),
    capture=capture,
    save=save,
    load=load,
    imports=("load_pt2",),
    machine_code=False,
)
