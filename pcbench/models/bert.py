"""BERT's encoder, two layers of width 64 with random weights: hidden states in transformers' own output class."""

from __future__ import annotations

import torch
from torch import nn

from pcbench.models import Model, _transformers

_LIBRARY = _transformers.library("bert")


def build() -> nn.Module:
    """(2, 16) int64 tokens and mask to a ``ModelOutput``."""
    torch.manual_seed(0)
    config = _LIBRARY.BertConfig(
        vocab_size=_transformers.VOCABULARY,
        hidden_size=64,
        intermediate_size=128,
        num_hidden_layers=2,
        num_attention_heads=4,
        max_position_embeddings=64,
    )
    model: nn.Module = _LIBRARY.BertModel(config)
    return model.eval()


MODEL = Model(build=build, inputs=_transformers.tokens)
