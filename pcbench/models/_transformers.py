"""What the models of Hugging Face's transformers share: the library, where it is installed, and token inputs."""

from __future__ import annotations

import importlib
from typing import Any

import torch

from pcbench.errors import UnavailableError
from pcbench.models import Inputs

VOCABULARY = 512


def library(model: str) -> Any:
    """transformers, for the model of this name.

    Raises:
        UnavailableError: It is not installed, or cannot be imported.
    """
    try:
        return importlib.import_module("transformers")
    except ImportError as error:
        why = "" if getattr(error, "name", None) == "transformers" else f", which cannot be imported: {error}"
        raise UnavailableError(f"model {model} needs transformers{why}", hint="pip install 'pcbench[zoo]'") from error


def tokens() -> Inputs:
    """``input_ids`` and ``attention_mask`` by keyword, (2, 16) int64 each; the second row ends in padding."""
    ids = torch.randint(3, VOCABULARY, (2, 16), generator=torch.Generator().manual_seed(1))
    mask = torch.ones_like(ids)
    mask[1, 12:] = 0
    return (), {"input_ids": ids, "attention_mask": mask}
