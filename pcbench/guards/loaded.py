"""What a function that ``aot_compile`` saved, and torch loaded, does around its graphs at each call."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import torch
from torch import nn

from pcbench import own_code, snapshot, torch_api
from pcbench.errors import UnavailableError
from pcbench.guard_samples import BINDING, LOADED_CALL, LOADED_CHECK, LOADED_UNCHECKED
from pcbench.guards.guarded import Guarded
from pcbench.guards.subjects import canned
from pcbench.strategies import call_model, one_line


def calls(guarded: Guarded) -> Mapping[str, Callable[[], object]]:
    """Calls by measure; their graphs answer from memory. The model is the function's first argument.

    Raises:
        UnavailableError: It is a function and no model, or torch cannot capture, save, load or call it.
    """
    model = guarded.function
    if not isinstance(model, nn.Module):
        raise UnavailableError("a function may hold guards that cannot be saved: only models are")
    if guarded.grad:
        raise UnavailableError("gradients flow through it, and a backward needs its forward anew")
    taken = (model, guarded.args, dict(guarded.kwargs))
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "function.bin"
        try:
            turned_on = torch_api.get("dynamo_config").patch(enable_aot_compile=True)
            with turned_on, snapshot.without_gradients(model.parameters()):
                function: Any = torch.compile(own_code.copy(call_model), backend="eager", fullgraph=True)
                function.aot_compile((taken, {})).save_compiled_function(str(file))
            checked, unchecked = _load(file), _load(file)
            unchecked.disable_guard_check()
            found = {
                BINDING: partial(checked.prepare_f_locals, *taken),
                LOADED_CHECK: partial(checked.guard_check, *taken),
                LOADED_CALL: partial(checked, *taken),
                LOADED_UNCHECKED: partial(unchecked, *taken),
            }
            for call in found.values():
                call()
        except UnavailableError:
            raise
        except Exception as error:  # torch may raise anything for a stranger's model: that is the reason
            raise UnavailableError(f"it cannot be saved and loaded: {one_line(error)}") from error
    return found


def _load(file: Path) -> Any:
    with file.open("rb") as opened:
        function = torch_api.get("load_compiled_function")(opened)
    scope = function.fn.__globals__
    graphs = [name for name in scope if name.startswith(torch_api.COMPILED_GRAPHS)]
    if not graphs:
        raise UnavailableError("this torch keeps the graph of a loaded function out of sight")
    for name in graphs:
        scope[name] = canned(scope[name], ())
    return function
