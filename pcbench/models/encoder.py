"""Two transformer encoder blocks, written out.

``nn.TransformerEncoderLayer`` takes a fused path in inference, which leaves nothing to compile.
"""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import nn

from pcbench.models import Inputs, Model

_WIDTH = 128
_HEADS = 4


class Block(nn.Module):
    """LayerNorm, attention, LayerNorm, GELU MLP, with residuals: (batch, length, width) to the same."""

    def __init__(self) -> None:
        super().__init__()
        self.norm_attention = nn.LayerNorm(_WIDTH)
        self.query_key_value = nn.Linear(_WIDTH, 3 * _WIDTH)
        self.project = nn.Linear(_WIDTH, _WIDTH)
        self.norm_mlp = nn.LayerNorm(_WIDTH)
        self.expand = nn.Linear(_WIDTH, 4 * _WIDTH)
        self.contract = nn.Linear(4 * _WIDTH, _WIDTH)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        batch, length, width = x.shape
        heads = self.query_key_value(self.norm_attention(x)).view(batch, length, 3, _HEADS, width // _HEADS)
        query, key, value = heads.permute(2, 0, 3, 1, 4).unbind(0)
        attended = F.scaled_dot_product_attention(query, key, value)
        x = x + self.project(attended.transpose(1, 2).reshape(batch, length, width))
        mixed: torch.Tensor = x + self.contract(F.gelu(self.expand(self.norm_mlp(x))))
        return mixed


def build() -> nn.Module:
    """(batch, length, 128) float32 to the same."""
    torch.manual_seed(0)
    return nn.Sequential(Block(), Block(), nn.LayerNorm(_WIDTH)).eval()


def inputs() -> Inputs:
    """One (4, 32, 128) float32 tensor."""
    return (torch.randn(4, 32, _WIDTH, generator=torch.Generator().manual_seed(1)),), {}


MODEL = Model(build=build, inputs=inputs)
