"""A language model's skeleton: the embedding's weight is the head's too, one tensor under two names."""

from __future__ import annotations

import torch
from torch import nn

from pcbench.models import Inputs, Model


class TiedLM(nn.Module):
    """(batch, length) int64 tokens to (batch, length, 512) float32 logits."""

    def __init__(self) -> None:
        super().__init__()
        self.embedding = nn.Embedding(512, 64)
        self.mix = nn.Linear(64, 64)
        self.norm = nn.LayerNorm(64)
        self.head = nn.Linear(64, 512, bias=False)
        self.head.weight = self.embedding.weight

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        x = self.embedding(tokens)
        logits: torch.Tensor = self.head(self.norm(x + torch.relu(self.mix(x))))
        return logits


def build() -> nn.Module:
    """A :class:`TiedLM`."""
    torch.manual_seed(0)
    return TiedLM().eval()


def inputs() -> Inputs:
    """One (4, 16) int64 tensor."""
    return (torch.randint(0, 512, (4, 16), generator=torch.Generator().manual_seed(1)),), {}


MODEL = Model(build=build, inputs=inputs)
