"""An artifact's manifest: what the payload is, what it was made by and for, and a digest of each file."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from pcbench.errors import ArtifactError

FORMAT = 2
FILE = "manifest.json"
ANY_ISA = "any"
"""The instruction set of an artifact that holds no machine code."""

# Instruction sets of one architecture as torch names them, weakest first: code for one runs on those after it.
_ISA_ORDER = (("DEFAULT", "AVX2", "AVX512"), ("DEFAULT", "SVE128"), ("DEFAULT", "SVE256"))


@dataclass(frozen=True)
class Platform:
    """What a process is, as far as an artifact depends on it.

    Attributes:
        torch, torch_git: Version and git commit of torch; ``triton`` is None without Triton.
        device: ``cpu`` or ``cuda``: what the artifact's inputs are on, or the best that the process has.
        isa: The instruction set as torch names it, or ``any`` for an artifact without machine code; finer features of
            a CPU are not compared.
        arch: The machine's architecture, such as ``x86_64``.
        threads: CPU threads that torch uses: compiled guards refuse another number.
    """

    torch: str
    torch_git: str
    triton: str | None
    python: str
    device: str
    isa: str
    arch: str
    threads: int


@dataclass(frozen=True)
class Manifest:
    """What the manifest says.

    Attributes:
        grad: Gradients were enabled at the capture.
        inputs: The input signature, one string per tensor.
        dataclasses: Pytree classes that loading needs, as ``module:qualname``.
        fingerprint: Digest of the model's weights and inputs, to notice a model that differs from process to process.
        sha256: Digest by file, relative to the artifact's folder.
    """

    strategy: str
    weights: str
    platform: Platform
    grad: bool
    inputs: tuple[str, ...]
    dataclasses: tuple[str, ...]
    fingerprint: str
    sha256: Mapping[str, str]


def digests(folder: Path) -> dict[str, str]:
    """SHA-256 of every file below ``folder`` but the manifest, by relative path."""
    files = sorted(p for p in folder.rglob("*") if p.is_file() and p != folder / FILE)
    return {p.relative_to(folder).as_posix(): _sha256(p) for p in files}


def write(folder: Path, manifest: Manifest) -> None:
    """Write the manifest into the artifact's folder."""
    text = json.dumps({"format": FORMAT, **asdict(manifest)}, indent=1)
    (folder / FILE).write_text(text + "\n", encoding="utf-8")


def read(folder: Path) -> Manifest:
    """Read a manifest.

    Raises:
        ArtifactError: There is none, or it is damaged or of another format.
    """
    path = folder / FILE
    try:
        fields: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        version = fields.pop("format")
        if version != FORMAT:
            raise ArtifactError(f"{path} has format {version}, this pcbench reads {FORMAT}", hint="save it again")
        platform = Platform(**fields.pop("platform"))
        inputs, classes = tuple(fields.pop("inputs")), tuple(fields.pop("dataclasses"))
        found = Manifest(platform=platform, inputs=inputs, dataclasses=classes, **fields)
        texts = [found.strategy, found.weights, found.fingerprint, *inputs, *classes, *found.sha256.values()]
        if not all(isinstance(text, str) for text in texts) or not isinstance(platform.threads, int):
            raise TypeError("a field is of another type")
        return found
    except FileNotFoundError as error:
        raise ArtifactError(f"{folder} is no artifact: it has no {FILE}", hint="save the model again") from error
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise ArtifactError(f"{path} is damaged: {error}", hint="save the model again") from error


def check(folder: Path, manifest: Manifest, strategy: str, here: Platform) -> None:
    """Check that the artifact is whole and was made for this process.

    Raises:
        ArtifactError: It is not; the error says what differs and what to do.
    """
    if manifest.strategy != strategy:
        raise ArtifactError(f"{folder} was saved by strategy {manifest.strategy}, not {strategy}")
    made = manifest.platform
    for what, then, now in (
        ("torch", made.torch, here.torch),
        ("torch's commit", made.torch_git, here.torch_git),
        ("triton", made.triton, here.triton),
        ("Python", made.python, here.python),
    ):
        if then != now:
            raise ArtifactError(
                f"{folder} was saved with {what} {then}, this is {now}", hint=f"save it again, or run with that {what}"
            )
    if made.device not in ("cpu", here.device):
        raise ArtifactError(f"{folder} was saved for {made.device}, this process has none", hint="save it for cpu")
    if made.threads != here.threads:
        raise ArtifactError(
            f"{folder} was saved with {made.threads} CPU threads, this process has {here.threads}",
            hint=f"call torch.set_num_threads({made.threads}) before loading, or save it again with {here.threads}",
        )
    if made.isa != ANY_ISA and made.arch != here.arch:
        raise ArtifactError(
            f"{folder} was compiled for {made.arch}, this machine is {here.arch}",
            hint="save it again on a machine like this one",
        )
    if not _runs_on(made.isa, here.isa):
        raise ArtifactError(
            f"{folder} was compiled for {made.isa}, this machine has {here.isa}",
            hint="save it again on a machine like this one",
        )
    _check_files(folder, manifest)


def _check_files(folder: Path, manifest: Manifest) -> None:
    found = digests(folder)
    for name, digest in manifest.sha256.items():
        if name not in found:
            raise ArtifactError(f"{folder} lacks its file {name}", hint="copy it whole, or save it again")
        if found[name] != digest:
            raise ArtifactError(f"{folder / name} was changed after it was saved", hint="save it again")
    for name in found:
        if name not in manifest.sha256:
            raise ArtifactError(f"{folder / name} is not part of the artifact", hint="save it again")


def _runs_on(made: str, here: str) -> bool:
    return made in (here, ANY_ISA) or any(
        made in order and here in order and order.index(made) <= order.index(here) for order in _ISA_ORDER
    )


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
