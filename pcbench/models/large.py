"""Eight square linear layers, 512 MB of weights: what a real load spends on weights."""

from __future__ import annotations

import torch
from torch import nn

from pcbench.models import Inputs, Model

_WIDTH = 4000


class Stack(nn.Module):
    """(batch, 4000) float32 to the same."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(_WIDTH, _WIDTH, bias=False) for _ in range(8))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for layer in self.layers:
            x = torch.relu(layer(x))
        return x


def build() -> nn.Module:
    """A :class:`Stack`."""
    torch.manual_seed(0)
    return Stack().eval()


def inputs() -> Inputs:
    """One (2, 4000) float32 tensor."""
    return (torch.randn(2, _WIDTH, generator=torch.Generator().manual_seed(1)),), {}


MODEL = Model(build=build, inputs=inputs)
