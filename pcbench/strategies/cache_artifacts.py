"""``torch.compile`` with its caches as one file: ``torch.compiler.save_cache_artifacts`` and ``load_cache_artifacts``.

A load writes the artifacts into Inductor's cache folder and traces the model again; what the trace asks to compile is
found there, but for C++ kernels, whose sources alone are in the artifacts.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch
from torch import nn

from pcbench import snapshot, torch_api
from pcbench.errors import ArtifactError
from pcbench.strategies import Runner, Strategy, one_line, round_trip, weak_runner
from pcbench.strategies._compiled import compiled, needs_no_grad, own_function

_FILE = "artifacts.bin"
_NEEDED = ("inductor", "aot_autograd")


def capture(model: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bytes | ArtifactError:
    """This model's cache artifacts, or why torch kept none; the model is called, and left as it was."""
    with torch_api.get("cache_artifacts").with_fresh_cache(), snapshot.preserved(model, args, kwargs):
        compiled(own_function())(model, args, kwargs)
        saved = torch.compiler.save_cache_artifacts()
        kinds = () if saved is None else tuple(saved[1].artifacts)
        lacking = [kind for kind in _NEEDED if kind not in kinds]
        if saved is not None and not lacking:
            return bytes(saved[0])
        reason = _reason(model, args, kwargs)
    return ArtifactError(
        f"torch's caches kept no {' and no '.join(lacking)} artifact of this model: {reason}",
        hint=needs_no_grad(model) or "what they bypass is compiled at each start",
    )


def _reason(model: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> str:
    """What torch's caches say against this model: they say it only when told to raise."""
    try:
        with torch_api.get("autograd_config").patch(strict_autograd_cache=True):
            compiled(own_function())(model, args, kwargs)
    except Exception as error:  # the caches raise what they like: it is all told
        return one_line(getattr(error, "inner_exception", error))  # Dynamo's own error holds the backend's
    return "torch does not say why"


def save(captured: bytes | ArtifactError, folder: Path) -> None:
    """Write the artifacts.

    Raises:
        ArtifactError: There are none, or not all that a load needs.
    """
    if isinstance(captured, ArtifactError):
        raise captured
    (folder / _FILE).write_bytes(captured)


def load(folder: Path, model: nn.Module) -> Runner:
    """A function that its first call compiles, out of caches that hold the artifacts.

    Raises:
        ArtifactError: torch cannot read them.
    """
    if torch.compiler.load_cache_artifacts((folder / _FILE).read_bytes()) is None:
        raise ArtifactError(f"torch cannot read the cache artifacts in {folder}", hint="capture the model again")
    return weak_runner(model, compiled(own_function()))


STRATEGY = Strategy(
    summary="cache artifacts: torch.compile's caches as one file; a load traces again",
    weights="passed",
    probe=lambda: round_trip(capture, save, load),
    capture=capture,
    save=save,
    load=load,
    imports=("dynamo", "inductor"),
    retraces=True,
)
