"""Forward, loss and backward in one call: gradients accumulate in the parameters, and are part of the answer."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import nn

from pcbench.models import Inputs, Model


class Step(nn.Module):
    """(batch, 64) float32 and (batch,) int64 classes to the loss, a detached scalar; runs the backward, too."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(64, 128), nn.Tanh(), nn.Linear(128, 10))

    def forward(self, x: torch.Tensor, classes: torch.Tensor) -> torch.Tensor:
        loss = F.cross_entropy(self.layers(x), classes)
        loss.backward()  # type: ignore[no-untyped-call]  # untyped in torch
        return loss.detach()


def build() -> nn.Module:
    """A :class:`Step`."""
    torch.manual_seed(0)
    return Step()


def inputs() -> Inputs:
    """``x``: (16, 64) float32; ``classes``: (16,) int64."""
    random = torch.Generator().manual_seed(1)
    return (torch.randn(16, 64, generator=random), torch.randint(0, 10, (16,), generator=random)), {}


MODEL = Model(build=build, inputs=inputs, grad=True)
