"""What the Triton compiler made of kernels: a row for each kernel, configuration and target, from JSON and to it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from pcbench.analysis.parsing import expect, load_json, optional
from pcbench.errors import ResultsError, UsageError
from pcbench.kernel_samples import Work, read_work
from pcbench.status import Status

SCHEMA = 1

_LARGEST = 2.0**63
_MAKE_AGAIN = "`pcbench codegen --json FILE` writes such files: make it again"


def is_file(kernel: str) -> bool:
    """Whether a word names a kernel by its file."""
    return kernel.endswith(".py")


def is_function(kernel: str) -> bool:
    """Whether a word names a plain function in a module."""
    return ":" in kernel and not is_file(kernel)


@dataclass(frozen=True, order=True)
class Key:
    """Which compilation a row is of. All but the kernel are empty where its process died before it told.

    Attributes:
        function: The ``@triton.jit`` function that was launched.
        sizes: ``rows=4096 columns=1024``, the extents that the kernel was launched for.
        config: ``BLOCK_M=128 num_warps=8 num_stages=3``: the launch's constants and options.
        target: ``sm_90`` or ``gfx942``.
    """

    kernel: str
    function: str = ""
    sizes: str = ""
    dtype: str = ""
    config: str = ""
    target: str = ""

    def __str__(self) -> str:
        names = self.kernel if self.function in ("", self.kernel) else f"{self.kernel} {self.function}"
        return " ".join(filter(None, (names, self.target, self.dtype, self.sizes, self.config)))


@dataclass(frozen=True)
class CodegenRow:
    """What became of one compilation.

    Attributes:
        reason: Why the status is not OK; what follows is then empty.
        assembler: ``ptxas 13.4.59``, say; ``triton`` is Triton's version.
        metrics: Counts, bytes and shares by name; one that is absent is not known.
        words: What is known in words: ``occupancy_limit``, ``mma_class``.
        mix: Machine instructions by opcode.
        warnings: The assembler's lines about performance.
        sha256: Of the machine code; the same one is the same code.
        stage_cpu_s: CPU seconds by stage of ``compile_cpu_s``.
        hit_s: Wall seconds of finding it in the disk's cache.
        assembly: The machine code as text, where it was asked for.
        work: What the whole call has to move and to compute at these sizes; None of a plain function.
    """

    key: Key
    status: Status
    reason: str | None = None
    assembler: str = ""
    triton: str = ""
    metrics: Mapping[str, float] = field(default_factory=dict)
    words: Mapping[str, str] = field(default_factory=dict)
    mix: Mapping[str, int] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    sha256: str = ""
    stage_cpu_s: Mapping[str, float] = field(default_factory=dict)
    compile_cpu_s: float | None = None
    compile_wall_s: float | None = None
    hit_s: float | None = None
    assembly: str | None = None
    work: Work | None = None


def read_rows(text: str, where: str) -> tuple[CodegenRow, ...]:
    """The rows of a file that :func:`as_json` made; ``where`` is the file's name.

    Raises:
        UsageError: It is no such file, is cut off, or has another schema.
    """
    try:
        told = expect(load_json(text), dict, "it")
        if told.get("schema") != SCHEMA:
            raise ResultsError(f"has schema {told.get('schema')!r}, and this pcbench reads {SCHEMA}")
        rows = expect(told.get("rows"), list, "its list of rows")
    except ResultsError as error:
        raise UsageError(f"{where}: {error.problem}", hint=_MAKE_AGAIN) from error
    return tuple(read_row(row, f"{where}: row {number}") for number, row in enumerate(rows, 1))


def read_row(told: object, where: str) -> CodegenRow:
    """A row that went through JSON; ``where`` says which, in an error.

    Raises:
        UsageError: It lacks what such a row has, or has it in another form.
    """
    try:
        return _row(expect(told, dict, "it"))
    except ResultsError as error:
        raise UsageError(f"{where}: {error.problem}", hint=_MAKE_AGAIN) from error


def as_json(rows: Sequence[CodegenRow]) -> dict[str, Any]:
    """What :func:`read_rows` reads."""
    return {"schema": SCHEMA, "rows": [_told(row) for row in rows]}


def _told(row: CodegenRow) -> dict[str, Any]:
    told = asdict(row)
    key = told.pop("key")
    if row.assembly is None:
        told.pop("assembly")
    return {**key, **told}


def _row(told: Mapping[str, Any]) -> CodegenRow:
    key = Key(
        expect(told.get("kernel"), str, "kernel"),
        *(_text(told, name) for name in ("function", "sizes", "dtype", "config", "target")),
    )
    status = expect(told.get("status"), str, "status")
    if status not in set(Status):
        raise ResultsError(f"status is {status!r}, which is none of {', '.join(Status)}")
    row = CodegenRow(
        key=key,
        status=Status(status),
        reason=optional(told.get("reason"), str, "reason"),
        assembler=_text(told, "assembler"),
        triton=_text(told, "triton"),
        metrics=_numbers(told, "metrics"),
        words=_texts(told, "words"),
        mix={name: int(count) for name, count in _numbers(told, "mix").items()},
        warnings=tuple(expect(line, str, "a warning") for line in _optional_list(told, "warnings")),
        sha256=_text(told, "sha256"),
        stage_cpu_s=_numbers(told, "stage_cpu_s"),
        compile_cpu_s=_number(told, "compile_cpu_s"),
        compile_wall_s=_number(told, "compile_wall_s"),
        hit_s=_number(told, "hit_s"),
        assembly=optional(told.get("assembly"), str, "assembly"),
        work=_work(told),
    )
    if not 0 <= row.metrics.get("occupancy", 0) <= 1:
        raise ResultsError(f"metrics.occupancy is {row.metrics['occupancy']}, not a share")
    wanted = {"function": key.function, "target": key.target, "sha256": row.sha256, "metrics": row.metrics}
    lacking = [name for name, value in wanted.items() if not value] if row.status is Status.OK else []
    if lacking:
        raise ResultsError(f"has status OK and no {', '.join(lacking)}")
    return row


def _work(told: Mapping[str, Any]) -> Work | None:
    work = optional(told.get("work"), dict, "work")
    try:
        return None if work is None else read_work(work)
    except (KeyError, TypeError, ValueError) as error:
        raise ResultsError(f"work has another form: {type(error).__name__}: {error}") from error


def _text(told: Mapping[str, Any], name: str) -> str:
    return optional(told.get(name), str, name) or ""


def _texts(told: Mapping[str, Any], name: str) -> dict[str, str]:
    found = optional(told.get(name), dict, name) or {}
    return {word: expect(value, str, f"{name}.{word}") for word, value in found.items()}


def _optional_list(told: Mapping[str, Any], name: str) -> list[Any]:
    return optional(told.get(name), list, name) or []


def _numbers(told: Mapping[str, Any], name: str) -> dict[str, float]:
    found = optional(told.get(name), dict, name) or {}
    return {word: _finite(value, f"{name}.{word}") for word, value in found.items()}


def _number(told: Mapping[str, Any], name: str) -> float | None:
    return None if told.get(name) is None else _finite(told[name], name)


def _finite(value: object, what: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not -_LARGEST < value < _LARGEST:
        raise ResultsError(f"{what} is {value!r:.40}, not a number")
    return value
