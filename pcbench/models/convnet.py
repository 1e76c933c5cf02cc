"""Convolutions with batch norm in inference mode: running statistics are buffers that a capture must not touch."""

from __future__ import annotations

import torch
from torch import nn

from pcbench.models import Inputs, Model


def build() -> nn.Module:
    """(batch, 3, 32, 32) float32 to (batch, 10)."""
    torch.manual_seed(0)
    model = nn.Sequential(
        *(nn.Conv2d(3, 16, 3, padding=1), nn.BatchNorm2d(16), nn.ReLU()),
        *(nn.Conv2d(16, 32, 3, stride=2, padding=1), nn.BatchNorm2d(32), nn.ReLU()),
        *(nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(32, 10)),
    )
    for module in model.modules():
        if isinstance(module, nn.BatchNorm2d):
            nn.init.uniform_(module.running_mean, -0.1, 0.1)  # type: ignore[arg-type]  # a tensor: statistics are tracked
            nn.init.uniform_(module.running_var, 0.5, 1.5)  # type: ignore[arg-type]  # a tensor: statistics are tracked
    return model.eval()


def inputs() -> Inputs:
    """One (4, 3, 32, 32) float32 tensor."""
    return (torch.randn(4, 3, 32, 32, generator=torch.Generator().manual_seed(1)),), {}


MODEL = Model(build=build, inputs=inputs)
