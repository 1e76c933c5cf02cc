"""What the programs of several claims start from."""

from __future__ import annotations

import logging
import textwrap
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import nn

from pcbench import torch_api
from pcbench.errors import UnavailableError

BACKENDS = ("inductor", "eager")
"""Those of precompile."""


def function(name: str) -> Any:
    """A function of ``torch.compiler``.

    Raises:
        UnavailableError: This torch has none of that name.
    """
    found = getattr(torch.compiler, name, None)
    if found is None:
        raise UnavailableError(f"torch {torch_api.version()} has no torch.compiler.{name}")
    return found


def refusal() -> type[Exception]:
    """``torch.compiler.PrecompileError``.

    Raises:
        UnavailableError: This torch has no such error.
    """
    function("precompile")
    kind: type[Exception] = function("PrecompileError")
    return kind


def call(model: nn.Module, x: torch.Tensor) -> Any:
    """The whole computation of an inference."""
    return model(x)


def linear(seed: int = 0) -> tuple[nn.Module, torch.Tensor]:
    """A model with weights by this seed, and an input of two rows."""
    torch.manual_seed(seed)
    return nn.Linear(4, 3), torch.randn(2, 4)


def scaled(x: torch.Tensor, factor: int) -> torch.Tensor:
    """Something to compile."""
    return x * factor


def compiled_or_not(x: torch.Tensor) -> torch.Tensor:
    """One more where it is compiled, one less where it runs as it is."""
    return x + 1 if torch.compiler.is_compiling() else x - 1


def agree(left: Any, right: Any) -> bool:
    """Whether two tensors are of one shape and close to one another."""
    return left.shape == right.shape and torch.allclose(left, right, atol=1e-5)


def said(caught: list[BaseException]) -> str:
    """The kind of the first error, and the start of what it says."""
    return f"{type(caught[0]).__name__}: {textwrap.shorten(str(caught[0]), 120, placeholder=' ...')}"


@contextmanager
def heard(key: str) -> Iterator[list[str]]:
    """The messages that the logger behind a name of ``torch_api`` gives out while the body runs.

    Raises:
        UnavailableError: This torch has no such logger.
    """
    logger: logging.Logger = torch_api.get(key)
    messages: list[str] = []
    handler = logging.Handler(logging.WARNING)
    handler.emit = lambda record: messages.append(record.getMessage())  # type: ignore[method-assign]
    logger.addHandler(handler)
    try:
        yield messages
    finally:
        logger.removeHandler(handler)


class Counting:
    """A backend for ``torch.compile`` that runs the graph as it is, and counts the graphs that it was given."""

    def __init__(self) -> None:
        self.graphs: list[torch.fx.GraphModule] = []

    def __call__(self, graph: torch.fx.GraphModule, _: list[Any]) -> Callable[..., Any]:
        self.graphs.append(graph)
        return graph.forward
