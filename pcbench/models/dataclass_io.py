"""A keyword argument and a nested dataclass as output, as model libraries have them."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import nn

from pcbench.models import Inputs, Model


@dataclass
class Pooled:
    """``mean`` and ``peak`` over the last dimension: (batch,) float32 each."""

    mean: torch.Tensor
    peak: torch.Tensor


@dataclass
class Output:
    """``hidden``: (batch, 64) float32; ``pooled``: a dataclass in the dataclass."""

    hidden: torch.Tensor
    pooled: Pooled


class Pooler(nn.Module):
    """(batch, 64) float32 and a (64,) scale to :class:`Output`."""

    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(64, 64)

    def forward(self, x: torch.Tensor, *, scale: torch.Tensor) -> Output:
        hidden = torch.tanh(self.linear(x)) * scale
        return Output(hidden, Pooled(hidden.mean(-1), hidden.amax(-1)))


def build() -> nn.Module:
    """A :class:`Pooler`."""
    torch.manual_seed(0)
    return Pooler().eval()


def inputs() -> Inputs:
    """``x``: (8, 64) float32; ``scale``: (64,) float32, by keyword."""
    random = torch.Generator().manual_seed(1)
    return (torch.randn(8, 64, generator=random),), {"scale": torch.rand(64, generator=random)}


MODEL = Model(build=build, inputs=inputs)
