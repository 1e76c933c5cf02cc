"""What the strategies over ``torch.compile`` share: what they compile, and how."""

from __future__ import annotations

import types
from typing import Any

import torch
from torch import nn

from pcbench import own_code
from pcbench.strategies import call_model


def own_function() -> types.FunctionType:
    """A copy of ``call_model`` with a code of its own."""
    return own_code.copy(call_model)


def compiled(function: types.FunctionType) -> Any:
    """The function, to be compiled as one graph by its first call or its ``aot_compile``."""
    return torch.compile(function, fullgraph=True)


def needs_no_grad(model: nn.Module) -> str | None:
    """A hint where the forward is compiled for a backward, whose compiling torch leaves to the first backward."""
    if torch.is_grad_enabled() and any(parameter.requires_grad for parameter in model.parameters()):
        return "gradients are enabled, and parameters require them: do it under torch.no_grad()"
    return None
