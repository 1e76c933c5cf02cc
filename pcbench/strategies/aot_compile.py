"""``torch.compile(...).aot_compile``: Dynamo's bytecode and guards with Inductor's code; weights are passed.

A module's own ``forward`` cannot be saved without ``external_data``; a function that takes the model can.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch
from torch import nn

from pcbench import snapshot, torch_api
from pcbench.strategies import Runner, Strategy, call_model, round_trip, weak_runner

_FILE = "function.bin"


def capture(model: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """A compiled function of ``(model, args, kwargs)``."""
    # torch 2.14 pickles a parameter's gradient with its guards, and cannot load what it wrote.
    turned_on = torch_api.get("dynamo_config").patch(enable_aot_compile=True)
    with turned_on, snapshot.without_gradients(model.parameters()):
        compiled: Any = torch.compile(call_model, fullgraph=True)
        return compiled.aot_compile(((model, args, kwargs), {}))


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
    imports=("dynamo", "inductor"),
    takes_options=True,
)
