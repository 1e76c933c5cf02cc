"""``torch.compile(...).aot_compile``: Dynamo's bytecode and guards with Inductor's code; weights are passed.

A module's own ``forward`` cannot be saved without ``external_data``; a function that takes the model can.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from torch import nn

from pcbench import snapshot, torch_api
from pcbench.strategies import Runner, Strategy, _marked, round_trip, weak_runner
from pcbench.strategies._compiled import compiled, own_function

_FILE, _FILE_OF_MARKED = "function.bin", "function-of-marked.bin"


def capture(model: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[str, Any]:
    """A compiled function of ``(model, args, kwargs)``, and the name of its file."""
    # torch 2.14 pickles a parameter's gradient with its guards, and cannot load what it wrote.
    turned_on = torch_api.get("dynamo_config").patch(enable_aot_compile=True)
    with turned_on, snapshot.without_gradients(model.parameters()):
        function = compiled(own_function()).aot_compile(((model, args, kwargs), {}))
    return _FILE_OF_MARKED if _marked.has_marks(args, kwargs) else _FILE, function


def save(captured: tuple[str, Any], folder: Path) -> None:
    """Write the compiled function."""
    name, function = captured
    function.save_compiled_function(str(folder / name))


def load(folder: Path, model: nn.Module) -> Runner:
    """The compiled function, over the model."""
    marked = (folder / _FILE_OF_MARKED).exists()
    with (folder / (_FILE_OF_MARKED if marked else _FILE)).open("rb") as file:
        function = torch_api.get("load_compiled_function")(file)
    return weak_runner(model, _marked.taking_marks(function) if marked else function)


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
