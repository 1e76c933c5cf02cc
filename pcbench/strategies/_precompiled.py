"""What the two precompile strategies share: the pair ``(python_code, cache)`` as two files."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import torch
from torch import nn

from pcbench import precompile, torch_api
from pcbench.strategies import Runner, Strategy, _marked, call_model, round_trip, weak_runner

_CODE, _CACHE = "code.py", "cache.bin"


def strategy(*, backend: str, summary: str) -> Strategy:
    """The strategy that precompiles with ``backend``."""
    capture = partial(_capture, backend=backend)
    return Strategy(
        summary=summary,
        weights="passed",
        probe=lambda: round_trip(capture, _save, _load),
        capture=capture,
        save=_save,
        load=_load,
        imports=("dynamo", "inductor"),
        machine_code=backend == "inductor",
        takes_options=backend == "inductor",
    )


def _capture(model: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any], *, backend: str) -> tuple[str, bytes]:
    if _marked.has_marks(args, kwargs):
        # precompile takes marks of the kind whose size the trace never sees, and no others.
        args, kwargs = _marked.unmarked_copies((args, kwargs), _mark_unbacked)
    return precompile.precompile(call_model, model, args, kwargs, backend=backend)


def _mark_unbacked(tensor: torch.Tensor, dims: _marked.Dims) -> None:
    for dim, (low, high) in dims.items():
        torch_api.get("mark_unbacked")(tensor, dim, min=low, max=high)


def _save(pair: tuple[str, bytes], folder: Path) -> None:
    (folder / _CODE).write_text(pair[0], encoding="utf-8")
    (folder / _CACHE).write_bytes(pair[1])


def _load(folder: Path, model: nn.Module) -> Runner:
    code, cache = (folder / _CODE).read_text(encoding="utf-8"), (folder / _CACHE).read_bytes()
    return weak_runner(model, precompile.load(code, cache))
