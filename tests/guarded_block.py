"""A module whose forward looks at a bit of everything: attributes, weights, a default, a global, an int, a shape."""

from __future__ import annotations

import torch
from torch import nn

factor = 2


def scaled(x: torch.Tensor, by: int = 2) -> torch.Tensor:
    return x * by


class Block(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.act = nn.LeakyReLU(negative_slope=0.5)
        self.weight, self.other = nn.Parameter(torch.ones(1)), nn.Parameter(torch.ones(1))
        self.scale = 2

    def forward(self, x: torch.Tensor, number: int) -> torch.Tensor:
        y: torch.Tensor = self.act(x) * self.weight * self.other * self.scale * number * factor
        return scaled(y) if x.shape[0] == 2 else scaled(y) + 100
