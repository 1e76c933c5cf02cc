"""A model by what the user calls it: a name, a file that ends in MODEL, or a function that returns it with inputs."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
from torch import nn

from pcbench import discovery
from pcbench.errors import UsageError
from pcbench.models import Inputs, Model

_SEED = 0


def find(target: str, cwd: Path) -> Model:
    """The model that ``target`` names; its file is imported, nothing is built.

    Raises:
        UsageError: There is no such model, file, module or function.
        ExtensionError: The file raised on import, or does not end in MODEL.
    """
    if target.endswith(".py"):
        return discovery.load_file(cwd / target, "MODEL", Model)
    if ":" in target:
        return _from_function(target, discovery.load_function(target, cwd))
    discovery.check_name("model", target, discovery.model_names())
    return discovery.load("pcbench.models", target, "MODEL", Model)


def build(model: Model) -> nn.Module:
    """The module, built under a fixed seed.

    Raises:
        UsageError: Building raised, or gave something else.
    """
    torch.manual_seed(_SEED)
    module = _said("build()", model.build)
    if not isinstance(module, nn.Module):
        raise UsageError(f"the model's build() gave a {type(module).__name__}, not a torch.nn.Module")
    return module


def inputs(model: Model, shape: str | None = None) -> Inputs:
    """Fresh inputs, or those of one of the extra shapes that the model names, made under a fixed seed.

    Raises:
        UsageError: Making them raised, or gave something other than a tuple and a dict.
    """
    torch.manual_seed(_SEED)
    made = _said("inputs()", model.inputs if shape is None else model.shapes[shape])
    if not (isinstance(made, tuple) and len(made) == 2 and isinstance(made[0], tuple) and isinstance(made[1], dict)):
        raise UsageError(f"the model's inputs() gave {made!r:.80}", hint="return (args, kwargs): a tuple and a dict")
    return made


def keep_state(model: nn.Module, inputs: Inputs, file: Path) -> None:
    """Write the weights and the inputs that :func:`with_state` puts back."""
    torch.save({"tensors": {name: tensor.detach() for name, tensor in _tensors(model)}, "inputs": inputs}, file)


def with_state(model: Model, file: Path) -> Model:
    """The model with the weights and inputs of another process: a seed gives others on another instruction set."""
    kept = torch.load(file, weights_only=False)

    def built() -> nn.Module:
        module = model.build()
        with torch.no_grad():
            for name, tensor in _tensors(module):
                tensor.copy_(kept["tensors"][name])
        return module

    return replace(model, build=built, inputs=lambda: copy.deepcopy(kept["inputs"]))


def _tensors(model: nn.Module) -> list[tuple[str, torch.Tensor]]:
    """Parameters and buffers, those too that are not in a state_dict."""
    return [*model.named_parameters(), *model.named_buffers()]


def _from_function(target: str, function: Callable[[], Any]) -> Model:
    """The function makes model and inputs at once: each is kept for whoever asks for it next."""
    kept_models: list[Any] = []
    kept_inputs: list[Inputs] = []

    def make() -> None:
        result = function()
        if not (isinstance(result, tuple) and len(result) == 3):
            raise UsageError(f"{target} returned a {type(result).__name__}", hint="return (model, args, kwargs)")
        kept_models[:] = [result[0]]
        kept_inputs[:] = [(tuple(result[1]), dict(result[2]))]

    def made_model() -> Any:
        if not kept_models:
            make()
        return kept_models.pop()

    def made_inputs() -> Inputs:
        if not kept_inputs:
            make()
        return copy.deepcopy(kept_inputs[0])

    return Model(build=made_model, inputs=made_inputs)


def _said(what: str, call: Callable[[], Any]) -> Any:
    try:
        return call()
    except UsageError:
        raise
    except Exception as error:  # a stranger's code may raise anything: its own error is said
        raise UsageError(f"the model's {what} raised {type(error).__name__}: {error}") from error
