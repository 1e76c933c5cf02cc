"""Save a compiled model to a folder that can be shipped, and load it in another process."""

from __future__ import annotations

import os
import stat
import warnings
from collections.abc import Mapping
from contextlib import nullcontext
from pathlib import Path
from typing import Any

from torch import nn

from pcbench import strategies, torch_api
from pcbench.errors import PcbenchError, UsageError
from pcbench.runner import artifact, bundled, signature
from pcbench.runner.artifact import Artifact
from pcbench.strategies import Runner, Strategy

_CHECKS = "AOTI_RUNTIME_CHECK_INPUTS"


def save(
    model: nn.Module,
    example_inputs: Any,
    folder: str | os.PathLike[str],
    *,
    strategy: str,
    example_kwargs: Mapping[str, Any] | None = None,
    with_caches: bool = False,
) -> Artifact:
    """Capture the model with a strategy, and save it, signed with this user's key, to a new folder.

    Args:
        model: The model, in the mode that it is to be captured in; gradients and threads as they are now.
        example_inputs: A tensor (one argument), a tuple or list of arguments, or a mapping of keyword arguments.
        folder: Where; it must not exist. Loading it runs code: whoever can sign for its users can run theirs.
        strategy: A strategy's name.
        example_kwargs: Keyword arguments beside a tensor, tuple or list.
        with_caches: Save what was compiled with it, so that a first load elsewhere compiles nothing. The capture then
            starts from empty compiler caches. No difference to strategies that compile nothing.

    Raises:
        UsageError: There is no such strategy, or the inputs cannot be used.
        ArtifactError: The folder exists already, or cannot be written.
        UnavailableError: Caches are asked for of a model on a GPU.
        PcbenchError: There is no key to sign with, or others can write to the folder of torch's compiler caches.
        Exception: Whatever the strategy raises.
    """
    if not isinstance(model, nn.Module):
        raise UsageError(f"a {type(model).__qualname__} is no torch.nn.Module, and only those can be saved")
    args, kwargs = signature.arguments(example_inputs, example_kwargs)
    chosen = strategies.named(strategy)
    description = artifact.describe(strategy, chosen, model, args, kwargs)
    _require_own_caches(chosen)
    with bundled.alone(), bundled.saving(chosen, description) if with_caches else nullcontext() as gather:
        return artifact.save(artifact.capture(description, chosen, model, args, kwargs), Path(folder), gather=gather)


def load(folder: str | os.PathLike[str], model: nn.Module | None = None, *, trust: bool = False) -> Runner:
    """The runner of a saved model: called as the model is.

    With compiler caches in the artifact, those are used: a copy of them, in a folder of this process's own. AOTInductor
    checks the sizes of its inputs from then on in this process, unless AOTI_RUNTIME_CHECK_INPUTS says otherwise: else
    it answers other sizes than those that it was compiled for, and wrongly.

    Args:
        folder: Where it was saved.
        model: The model, for strategies whose weights are passed.
        trust: Load what this user's key did not sign, and another user's files. That runs whatever code they hold.

    Raises:
        ArtifactError: It is refused; the error says why.
        PcbenchError: Others can write to the folder of torch's compiler caches.
        UsageError: It needs the model, and there is none.
        Exception: Whatever the strategy raises.
    """
    if trust:
        warnings.warn(f"who saved {folder} is not checked, and loading it runs its code", stacklevel=2)
    found = artifact.opened(Path(folder), trust=trust)
    artifact.require_here(found, found.manifest.strategy)
    strategy = strategies.named(found.manifest.strategy)
    if strategy.weights == "passed" and model is None:
        raise UsageError(
            f"{folder} has no weights of its own: {found.manifest.strategy} takes them from the model",
            hint="load it with the model",
        )
    passed = nn.Module() if model is None else model
    unusable = bundled.unusable(found) if found.manifest.caches is not None else None
    if unusable is not None:
        warnings.warn(f"{unusable}; what is missing is compiled", stacklevel=2)
    os.environ.setdefault(_CHECKS, "1")
    with bundled.alone():
        if found.manifest.caches is None or unusable is not None:
            _require_own_caches(strategy)
            runner = strategy.load(found.payload, passed)
        else:
            runner = bundled.load(found, strategy, passed)

    def run(*args: Any, **kwargs: Any) -> Any:
        return runner(*args, **kwargs)

    run.artifact = found  # type: ignore[attr-defined]  # its private files are there as long as it is
    return run


def _require_own_caches(strategy: Strategy) -> None:
    """Check the folder from which torch takes what was compiled before: by names that anyone can know.

    Raises:
        PcbenchError: Another user can put code there.
    """
    if not strategy.machine_code:
        return
    place = Path(torch_api.get("cache_dir")())
    state = place.lstat()
    if state.st_uid not in (0, os.geteuid()) or state.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        raise PcbenchError(
            f"other users can write to torch's compiler caches in {place}, and what is in them is run",
            hint="set TORCHINDUCTOR_CACHE_DIR to a folder that is yours alone",
        )
