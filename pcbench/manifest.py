"""An artifact's manifest: what the payload is, what it was made by and for, and the size and digest of each file."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from pcbench import discovery
from pcbench.errors import ArtifactError

FORMAT = 3
FILE, SIGNATURE = OWN_FILES = ("manifest.json", "manifest.sig")
_LONGEST_LINE = 4096
ASKED = ("--version", "-v")
"""What Inductor asks a compiler of its version."""

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
        isa: The instruction set as torch names it, or ``any`` for an artifact without machine code.
        arch: The machine's architecture, such as ``x86_64``.
        threads: CPU threads that torch uses: compiled guards refuse another number.
        features: What the CPU has, as torch names it, sorted: compilers that build for the native machine use any of
            it. Empty for an artifact without machine code.
    """

    torch: str
    torch_git: str
    triton: str | None
    python: str
    device: str
    isa: str
    arch: str
    threads: int
    features: tuple[str, ...] = ()


@dataclass(frozen=True)
class File:
    """A file of the artifact: its size in bytes, and its SHA-256."""

    bytes: int
    sha256: str


@dataclass(frozen=True)
class Caches:
    """What the compiler caches in an artifact were made with: the paths that compilers are given are in their keys.

    Attributes:
        torch_path: The folder of the installed torch.
        python_include: The folder of Python's headers.
        compiler: The C++ compiler, as Inductor calls it.
        answers: What it printed when it was asked for its version, by the word that asked.
    """

    torch_path: str
    python_include: str
    compiler: str
    answers: Mapping[str, str]


@dataclass(frozen=True)
class Manifest:
    """What the manifest says.

    Attributes:
        grad: Gradients were enabled at the capture.
        inputs: The input signature, one string per tensor.
        dataclasses: Pytree classes that loading needs, as ``module:qualname``.
        fingerprint: Digest of the model's weights and inputs, to notice a model that differs from process to process.
        files: Its files but the manifest and the signature, by path relative to the artifact's folder.
        caches: What its compiler caches were made with; None where it carries none.
    """

    strategy: str
    weights: str
    platform: Platform
    grad: bool
    inputs: tuple[str, ...]
    dataclasses: tuple[str, ...]
    fingerprint: str
    files: Mapping[str, File]
    caches: Caches | None = None


def listed(folder: Path) -> dict[str, File]:
    """Every file below ``folder`` but the manifest and its signature, by relative path."""
    own = {folder / name for name in OWN_FILES}
    files = sorted(p for p in folder.rglob("*") if p.is_file() and p not in own)
    return {p.relative_to(folder).as_posix(): File(p.stat().st_size, _sha256(p)) for p in files}


def text_of(manifest: Manifest) -> bytes:
    """The manifest as it is written, and signed."""
    return (json.dumps({"format": FORMAT, **asdict(manifest)}, indent=1) + "\n").encode()


def parse(text: bytes, path: Path) -> Manifest:
    """The manifest that ``text`` is, read from ``path``.

    Raises:
        ArtifactError: It is damaged, or of another format.
    """
    try:
        fields: dict[str, Any] = json.loads(text)
        if not isinstance(fields, dict):
            raise TypeError("it is no mapping")
        version = fields.pop("format")
        if version != FORMAT:
            raise ArtifactError(
                f"{path} has format {version!r:.60}, this pcbench reads {FORMAT}", hint="save it again", layer="format"
            )
        platform = fields.pop("platform")
        platform = Platform(**platform | {"features": _tuple(platform["features"])})
        caches = fields.pop("caches")
        found = Manifest(
            platform=platform,
            inputs=_tuple(fields.pop("inputs")),
            dataclasses=_tuple(fields.pop("dataclasses")),
            files={name: File(**file) for name, file in fields.pop("files").items()},
            caches=None if caches is None else Caches(**caches),
            **fields,
        )
        _require_types(found)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        why = f"it lacks {error}" if isinstance(error, KeyError) else f"{error!s:.200}"
        why = why if why.isprintable() else repr(why)
        raise ArtifactError(f"{path} is damaged: {why}", hint="save the model again", layer="format") from error
    return found


def _tuple(value: object) -> tuple[Any, ...]:
    if not isinstance(value, list):
        raise TypeError("a field is of another type")
    return tuple(value)


def _require_types(found: Manifest) -> None:
    caches, made = found.caches, found.platform
    answers = [] if caches is None else [*caches.answers.values()]
    lines: list[object] = [found.strategy, found.weights, found.fingerprint, *found.inputs, *found.dataclasses]
    lines += [made.torch, made.torch_git, made.triton or "", made.python]
    lines += [made.isa, made.arch, made.device, *made.features]
    lines += [file.sha256 for file in found.files.values()]
    if caches is not None:
        lines += [caches.torch_path, caches.python_include, caches.compiler, *caches.answers]
    numbers: list[object] = [made.threads, *(file.bytes for file in found.files.values())]
    if not all(isinstance(text, str) for text in lines + answers) or not all(type(each) is int for each in numbers):
        raise TypeError("a field is of another type")
    if not all(str(line).isprintable() and len(str(line)) <= _LONGEST_LINE for line in lines):
        raise ValueError("a field is no line of text")
    if not isinstance(found.grad, bool):
        raise TypeError("grad is neither true nor false")
    if caches is not None and set(caches.answers) != set(ASKED):
        raise ValueError("the compiler was asked something else")


def check(folder: Path, manifest: Manifest, strategy: str, here: Platform) -> None:
    """Check that the artifact was made for this process.

    Raises:
        ArtifactError: It was not; the error says what differs and what to do.
    """

    def refuse(problem: str, hint: str | None = None) -> ArtifactError:
        return ArtifactError(f"{folder} {problem}", hint=hint, layer="platform")

    if manifest.strategy != strategy:
        raise refuse(f"was saved by strategy {manifest.strategy}, not {strategy}")
    if strategy not in discovery.strategy_names():
        raise refuse(f"was saved by strategy {strategy!r:.60}, which this pcbench does not have", "save it again")
    made = manifest.platform
    for what, then, now in (
        ("torch", made.torch, here.torch),
        ("torch's commit", made.torch_git, here.torch_git),
        ("triton", made.triton, here.triton),
        ("Python", made.python, here.python),
    ):
        if then != now:
            raise refuse(f"was saved with {what} {then}, this is {now}", f"save it again, or run with that {what}")
    if made.device not in ("cpu", here.device):
        raise refuse(f"was saved for {made.device}, this process has none", "save it for cpu")
    like = "save it again on a machine like this one"
    if made.isa != ANY_ISA and made.arch != here.arch:
        raise refuse(f"was compiled for {made.arch}, this machine is {here.arch}", like)
    if not _runs_on(made.isa, here.isa):
        raise refuse(f"was compiled for {made.isa}, this machine has {here.isa}", like)
    lacking = sorted(set(made.features) - set(here.features))
    if lacking:
        raise refuse(f"was compiled on a CPU with {', '.join(lacking)}, which this one lacks", like)
    if made.threads != here.threads:
        raise refuse(
            f"was saved with {made.threads} CPU threads, this process has {here.threads}",
            f"call torch.set_num_threads({made.threads}) before loading, or save it again with {here.threads}",
        )


def _runs_on(made: str, here: str) -> bool:
    return made in (here, ANY_ISA) or any(
        made in order and here in order and order.index(made) <= order.index(here) for order in _ISA_ORDER
    )


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
