"""A row for each launch of a kernel, at each size and dtype that it is tracked at, as compiled for each chip."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal

import triton

from pcbench import discovery, timing
from pcbench.codegen import amd_code, compiling, intermediate, machine_code, recording
from pcbench.codegen.chips import CHIPS, Chip, Multiprocessor, occupancy
from pcbench.codegen.compiling import Compiled, CompileFailedError
from pcbench.codegen.recording import Tracked, Variant
from pcbench.codegen_asking import row
from pcbench.errors import ExtensionError, UnavailableError
from pcbench.status import Status

Emit = Callable[[dict[str, Any]], None]


@dataclass(frozen=True)
class Request:
    """What a measured process was asked for.

    Attributes:
        target: Of no account.
        kernels: Names, paths to files that end in KERNEL, or ``module:function`` of a plain jit function.
        chips: Names of chips, such as ``sm_90``.
        configs: Whether all configurations of a tuned kernel are compiled, or the first.
        assembly: Whether rows carry the machine code in words.
        signature: The types of a plain function's parameters, such as ``*fp32,i32``.
        constexprs: A plain function's constants, and options of the compiler.
    """

    target: str
    threads: int
    cwd: str
    kernels: Sequence[str]
    chips: Sequence[str]
    configs: Literal["first", "all"] = "first"
    assembly: bool = False
    signature: str | None = None
    constexprs: Mapping[str, int | str] = field(default_factory=dict)


@dataclass(frozen=True)
class Read:
    """What was made of a launch, in numbers and words; ``warnings`` are the assembler's."""

    metrics: dict[str, int | float]
    words: dict[str, str]
    mix: dict[str, int]
    warnings: tuple[str, ...]
    sha256: str
    assembly: str


def codegen(request: Request, clock: timing.PhaseClock, emit: Emit) -> None:  # noqa: ARG001  # one signature for all requests
    """Emit each row as soon as it is there; before a kernel's, what is done next, and ``at``: its kernel and chip.

    Raises:
        UsageError: There is no such kernel, or no such chip.
    """
    for chip in request.chips:
        discovery.check_name("chip", chip, tuple(CHIPS))
    compiled: dict[str, Compiled] = {}
    read: dict[str, Read] = {}
    for name in request.kernels:
        emit({"stage": f"load {name}", "at": [name, None]})
        try:
            places = recording.tracked(name, Path(request.cwd), request.signature, request.constexprs)
        except (ExtensionError, UnavailableError) as error:
            why = error.problem if error.hint is None else f"{error.problem} ({error.hint})"
            for chip in request.chips:
                emit({"row": row(name, chip, Status.UNAVAILABLE, why, triton=triton.__version__)})
            continue
        for chip in request.chips:
            emit({"stage": f"compile {name} for {chip}", "at": [name, chip]})
            for found in _rows(name, chip, places, request, compiled, read):
                emit({"row": found})


def _rows(
    name: str,
    target: str,
    places: tuple[Tracked, ...],
    request: Request,
    compiled: dict[str, Compiled],
    read: dict[str, Read],
) -> Iterator[dict[str, Any]]:
    try:
        chip = compiling.compile_for(target)
    except UnavailableError as error:
        yield row(name, target, Status.UNAVAILABLE, error.problem, triton=triton.__version__)
        return
    for place in places:
        where = {
            "sizes": place.sizes,
            "dtype": place.dtype,
            "assembler": compiling.assembler(chip),
            "triton": triton.__version__,
            "work": None if place.work is None else asdict(place.work),
        }
        try:
            chosen = recording.variants(place, first=request.configs == "first")
        except UnavailableError as error:
            yield row(name, target, Status.UNAVAILABLE, error.problem, **where)
            continue
        for function, variant in _named(chosen):
            named = where | {"function": function, "config": variant.config}
            try:
                code = compiling.compiled(variant, compiled)
            except CompileFailedError as error:
                yield row(name, target, Status.COMPILE_FAILED, error.problem, **named)
                continue
            if code.key not in read:
                read[code.key] = _read(code, chip)
            yield _ok(name, target, code, read[code.key], request.assembly, named)


def _named(variants: Sequence[Variant]) -> Iterator[tuple[str, Variant]]:
    """Each with its function's name, numbered from the second on where a launch calls it in one configuration again."""
    seen: dict[tuple[str, str], int] = {}
    for variant in variants:
        name = variant.function.__name__
        count = seen[name, variant.config] = seen.get((name, variant.config), 0) + 1
        yield name if count == 1 else f"{name} #{count}", variant


def _ok(
    kernel: str, target: str, code: Compiled, read: Read, assembly: bool, named: Mapping[str, Any]
) -> dict[str, Any]:
    found = asdict(read)
    if not assembly:
        del found["assembly"]
    took = {"stage_cpu_s": dict(code.stage_cpu_s), "compile_cpu_s": code.cpu_s, "compile_wall_s": code.wall_s}
    return row(kernel, target, Status.OK, None, **named, **found, **took, hit_s=code.hit_s)


def _read(code: Compiled, chip: Chip) -> Read:
    counts = intermediate.counted(code.asm)
    if chip.multiprocessor is not None:
        return _read_cuda(code, chip.multiprocessor, counts)
    made = amd_code.read(code.asm["amdgcn"])
    metrics = made.counts | {"shared_bytes": code.metadata.shared, "warps": code.metadata.num_warps} | counts
    occupied = {} if chip.waves is None else {"occupancy": made.counts["waves"] / chip.waves}
    words = {"mma_class": made.matrix} if made.matrix else {}
    return Read(metrics | occupied, words, made.mix, (), _sha256(code.asm["hsaco"]), code.asm["amdgcn"])


def _read_cuda(code: Compiled, has: Multiprocessor, counts: Mapping[str, int]) -> Read:
    assembly = machine_code.disassembled(code.asm["cubin"])
    instructions = machine_code.read_instructions(assembly)
    usage = machine_code.read_log(code.log)
    warps, shared_bytes = code.metadata.num_warps, code.metadata.shared
    full = occupancy(has, registers=usage.counts["registers"], warps=warps, shared_bytes=shared_bytes)
    metrics = {
        **usage.counts,
        **instructions.counts,
        **counts,
        "shared_bytes": shared_bytes,
        "tensor_memory": getattr(code.metadata, "tmem_size", None) or 0,
        "warps": warps,
        "blocks_per_sm": full.blocks,
        "occupancy": full.share,
    }
    words = {"occupancy_limit": full.limit} | ({"mma_class": instructions.matrix} if instructions.matrix else {})
    return Read(metrics, words, instructions.mix, usage.warnings, _sha256(code.asm["cubin"]), assembly)


def _sha256(binary: bytes) -> str:
    return hashlib.sha256(binary).hexdigest()
