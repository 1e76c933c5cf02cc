"""A captured model as a folder: a strategy's payload and a manifest that says what it was made for."""

from __future__ import annotations

import errno
import os
import platform as python_platform
import weakref
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from dataclasses import dataclass, replace
from importlib import metadata
from pathlib import Path
from typing import Any

import torch
from torch import nn

from pcbench import manifest, processes, pytrees, signing, snapshot, vetting
from pcbench.errors import ArtifactError, PcbenchError
from pcbench.manifest import Caches, Manifest, Platform
from pcbench.runner import agreement
from pcbench.strategies import Strategy

_DISK = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS, errno.EACCES, errno.EPERM, errno.EIO, errno.ENAMETOOLONG)
_ROOM = 2**20
"""With fewer free bytes than these, a write that failed is taken to have failed for want of room."""


@dataclass(frozen=True)
class Artifact:
    """A saved model.

    Attributes:
        folder: Where it was saved.
        manifest: What the manifest says.
        payload: The folder to load from: of an artifact that was opened, the private copy that was checked.
    """

    folder: Path
    manifest: Manifest
    payload: Path


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
        features=tuple(sorted(name for name, has in torch.cpu.get_capabilities().items() if has is True)),
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
            features=found.features if strategy.machine_code else (),
        ),
        grad=torch.is_grad_enabled(),
        inputs=tuple(f"{str(t.dtype).removeprefix('torch.')}{list(t.shape)}:{list(t.stride())}" for t in inputs),
        dataclasses=pytrees.register((args, kwargs, output)),
        fingerprint=agreement.fingerprint(model, args, kwargs),
        files={},
    )


def capture(
    description: Manifest, strategy: Strategy, model: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Captured:
    """Capture the model that :func:`describe` described."""
    return Captured(strategy, strategy.capture(model, args, kwargs), description)


def save(
    captured: Captured,
    folder: Path,
    clock: AbstractContextManager[None] | None = None,
    gather: Callable[[Path], Caches] | None = None,
) -> Artifact:
    """Write and sign the artifact beside ``folder``, then rename: a folder that is there is whole.

    What a process that was killed left there is removed. The key is made where this user has none.

    Args:
        captured: What is saved.
        folder: Where; it must not exist. It can be read by this user alone.
        clock: Surrounds the strategy's own save, without the manifest and its digests.
        gather: Adds compiler caches to a folder, and says what they were made with.

    Raises:
        ArtifactError: ``folder`` exists already, or cannot be written.
    """
    if folder.exists():
        raise _exists(folder)
    with _writing(folder):
        folder.parent.mkdir(parents=True, exist_ok=True)
        with processes.scratch(folder.parent) as aside:
            made = aside / "artifact"
            made.mkdir()
            with clock or nullcontext():
                captured.strategy.save(captured.payload, made)
            caches = None if gather is None else gather(made)
            whole = replace(captured.manifest, files=manifest.listed(made), caches=caches)
            text = manifest.text_of(whole)
            (made / manifest.FILE).write_bytes(text)
            (made / manifest.SIGNATURE).write_text(signing.sign(text))
            for path in (made, *made.rglob("*")):
                path.chmod(0o700 if path.is_dir() else 0o600)
            try:
                made.rename(folder)
            except OSError as error:
                if error.errno in (errno.ENOTEMPTY, errno.EEXIST):
                    raise _exists(folder) from error
                raise
    return Artifact(folder, whole, folder)


def save_payload(captured: Captured, folder: Path) -> None:
    """Write what a load in this same process needs into a new folder: no manifest, no signature.

    Raises:
        ArtifactError: It cannot be written.
    """
    with _writing(folder):
        folder.mkdir()
        captured.strategy.save(captured.payload, folder)


@contextmanager
def _writing(folder: Path) -> Iterator[None]:
    """Say of a disk that is full, or may not be written, that it is so: torch says only that its writer failed."""
    try:
        yield
    except PcbenchError:
        raise
    except Exception as error:  # a strategy may raise anything
        reason = _why_not_written(error, folder.parent)
        if reason is None:
            raise
        raise ArtifactError(
            f"{folder} could not be written: {reason}", hint="nothing of it was kept; save it where there is room"
        ) from error


def _exists(folder: Path) -> ArtifactError:
    return ArtifactError(f"{folder} exists already", hint="remove it, or save under another name")


def _why_not_written(error: Exception, parent: Path) -> str | None:
    """What the file system lacks, as far as that is why; None where it is something else."""
    if isinstance(error, OSError):
        return os.strerror(error.errno) if error.errno in _DISK else None
    found = os.statvfs(parent) if parent.is_dir() else None
    return os.strerror(errno.ENOSPC) if found is not None and found.f_bavail * found.f_frsize < _ROOM else None


def opened(folder: Path, *, trust: bool = False) -> Artifact:
    """The artifact in ``folder``, in a private copy that was checked, and is kept as long as the answer is.

    What of torch and of this machine it needs is not checked yet: see :func:`require_here`.

    Args:
        folder: Where it was saved.
        trust: Take it without this user's signature, and from another user. Loading then runs whatever code it holds.

    Raises:
        ArtifactError: It is damaged, or not to be trusted; the error says how.
    """
    with ExitStack() as stack:
        private = stack.enter_context(processes.scratch())
        found = Artifact(folder, vetting.checked_copy(folder, private / "artifact", trust=trust), private / "artifact")
        weakref.finalize(found, stack.pop_all().close)
    return found


def require_here(found: Artifact, name: str) -> None:
    """Check that a strategy's artifact was made for this process, and register the dataclasses that it needs.

    Raises:
        ArtifactError: It was made for something other than this process; the error says what differs.
    """
    manifest.check(found.folder, found.manifest, name, here())
    if found.manifest.grad != torch.is_grad_enabled():
        was, now = ("with" if grad else "without" for grad in (found.manifest.grad, torch.is_grad_enabled()))
        raise ArtifactError(
            f"{found.folder} was saved {was} gradients, this is {now}",
            hint="load it under torch.no_grad()" if torch.is_grad_enabled() else "load it under torch.enable_grad()",
            layer="platform",
        )
    pytrees.register_named(found.manifest.dataclasses)
