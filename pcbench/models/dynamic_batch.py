"""A batch that varies: its dim is marked dynamic, and other sizes of it must run without compiling again."""

from __future__ import annotations

from functools import partial

import torch
from torch import nn

from pcbench import torch_api
from pcbench.models import Inputs, Model

_WIDTH = 64


class Scored(nn.Module):
    """(batch, 64) float32 to the same and (batch,) scores."""

    def __init__(self) -> None:
        super().__init__()
        self.expand = nn.Linear(_WIDTH, 2 * _WIDTH)
        self.contract = nn.Linear(2 * _WIDTH, _WIDTH)

    def forward(self, x: torch.Tensor, *, weights: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        hidden = x + self.contract(torch.relu(self.expand(x)))
        return hidden, (hidden * weights).sum(-1)


def build() -> nn.Module:
    """A :class:`Scored`."""
    torch.manual_seed(0)
    return Scored().eval()


def inputs(batch: int = 8) -> Inputs:
    """``x``: (batch, 64) float32, its batch marked; ``weights``: (64,) float32, by keyword."""
    random = torch.Generator().manual_seed(1)
    x = torch.randn(batch, _WIDTH, generator=random)
    torch_api.get("mark_dynamic")(x, 0)
    return (x,), {"weights": torch.rand(_WIDTH, generator=random)}


MODEL = Model(
    build=build,
    inputs=inputs,
    shapes={"batch_2": partial(inputs, 2), "batch_7": partial(inputs, 7), "batch_32": partial(inputs, 32)},
)
