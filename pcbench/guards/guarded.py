"""What is to be compiled so that its guards can be looked at: a model, or a guard family at a size."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch

from pcbench import guard_families, targets
from pcbench.errors import ExtensionError, UsageError


@dataclass(frozen=True)
class Guarded:
    """A function to compile and its inputs.

    Attributes:
        function: A module or a function; a family's is a plain function that one graph holds.
        grad: It is compiled and called with gradients enabled.
        breaking: Inside, exactly one guard refuses a call with the args that it yields; what it changed is put back.
            None where nobody says how.
        config: Settings of Dynamo's config under which it is compiled.
        dynamic: What ``torch.compile`` takes under that name.
    """

    function: Callable[..., Any]
    args: tuple[Any, ...]
    kwargs: Mapping[str, Any] = field(default_factory=dict)
    grad: bool = False
    breaking: Callable[[], AbstractContextManager[tuple[Any, ...]]] | None = None
    config: Mapping[str, Any] = field(default_factory=dict)
    dynamic: bool | None = None


def guarded(target: str, size: int, cwd: Path) -> Guarded:
    """The family of this name at this size, else the model that ``target`` names, built.

    Raises:
        UsageError: There is neither, or it is itself at fault.
        UnavailableError: This installation lacks what it needs.
    """
    if target in guard_families.names():
        return _from_family(guard_families.family(target), size)
    guard_families.check_target(target)
    model = targets.find(target, cwd)
    args, kwargs = targets.inputs(model)
    return Guarded(targets.build(model), args, kwargs, grad=model.grad)


def _from_family(family: guard_families.Family, size: int) -> Guarded:
    if size < 1:
        raise UsageError(f"{size} is no size of family {family.name}", hint="it is a number from 1")
    module, _, function = family.program.rpartition(".")
    torch.manual_seed(0)
    made = getattr(importlib.import_module(module), function)(size)
    if not isinstance(made, Guarded):
        raise ExtensionError(f"family {family.name} gave a {type(made).__name__}", hint="return a Guarded(...)")
    return made
