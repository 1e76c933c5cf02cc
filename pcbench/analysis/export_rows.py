"""Runs as rows for other programs: a case and a run a row, also where there is no number, with the reason."""

from __future__ import annotations

import csv
import json
import operator
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, fields
from datetime import datetime
from typing import TextIO

from pcbench.analysis.records import Absence, Case, Measurement, Run
from pcbench.status import Status


@dataclass(frozen=True)
class Row:
    """A case of a run. None where there is none, or the run does not say.

    Attributes:
        params: Name to value.
        value: The median of the samples, or the number itself, in ``unit``.
        samples: In ``unit``; None where none were recorded.
        low, high: Quartiles of the samples.
        status: ``OK``, or what became of the measurement; ``left out`` where the run holds another version of it.
        reason: Why there is no number.
        date: The commit's.
    """

    case: str
    benchmark: str
    params: dict[str, str]
    value: float | None
    unit: str | None
    kind: str | None
    worse: str | None
    n: int | None
    low: float | None
    high: float | None
    samples: tuple[float, ...] | None
    status: str
    reason: str | None
    commit: str
    date: datetime
    machine: str
    environment: str
    cpu: str | None
    num_cpu: str | None
    arch: str | None
    os: str | None
    ram: str | None
    gpu: str | None
    torch: str | None
    torch_git: str | None
    triton: str | None
    python: str | None
    threads: int | None
    isa: str | None
    profile: str | None


COLUMNS = tuple(field.name for field in fields(Row))


def rows(run: Run) -> Iterator[Row]:
    """Every case of a run, in the order in which the run has them: numbers, absences, benchmarks that were left out."""
    ran_on = _ran_on(run)
    for case, measurement in run.measurements.items():
        yield _row(case, measurement, ran_on)
    for case, absence in run.absences.items():
        yield _row(case, absence, ran_on)
    for benchmark, reason in run.left_out.items():
        yield _row(Case(benchmark), Absence("left out", reason), ran_on)


def _row(case: Case, outcome: Measurement | Absence, ran_on: dict[str, object]) -> Row:
    number = outcome if isinstance(outcome, Measurement) else None
    absence = outcome if isinstance(outcome, Absence) else None
    told: dict[str, object] = {
        name: None if number is None else getattr(number, name)
        for name in ("value", "unit", "kind", "worse", "n", "low", "high", "samples")
    }
    told["status"] = Status.OK.value if absence is None else absence.status
    told["reason"] = None if absence is None else absence.reason
    return Row(case=str(case), benchmark=case.benchmark, params=dict(case.params), **told, **ran_on)  # type: ignore[arg-type]


def _ran_on(run: Run) -> dict[str, object]:
    machine = {name: getattr(run.machine, name) for name in ("cpu", "num_cpu", "arch", "os", "ram", "gpu")}
    names = ("torch", "torch_git", "triton", "python", "threads", "isa", "profile")
    context = {name: None if run.context is None else getattr(run.context, name) for name in names}
    place = {"machine": run.machine.name, "environment": run.environment}
    gpu = machine.pop("gpu") or (None if run.context is None else run.context.gpu)
    return {"commit": run.commit, "date": run.date, **place, **machine, "gpu": gpu, **context}


def write_csv(found: Iterable[Row], file: TextIO) -> None:
    """Write rows with a heading. ``file`` is open with ``newline=""``.

    Empty where a row has None; ``params`` is a JSON object, ``samples`` a JSON list, ``date`` ISO 8601 in UTC.
    """
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(COLUMNS)
    for row in found:
        cells = dict(zip(COLUMNS, _cells(row), strict=True))
        cells["params"] = json.dumps(row.params) if row.params else "{}"
        cells["samples"] = None if row.samples is None else json.dumps(row.samples)
        cells["date"] = row.date.isoformat()
        writer.writerow(cells.values())


_cells = operator.attrgetter(*COLUMNS)
