"""Two linear layers with a GELU between them: the smallest model worth compiling."""

from __future__ import annotations

import torch
from torch import nn

from pcbench.models import Inputs, Model


def build() -> nn.Module:
    """(batch, 64) float32 to (batch, 64)."""
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(64, 256), nn.GELU(), nn.Linear(256, 64)).eval()


def inputs() -> Inputs:
    """One (8, 64) float32 tensor."""
    return (torch.randn(8, 64, generator=torch.Generator().manual_seed(1)),), {}


MODEL = Model(build=build, inputs=inputs)
