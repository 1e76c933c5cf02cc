"""Models to persist: one file each, ending in ``MODEL = Model(...)``; built from plain modules, seeded, offline."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from torch import nn

Inputs = tuple[tuple[Any, ...], dict[str, Any]]


@dataclass(frozen=True)
class Model:
    """A model and inputs for it.

    Attributes:
        build: Gives the module, in the mode it is to be captured in, with the same weights in every process.
        inputs: Gives ``(args, kwargs)`` for its call, the same in every process.
    """

    build: Callable[[], nn.Module]
    inputs: Callable[[], Inputs]
