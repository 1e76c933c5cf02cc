"""asv's ``benchmarks.json``: what the suite measures, in which units, over which parameters."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import get_args

from pcbench.analysis.parsing import expect
from pcbench.analysis.records import Case, Kind, Worse


@dataclass(frozen=True)
class Benchmark:
    """A benchmark of the suite; results of another version of it are not comparable.

    Attributes:
        kind: As the benchmark's own attribute ``kind`` declares, else as its unit and asv's type tell.
        worse: The direction that is worse, where ``worse_by`` says nothing else; ``any`` where neither is by itself, as
            of registers and machine instructions.
        worse_by: Parameter to the direction by the parameter's value, for a benchmark that tracks several counts.
        codegen: As its attribute ``codegen`` declares, which number of the machine code of its parameters ``kernel``
            and ``target`` it is, of :data:`pcbench.codegen_numbers.QUANTITIES`; empty where it is none. Another word
            is kept: what it says is not judged.
    """

    version: str
    unit: str
    param_names: tuple[str, ...]
    worse: Worse
    worse_by: Mapping[str, Mapping[str, Worse]] = field(default_factory=dict)
    kind: Kind = "number"
    codegen: str = ""

    def worse_for(self, case: Case) -> Worse:
        """The direction that is worse for a case."""
        for name, directions in self.worse_by.items():
            direction = directions.get(case.param(name) or "")
            if direction is not None:
                return direction
        return self.worse


def read_suite(raw: Mapping[str, object]) -> dict[str, Benchmark]:
    """The benchmarks by name.

    Raises:
        ResultsError: It has another form.
    """
    suite = {}
    for name, entry in raw.items():
        if name == "version":
            continue
        fields = expect(entry, dict, name)
        unit, where = str(fields.get("unit", "")), f"worse_by of {name}"
        suite[name] = Benchmark(
            version=str(fields.get("version", "")),
            unit=unit,
            param_names=tuple(map(str, expect(fields.get("param_names", []), list, f"param_names of {name}"))),
            worse=_worse(fields.get("worse"), unit),
            worse_by={
                str(param): {str(value): _worse(direction, "") for value, direction in expect(by, dict, where).items()}
                for param, by in expect(fields.get("worse_by", {}), dict, where).items()
            },
            kind=_kind(fields.get("kind"), str(fields.get("type", "")), unit),
            codegen=expect(fields.get("codegen", ""), str, f"codegen of {name}"),
        )
    return suite


def _kind(declared: object, type_: str, unit: str) -> Kind:
    for known in get_args(Kind):
        if declared == known:
            return known  # type: ignore[no-any-return]  # get_args has no types
    if unit == "seconds" or type_.startswith("time"):
        return "time"
    if type_ == "peakmemory":
        return "memory"
    if unit == "bytes":
        return "bytes"
    return "instructions" if unit == "instructions" else "number"


def _worse(declared: object, unit: str) -> Worse:
    if declared == "up" or declared == "down" or declared == "any":
        return declared
    return "up" if unit in ("seconds", "bytes") else "any"


def plain(stored: object) -> str:
    """A parameter's value from its repr: a text without its quotes, anything else as it is."""
    try:
        value = ast.literal_eval(str(stored))
    except (ValueError, SyntaxError):
        return str(stored)
    return value if isinstance(value, str) else str(stored)


def case_of_id(identity: str, suite: Mapping[str, Benchmark]) -> Case | None:
    """The case whose ``str`` is ``identity``; None where the suite has no such benchmark or other parameters."""
    name, _, rest = identity.partition("(")
    if name not in suite:
        return None
    names = suite[name].param_names
    values = rest.removesuffix(")").split(", ") if rest else []
    return Case(name, tuple(zip(names, values, strict=True))) if len(names) == len(values) else None
