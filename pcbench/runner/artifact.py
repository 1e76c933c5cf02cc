"""A captured model as a folder: a strategy's payload and a manifest that says what it was made for."""

from __future__ import annotations

import os
import platform as python_platform
import shutil
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from importlib import metadata
from pathlib import Path
from typing import Any

import torch
from torch import nn

from pcbench import manifest, pytrees, snapshot
from pcbench.errors import ArtifactError
from pcbench.manifest import Manifest, Platform
from pcbench.runner import agreement
from pcbench.strategies import Strategy


@dataclass(frozen=True)
class Artifact:
    """A saved model.

    Attributes:
        folder: Where its payload and manifest are.
        manifest: What the manifest says.
    """

    folder: Path
    manifest: Manifest


@dataclass(frozen=True)
class Captured:
    """A captured model that is not saved yet; ``manifest`` still lacks the digests."""

    strategy: Strategy
    payload: Any
    manifest: Manifest


def here() -> Platform:
    """What this process is, as far as an artifact depends on it."""
    try:
        triton = metadata.version("triton")
    except metadata.PackageNotFoundError:
        triton = None
    return Platform(
        torch=torch.__version__,
        torch_git=torch.version.git_version or "unknown",
        triton=triton,
        python=python_platform.python_version(),
        device="cuda" if torch.cuda.is_available() else "cpu",
        isa=torch.backends.cpu.get_cpu_capability(),
        arch=python_platform.machine(),
        threads=torch.get_num_threads(),
    )


def describe(
    name: str, strategy: Strategy, model: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Manifest:
    """Run the model once, and write down what loading will have to know; the model is left as it was.

    Dataclasses in its inputs and outputs are registered as pytree nodes for the rest of the process.

    Raises:
        UsageError: The output holds no tensor.
        UnavailableError: A dataclass among inputs or outputs is local to a function.
    """
    with snapshot.preserved(list(model.buffers()), args, kwargs), snapshot.without_gradients(model.parameters()):
        output = model(*args, **kwargs)
    agreement.require_tensors(output)
    inputs, found = pytrees.tensors((args, kwargs)), here()
    return Manifest(
        strategy=name,
        weights=strategy.weights,
        platform=replace(
            found,
            device=inputs[0].device.type if inputs else "cpu",
            isa=found.isa if strategy.machine_code else manifest.ANY_ISA,
        ),
        grad=torch.is_grad_enabled(),
        inputs=tuple(f"{str(t.dtype).removeprefix('torch.')}{list(t.shape)}:{list(t.stride())}" for t in inputs),
        dataclasses=pytrees.register((args, kwargs, output)),
        fingerprint=agreement.fingerprint(model, args, kwargs),
        sha256={},
    )


def capture(
    description: Manifest, strategy: Strategy, model: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Captured:
    """Capture the model that :func:`describe` described."""
    return Captured(strategy, strategy.capture(model, args, kwargs), description)


def save(captured: Captured, folder: Path, clock: AbstractContextManager[None] | None = None) -> Artifact:
    """Write the artifact beside ``folder``, then rename: a folder that is there is whole.

    ``clock`` surrounds the strategy's own save, without the manifest and its digests.

    Raises:
        ArtifactError: ``folder`` exists already.
    """
    if folder.exists():
        raise ArtifactError(f"{folder} exists already", hint="remove it, or save under another name")
    aside = folder.with_name(f".{folder.name}.{os.getpid()}")
    aside.mkdir(parents=True)
    try:
        with clock or nullcontext():
            captured.strategy.save(captured.payload, aside)
        whole = replace(captured.manifest, sha256=manifest.digests(aside))
        manifest.write(aside, whole)
        aside.rename(folder)
    except BaseException:
        shutil.rmtree(aside, ignore_errors=True)
        raise
    return Artifact(folder, whole)


def open_checked(folder: Path, name: str) -> Artifact:
    """The artifact in ``folder``, after its manifest and files were checked against this process.

    Raises:
        ArtifactError: It is damaged, or was made for something other than this process; the error says what differs.
    """
    found = manifest.read(folder)
    manifest.check(folder, found, name, here())
    if found.grad != torch.is_grad_enabled():
        was, now = ("with" if grad else "without" for grad in (found.grad, torch.is_grad_enabled()))
        raise ArtifactError(f"{folder} was saved {was} gradients, this is {now}", hint="load it under torch.no_grad()")
    pytrees.register_named(found.dataclasses)
    return Artifact(folder, found)
