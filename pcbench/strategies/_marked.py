"""Dims that inputs mark with Dynamo's ``mark_dynamic``, where torch does not follow the marks by itself."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from pcbench import pytrees, torch_api

Dims = dict[int, tuple[int | None, int | None]]
"""The smallest and the largest size that a mark allows, by dim; None where it does not say."""


def marked_dims(tensor: torch.Tensor) -> Dims:
    """The marked dims of a tensor."""
    ranges = {span.dim: (span.min, span.max) for span in getattr(tensor, torch_api.MARKED_RANGES, ())}
    return {dim: ranges.get(dim, (None, None)) for dim in sorted(getattr(tensor, torch_api.MARKED_DIMS, ()))}


def has_marks(*inputs: object) -> bool:
    """Whether a dim of any tensor in ``inputs`` is marked."""
    return any(marked_dims(tensor) for tensor in pytrees.tensors(inputs))


def unmarked_copies(inputs: Any, mark: Callable[[torch.Tensor, Dims], None]) -> Any:
    """``inputs`` with tensors that share their data but carry no marks; one that had some is given to ``mark``.

    A tensor that occurs twice is one tensor in the copy, too. The tensors of ``inputs`` are not touched.
    """
    copies: dict[int, torch.Tensor] = {}

    def copied(leaf: object) -> object:
        if not isinstance(leaf, torch.Tensor):
            return leaf
        if id(leaf) not in copies:
            copies[id(leaf)] = copy = leaf.detach().requires_grad_(leaf.requires_grad)
            dims = marked_dims(leaf)
            if dims:
                mark(copy, dims)
        return copies[id(leaf)]

    return torch_api.get("pytree").tree_map(copied, inputs)


def taking_marks(call: Callable[..., Any]) -> Callable[..., Any]:
    """``call(model, args, kwargs)``, given inputs without their marks.

    torch saves guards without the marks that they were made of, so that a loaded guard refuses a marked input. One that
    requires a gradient is passed as it is: a copy would not receive it.
    """

    def plain(leaf: object) -> object:
        if not isinstance(leaf, torch.Tensor):
            return leaf
        return leaf.detach() if marked_dims(leaf) and not leaf.requires_grad else leaf

    def called(model: object, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        return call(model, *torch_api.get("pytree").tree_map(plain, (args, kwargs)))

    return called
