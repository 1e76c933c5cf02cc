"""What the strategies over ``torch.export`` share: an export in which marked dims stay dynamic."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn

from pcbench.strategies import _marked


def exported(model: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> torch.export.ExportedProgram:
    """An exported program that takes every size that the marks allow.

    Raises:
        Exception: torch's own, where the model's code fixes a marked dim to one size.
    """
    if not _marked.has_marks(args, kwargs):
        return torch.export.export(model, args, kwargs)
    shapes = torch.export.ShapesCollection()  # type: ignore[no-untyped-call]  # untyped in torch

    def mark(tensor: torch.Tensor, dims: _marked.Dims) -> None:
        shapes[tensor] = {dim: torch.export.Dim.DYNAMIC(min=low, max=high) for dim, (low, high) in dims.items()}

    args, kwargs = _marked.unmarked_copies((args, kwargs), mark)
    return torch.export.export(model, args, kwargs, dynamic_shapes=shapes)
