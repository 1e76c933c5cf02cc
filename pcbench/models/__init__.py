"""Models to persist: one file each, ending in ``MODEL = Model(...)``; built from plain modules, seeded, offline."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from torch import nn

Inputs = tuple[tuple[Any, ...], dict[str, Any]]


@dataclass(frozen=True)
class Model:
    """A model and inputs for it.

    Attributes:
        build: Gives the module, in the mode it is to be captured in, with the same weights in every process.
        inputs: Gives ``(args, kwargs)`` for its call, the same in every process. Dims that it marks with
            Dynamo's ``mark_dynamic`` must stay dynamic in an artifact.
        grad: A backward is part of its call: it is captured and called with gradients enabled, and the gradients that
            it leaves in the parameters are part of its answer.
        shapes: More inputs by name, of other sizes in marked dims, that an artifact must take without compiling again.
    """

    build: Callable[[], nn.Module]
    inputs: Callable[[], Inputs]
    grad: bool = False
    shapes: Mapping[str, Callable[[], Inputs]] = field(default_factory=dict)
