"""The sidecar of a result file: what the run ran on, and why a case has no number.

JSON lines. The first is one object: schema, commit, environment, torch, torch_git, triton, python, threads, isa, gpu,
driver, profile, flags, compiler, load_average. Each later one is ``{"case", "status", "reason"}``, or
``{"case", "claim"}`` with what became of a claim that the case counts, or ``{"case", "census"}`` with the whole census
that the case has an entry of, or ``{"case", "codegen"}`` with the rows of a kernel and target, or
``{"case", "kernel_times"}`` with all that timing a kernel told.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from pcbench.analysis.codegen_rows import CodegenRow, read_row
from pcbench.analysis.parsing import expect, load_json, optional, read_text
from pcbench.analysis.records import Absence, Context
from pcbench.claims import ClaimOutcome, ClaimResult
from pcbench.errors import ResultsError, UsageError
from pcbench.guard_samples import Census, read_census
from pcbench.kernel_samples import KernelTimes, read_times
from pcbench.sidecar import SCHEMA


@dataclass(frozen=True)
class Sidecar:
    """A sidecar as read.

    Attributes:
        absences: The case's id to why it has no number; the last line about a case counts.
        claims: The claim's id to what became of it.
        problems: What of the file could not be read.
        censuses: The target to the census of its guards.
        codegen: The kernel and the target to what the compiler made of it.
        kernel_times: The launch, as ``softmax float16 rows=4096 columns=1024``, to what timing it told.
    """

    context: Context
    absences: Mapping[str, Absence]
    problems: tuple[str, ...] = ()
    claims: Mapping[str, ClaimResult] = field(default_factory=dict)
    censuses: Mapping[str, Census] = field(default_factory=dict)
    codegen: Mapping[tuple[str, str], tuple[CodegenRow, ...]] = field(default_factory=dict)
    kernel_times: Mapping[str, KernelTimes] = field(default_factory=dict)


def sidecar_path(result: Path) -> Path:
    """Where the sidecar of a result file is."""
    return result.with_suffix(".context")


def read_sidecar(path: Path) -> Sidecar:
    """Read a sidecar; a later line that is broken is named, the rest is read.

    Raises:
        ResultsError: The file or its first line cannot be read.
    """
    lines = read_text(path).splitlines()
    if not lines:
        raise ResultsError("is empty")
    context = _context(expect(load_json(lines[0]), dict, "line 1"))
    absences: dict[str, Absence] = {}
    claims: dict[str, ClaimResult] = {}
    censuses: dict[str, Census] = {}
    codegen: dict[tuple[str, str], tuple[CodegenRow, ...]] = {}
    times: dict[str, KernelTimes] = {}
    problems = []
    for number, line in enumerate(lines[1:], start=2):
        try:
            told = expect(load_json(line), dict, "it")
            if "claim" in told:
                result = _claim(expect(told["claim"], dict, "claim"))
                claims[result.id] = result
            elif "census" in told:
                target, census = _census(expect(told["census"], dict, "census"))
                censuses[target] = census
            elif "codegen" in told:
                compiled, rows = _codegen(expect(told["codegen"], dict, "codegen"))
                codegen[compiled] = rows
            elif "kernel_times" in told:
                timed = _times(expect(told["kernel_times"], dict, "kernel_times"))
                times[timed.launch] = timed
            else:
                case, absence = _absence(told)
                absences[case] = absence
        except ResultsError as error:
            problems.append(f"line {number}: {error.problem}")
    return Sidecar(context, absences, tuple(problems), claims, censuses, codegen, times)


def _context(head: Mapping[str, object]) -> Context:
    schema = head.get("schema")
    if schema != SCHEMA:
        raise ResultsError(f"has schema {schema!r}; this pcbench reads schema {SCHEMA}")
    flags = optional(head.get("flags"), dict, "flags") or {}

    def text(key: str) -> str | None:
        return optional(head.get(key), str, key)

    return Context(
        commit=expect(head.get("commit"), str, "commit"),
        environment=expect(head.get("environment"), str, "environment"),
        torch=text("torch"),
        torch_git=text("torch_git"),
        triton=text("triton"),
        python=text("python"),
        threads=optional(head.get("threads"), int, "threads"),
        isa=text("isa"),
        gpu=text("gpu"),
        driver=text("driver"),
        profile=text("profile"),
        flags={str(key): str(value) for key, value in flags.items()},
        compiler=text("compiler"),
        load_average=_load_average(head.get("load_average")),
    )


def _load_average(value: object) -> float | None:
    return float(value) if isinstance(value, int) else optional(value, float, "load_average")


def _absence(line: Mapping[str, object]) -> tuple[str, Absence]:
    case = expect(line.get("case"), str, "case")
    return case, Absence(expect(line.get("status"), str, "status"), optional(line.get("reason"), str, "reason"))


def _claim(told: Mapping[str, object]) -> ClaimResult:
    texts = {key: expect(told.get(key), str, key) for key in ("id", "document", "claim", "outcome", "evidence")}
    outcome = texts.pop("outcome")
    if outcome not in set(ClaimOutcome):
        raise ResultsError(f"{outcome!r} is no outcome of a claim")
    return ClaimResult(**texts, outcome=ClaimOutcome(outcome))


def _census(told: Mapping[str, object]) -> tuple[str, Census]:
    target = expect(told.get("target"), str, "target")
    try:
        return target, read_census(told)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise ResultsError(f"the census of {target} has another form: {type(error).__name__}: {error}") from error


def _codegen(told: Mapping[str, object]) -> tuple[tuple[str, str], tuple[CodegenRow, ...]]:
    kernel, target = expect(told.get("kernel"), str, "kernel"), expect(told.get("target"), str, "target")
    try:
        rows = tuple(read_row(row, f"{kernel} for {target}") for row in expect(told.get("rows"), list, "rows"))
    except UsageError as error:
        raise ResultsError(error.problem) from error
    return (kernel, target), rows


def _times(told: Mapping[str, object]) -> KernelTimes:
    try:
        return read_times(told)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        why = f"{type(error).__name__}: {error}"
        raise ResultsError(f"the times of {told.get('kernel')} have another form: {why}") from error
