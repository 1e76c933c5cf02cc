"""GPT-2 with its language model head, two layers of width 64 with random weights; it keeps no key-value cache."""

from __future__ import annotations

import torch
from torch import nn

from pcbench.models import Model, _transformers

_LIBRARY = _transformers.library("gpt2")


def build() -> nn.Module:
    """(2, 16) int64 tokens and mask to a ``ModelOutput``."""
    torch.manual_seed(0)
    config = _LIBRARY.GPT2Config(
        vocab_size=_transformers.VOCABULARY,
        n_embd=64,
        n_layer=2,
        n_head=4,
        n_positions=64,
        bos_token_id=1,
        eos_token_id=2,
        use_cache=False,
    )
    model: nn.Module = _LIBRARY.GPT2LMHeadModel(config)
    return model.eval()


MODEL = Model(build=build, inputs=_transformers.tokens)
