"""``torch.compile(...).aot_compile``: Dynamo's bytecode and guards with Inductor's code; weights are passed.

A module's own ``forward`` cannot be saved without ``external_data``; a function that takes the model can.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch
from torch import nn

from pcbench import torch_api
from pcbench.strategies import Runner, Strategy, call_model, round_trip, weak_runner

_FILE = "function.bin"


def capture(model: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """A compiled function of ``(model, args, kwargs)``."""
    return torch.compile(call_model, fullgraph=True).aot_compile(((model, args, kwargs), {}))  # type: ignore[attr-defined]  # not in torch's stubs


def save(function: Any, folder: Path) -> None:
    """Write the compiled function."""
    function.save_compiled_function(str(folder / _FILE))


def load(folder: Path, model: nn.Module) -> Runner:
    """The compiled function, over the model."""
    with (folder / _FILE).open("rb") as file:
        function = torch_api.get("load_compiled_function")(file)
    return weak_runner(model, function)


STRATEGY = Strategy(
    summary="aot_compile: Dynamo bytecode with guards, Inductor code",
    weights="passed",
    probe=lambda: round_trip(capture, save, load),
    capture=capture,
    save=save,
    load=load,
    imports=("torch._dynamo", "torch._inductor"),
)
