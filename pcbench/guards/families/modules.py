"""Guards on modules: their tree, their attributes, their hooks."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import torch
from torch import nn

from pcbench import torch_api
from pcbench.guards.families._changing import changed
from pcbench.guards.guarded import Guarded

_CHAIN = 32
"""Dynamo itself recurses along a chain of modules: one of more than about 160 ends at Python's recursion limit."""


class _Scale(nn.Module):
    """A module that multiplies by an attribute, and may hold another one."""

    def __init__(self, inner: _Scale | None = None) -> None:
        super().__init__()
        self.factor = 1.0
        self.inner = inner

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x * self.factor


class _Many(nn.Module):
    """A module of ints, as ``number0`` and on."""

    def __init__(self, count: int) -> None:
        super().__init__()
        self.count = count
        for index in range(count):
            setattr(self, f"number{index}", index)


def module_width(n: int) -> Guarded:
    """Modules side by side, in a ModuleList; each reads an attribute."""
    args = torch.ones(1), nn.ModuleList(_Scale() for _ in range(n))
    return Guarded(_forward, args, breaking=partial(changed, args[1][-1], "factor", 2.0, args))


def module_depth(n: int) -> Guarded:
    """Modules in modules, in chains of up to 32; each reads an attribute."""
    chains = nn.ModuleList(_chain(min(_CHAIN, n - start)) for start in range(0, n, _CHAIN))

    def function(x: Any, chains: nn.ModuleList) -> Any:
        module: Any
        for module in chains:
            while module is not None:
                x = x * module.factor
                module = module.inner
        return x

    args = torch.ones(1), chains
    (*_, innermost) = chains.modules()
    return Guarded(function, args, breaking=partial(changed, innermost, "factor", 2.0, args))


def module_attributes(n: int) -> Guarded:
    """Attributes of one module, an int each."""

    def function(x: torch.Tensor, module: _Many) -> torch.Tensor:
        numbers: list[int] = [getattr(module, f"number{index}") for index in range(module.count)]
        return x + sum(numbers)

    args = torch.ones(1), _Many(n)
    return Guarded(function, args, breaking=partial(changed, args[1], f"number{n - 1}", -1, args))


def module_hooks(n: int) -> Guarded:
    """Modules side by side whose hooks are guarded, which Dynamo leaves out by default.

    What is more than in ``module_width`` are the guards on the dicts of a module's hooks, six a module.
    """
    args = torch.ones(1), nn.ModuleList(_Scale() for _ in range(n))

    @contextmanager
    def breaking() -> Iterator[tuple[Any, ...]]:
        with args[1][-1].register_forward_hook(lambda module, args, output: None):
            yield args

    return Guarded(_forward, args, breaking=breaking, config={torch_api.holder("hook_guards")[1]: False})


def _forward(x: Any, modules: nn.ModuleList) -> Any:
    for module in modules:
        x = module(x)
    return x


def _chain(depth: int) -> _Scale:
    """So many modules, each in the one before."""
    module = _Scale()
    for _ in range(depth - 1):
        module = _Scale(module)
    return module
