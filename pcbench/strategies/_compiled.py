"""What the strategies over ``torch.compile`` share: what they compile, and how."""

from __future__ import annotations

import itertools
import types
from typing import Any

import torch
from torch import nn

from pcbench.strategies import call_model

_NUMBERS = itertools.count()


def own_function() -> types.FunctionType:
    """A copy of ``call_model`` under a name of its own.

    Compiled code and the limit of recompiles belong to a code object, the sizes seen so far (a second size makes a dim
    dynamic) to a code's name and line: captures and loads that shared them would depend on those before.
    """
    name = f"{call_model.__name__}_{next(_NUMBERS)}"
    return types.FunctionType(call_model.__code__.replace(co_name=name), call_model.__globals__, name)


def compiled(function: types.FunctionType) -> Any:
    """The function, to be compiled as one graph by its first call or its ``aot_compile``."""
    return torch.compile(function, fullgraph=True)


def needs_no_grad(model: nn.Module) -> str | None:
    """A hint where the forward is compiled for a backward, whose compiling torch leaves to the first backward."""
    if torch.is_grad_enabled() and any(parameter.requires_grad for parameter in model.parameters()):
        return "gradients are enabled, and parameters require them: do it under torch.no_grad()"
    return None
