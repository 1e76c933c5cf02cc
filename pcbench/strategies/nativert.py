"""NativeRT: the archive that ``export`` writes, run by torch's C++ interpreter ``PyModelRunner``; nothing is compiled.

The interpreter knows no pytree nodes but Python's own, so that what is exported takes the model's tensors as a flat
list and gives its output's leaves as a flat tuple; the structures are kept beside the archive.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import torch
from torch import nn

from pcbench import torch_api
from pcbench.errors import ArtifactError, UnavailableError
from pcbench.strategies import Runner, Strategy, round_trip
from pcbench.strategies._exported import exported, write

_ARCHIVE, _STRUCTURES = "model.pt2", "structures.json"

Captured = tuple[torch.export.ExportedProgram, dict[str, str]]


class _Flat(nn.Module):
    """A model over the tensors among its inputs' leaves; ``on_output`` is given its output's structure."""

    def __init__(self, model: nn.Module, inputs: Any, on_output: Callable[[Any], None]) -> None:
        super().__init__()
        self.training = model.training
        self.model = model
        leaves, self.structure = torch_api.get("pytree").tree_flatten(inputs)
        self.constants = [None if isinstance(leaf, torch.Tensor) else leaf for leaf in leaves]
        self.positions = [index for index, leaf in enumerate(leaves) if isinstance(leaf, torch.Tensor)]
        self.on_output = on_output

    def forward(self, *tensors: torch.Tensor) -> tuple[Any, ...]:
        pytree = torch_api.get("pytree")
        leaves: list[Any] = list(self.constants)
        for index, tensor in zip(self.positions, tensors, strict=True):
            leaves[index] = tensor
        args, kwargs = pytree.tree_unflatten(leaves, self.structure)
        output_leaves, structure = pytree.tree_flatten(self.model(*args, **kwargs))
        self.on_output(structure)
        return tuple(output_leaves)


def capture(model: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Captured:
    """An exported program over flat inputs, decomposed to core ATen, and the structures of inputs and output.

    Raises:
        UnavailableError: This torch has no NativeRT.
    """
    with suppress(RuntimeError):  # what an interpreter that is there says of a file that is not
        _interpreter("")
    pytree = torch_api.get("pytree")
    structures: list[Any] = []
    leaves, of_inputs = pytree.tree_flatten((args, kwargs))
    flat = _Flat(model, (args, kwargs), structures.append)
    program = exported(flat, tuple(leaf for leaf in leaves if isinstance(leaf, torch.Tensor)), {})
    return program.run_decompositions({}), {
        "inputs": pytree.treespec_dumps(of_inputs),
        "output": pytree.treespec_dumps(structures[-1]),
        "constants": repr(_constants(leaves)),
    }


def save(captured: Captured, folder: Path) -> None:
    """Write the archive, and the structures."""
    program, structures = captured
    write(program, folder / _ARCHIVE)
    (folder / _STRUCTURES).write_text(json.dumps(structures), encoding="utf-8")


def load(folder: Path, model: nn.Module) -> Runner:  # noqa: ARG001  # one signature for all strategies
    """The interpreter over the archive.

    Raises:
        UnavailableError: This torch has no NativeRT.
        ArtifactError: (When called.) The inputs' structure, or a constant among them, is not the capture's.
    """
    pytree = torch_api.get("pytree")
    structures = json.loads((folder / _STRUCTURES).read_text(encoding="utf-8"))
    of_inputs, of_output = (pytree.treespec_loads(structures[key]) for key in ("inputs", "output"))
    interpreter = _interpreter(str(folder / _ARCHIVE))

    def runner(*args: Any, **kwargs: Any) -> Any:
        leaves, structure = pytree.tree_flatten((args, kwargs))
        if structure != of_inputs or repr(_constants(leaves)) != structures["constants"]:
            raise ArtifactError(
                f"called with inputs {structure}, constants {_constants(leaves)}; captured were {of_inputs}, "
                f"constants {structures['constants']}",
                hint="call it as it was captured, or capture it as it is called",
            )
        output = interpreter.run(*(leaf for leaf in leaves if isinstance(leaf, torch.Tensor)))
        return pytree.tree_unflatten(output, of_output)

    return runner


def _constants(leaves: list[Any]) -> list[Any]:
    return [leaf for leaf in leaves if not isinstance(leaf, torch.Tensor)]


def _interpreter(archive: str) -> Any:
    """PyModelRunner over an archive.

    Raises:
        UnavailableError: From torch 2.12 on the class is there, but without a constructor.
    """
    kind = torch_api.get("nativert")
    try:
        return kind(archive, "forward")
    except TypeError as error:
        if "No constructor" not in str(error):
            raise
        raise UnavailableError(
            f"torch {torch_api.version()} has NativeRT's PyModelRunner in name only, without a constructor",
            hint="torch 2.11 has the whole of it",
        ) from error


STRATEGY = Strategy(
    summary="NativeRT: the exported archive, run by torch's C++ interpreter",
    weights="baked",
    probe=lambda: round_trip(capture, save, load),
    capture=capture,
    save=save,
    load=load,
    imports=("nativert",),
    machine_code=False,
)
