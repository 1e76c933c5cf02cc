"""Compile a launch for a chip that is not there, as a launch on it would, and say what that took."""

from __future__ import annotations

import contextlib
import functools
import io
import re
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch
import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.backends.nvidia import compiler as nvidia
from triton.compiler.compiler import make_backend
from triton.compiler.errors import CompilationError

from pcbench import timing
from pcbench.codegen.chips import CHIPS, Chip
from pcbench.codegen.recording import Variant
from pcbench.errors import PcbenchError, UnavailableError

_HITS = 5
_REFUSED = re.compile(r"ptxas\S*\s.*\b(fatal|error)\s*:")
_TEMPORARY = re.compile(r"\S+\.ptx\b")


class CompileFailedError(PcbenchError):
    """The compiler refused a kernel; the problem is what it said."""


@dataclass(frozen=True)
class Compiled:
    """What a compilation gave, and what it took.

    Attributes:
        asm: What each stage made, by Triton's name of the stage; machine code is bytes.
        metadata: Triton's own, by attribute.
        key: The same for the same source, types, constants, options, chip and compiler.
        log: What the compiler printed meanwhile, ptxas' words among it.
        stage_cpu_s: CPU seconds by stage, of this process and of the assembler; the front end is in none of them.
        cpu_s: CPU seconds of the whole.
        wall_s: Wall seconds of the whole.
        hit_s: Wall seconds of the same again, where only the files of the first are left; the least of 5.
    """

    asm: Mapping[str, Any]
    metadata: Any
    key: str
    log: str
    stage_cpu_s: Mapping[str, float]
    cpu_s: float
    wall_s: float
    hit_s: float


class _CompileOnly:
    """Of a driver, what compiling asks for: which chip there is. It can load and launch nothing."""

    def __init__(self, target: Any) -> None:
        self._target = target

    def get_current_device(self) -> int:
        return 0

    def get_current_stream(self, device: int) -> int:  # noqa: ARG002  # Triton's own signature
        return 0

    def get_current_target(self) -> Any:
        return self._target

    def get_benchmarker(self) -> None:
        return None


@triton.jit
def _nothing(x):  # type: ignore[no-untyped-def]  # a kernel's parameter has Triton's type, known when it is launched
    tl.store(x, 1.0)


def compile_for(name: str) -> Chip:
    """From here on, this process compiles for the chip; what only a first compilation takes is over.

    Raises:
        UnavailableError: This Triton cannot compile the simplest kernel for it.
    """
    chip = CHIPS[name]
    triton.runtime.driver.set_active(_CompileOnly(GPUTarget(chip.backend, chip.arch, chip.warp)))
    try:
        _warm(chip)
    except CompileFailedError as error:
        raise UnavailableError(f"Triton {triton.__version__} does not compile for {name}: {error.problem}") from error
    return chip


@functools.cache
def _warm(chip: Chip) -> None:
    assembler(chip)
    compiled(Variant(_nothing, (torch.empty(16, device="meta"),), {}, ""), {})


@functools.cache
def assembler(chip: Chip) -> str:
    """What makes the machine code, with its version where it is a program of its own."""
    if chip.backend != "cuda":
        return "LLVM"
    words = [nvidia.get_ptxas(chip.arch).path, "--version"]
    told = subprocess.run(words, check=True, capture_output=True, text=True).stdout
    version = re.search(r"\bV(\d+(\.\d+)+)", told)
    if version is None:
        raise PcbenchError(f"{words[0]} does not tell its version: {told.strip()!r}")
    return f"ptxas {version.group(1)}"


def compiled(variant: Variant, known: dict[str, Compiled]) -> Compiled:
    """Compile it for the chip of :func:`compile_for`; what is known already is not measured again.

    Args:
        known: By key, what was compiled; it is added there.

    Raises:
        CompileFailedError: The compiler refused it.
    """
    _forget(variant.function)
    spent: dict[str, float] = {}
    said = io.StringIO()
    with _stages_timed(spent), contextlib.redirect_stdout(said):
        cpu, wall = timing.cpu_seconds(), time.perf_counter()
        try:
            kernel = _warmed_up(variant)
        except Exception as error:  # the compiler may raise anything, and so may what a kernel does in it: it is said
            raise CompileFailedError(_why(error)) from error
        cpu, wall = timing.cpu_seconds() - cpu, time.perf_counter() - wall
    if kernel.hash not in known:
        hit_s = min(_hit_s(variant) for _ in range(_HITS))
        known[kernel.hash] = Compiled(
            kernel.asm, kernel.metadata, kernel.hash, said.getvalue(), spent, cpu, wall, hit_s
        )
    return known[kernel.hash]


def _warmed_up(variant: Variant) -> Any:
    return variant.function.warmup(*variant.args, grid=(1,), **variant.kwargs)


def _hit_s(variant: Variant) -> float:
    _forget(variant.function)
    before = time.perf_counter()
    _warmed_up(variant)
    return time.perf_counter() - before


def _forget(function: Any) -> None:
    """Let a jit function look for files again: what it has in memory may be of another chip."""
    function.device_caches.clear()
    function.device_caches[0]  # makes what binds arguments, which is no part of a compilation


@contextmanager
def _stages_timed(spent: dict[str, float]) -> Iterator[None]:
    """Add each stage's CPU seconds to ``spent``, in order."""
    backend: Any = type(make_backend(triton.runtime.driver.active.get_current_target()))
    before = backend.add_stages

    def adding(self: Any, stages: dict[str, Any], *rest: Any) -> None:
        before(self, stages, *rest)
        stages.update({name: _timed(name, stage, spent) for name, stage in stages.items()})

    backend.add_stages = adding
    try:
        yield
    finally:
        backend.add_stages = before


def _timed(name: str, stage: Callable[..., Any], spent: dict[str, float]) -> Callable[..., Any]:
    def run(*args: Any) -> Any:
        before = timing.cpu_seconds()
        made = stage(*args)
        spent[name] = timing.cpu_seconds() - before
        return made

    return run


def _why(error: BaseException) -> str:
    """The compiler's own words in one line, without its temporary files."""
    if isinstance(error, CompilationError) and error.error_message is None and error.__cause__ is not None:
        return _why(error.__cause__)
    lines = [line.strip() for line in str(error).splitlines() if line.strip(" ^")] or ["it gave no reason"]
    refused = next((line for line in lines if _REFUSED.match(line)), None)
    if refused is not None:
        return _TEMPORARY.sub("the PTX", refused)
    if isinstance(error, CompilationError):
        place = re.match(r"at \d+:\d+", lines[0])
        return f"{type(error).__name__} {place.group() if place else ''}: {lines[-1]}"
    return f"{type(error).__name__}: {lines[0]}"
