"""Llama with its language model head, two layers of width 64 with random weights; it keeps no key-value cache."""

from __future__ import annotations

import torch
from torch import nn

from pcbench.models import Model, _transformers

_LIBRARY = _transformers.library("llama")


def build() -> nn.Module:
    """(2, 16) int64 tokens and mask to a ``ModelOutput``."""
    torch.manual_seed(0)
    config = _LIBRARY.LlamaConfig(
        vocab_size=_transformers.VOCABULARY,
        hidden_size=64,
        intermediate_size=128,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=64,
        use_cache=False,
    )
    model: nn.Module = _LIBRARY.LlamaForCausalLM(config)
    return model.eval()


MODEL = Model(build=build, inputs=_transformers.tokens)
