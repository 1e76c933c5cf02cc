"""asv's results folder (result files of version 2) as records. The one module that knows asv's format.

``benchmarks.json`` describes the suite and ``<machine>/machine.json`` the machine. ``<machine>/<commit8>-<env>.json``
holds a row per benchmark, whose columns are named in the file, with trailing nulls dropped and a list over parameter
combinations in each column. NaN is a case that does not apply, null one that failed.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from pcbench.analysis.asv_suite import Benchmark, case_of_id, plain, read_suite
from pcbench.analysis.context import Sidecar, read_sidecar, sidecar_path
from pcbench.analysis.parsing import expect, load_json, optional, read_text
from pcbench.analysis.records import Absence, Case, Machine, Measurement, Problem, Results, Run
from pcbench.errors import ResultsError

_RESULT_VERSION = 2
_MACHINE = ("cpu", "num_cpu", "arch", "os", "ram", "gpu")
_HINT = "pcbench bench and asv run write one"


def read_results(folder: Path) -> Results:
    """Read a results folder. A file that is broken is named among the problems and the rest is read.

    Raises:
        ResultsError: There is no such folder, it holds no results, or its benchmarks.json cannot be read.
    """
    suite = suite_of(folder)
    found = [
        path
        for place in sorted(path for path in folder.iterdir() if path.is_dir())
        for path in sorted(place.glob("*.json"))
        if path.name != "machine.json"
    ]
    if not found:
        raise ResultsError(f"{folder} holds no results", hint=_HINT)
    return _read(found, suite)


def read_some(folder: Path, paths: Iterable[Path]) -> Results:
    """Read some result files of a results folder; as :func:`read_results`."""
    return _read(paths, suite_of(folder))


def suite_of(folder: Path) -> dict[str, Benchmark]:
    """The suite of a results folder; ResultsError where it cannot be read."""
    if not folder.is_dir():
        raise ResultsError(f"there is no results folder {folder}", hint=_HINT)
    path = folder / "benchmarks.json"
    if not path.is_file():
        raise ResultsError(f"{folder} is no results folder: it has no benchmarks.json", hint=_HINT)
    try:
        return read_suite(expect(load_json(read_text(path)), dict, "it"))
    except ResultsError as error:
        raise ResultsError(
            f"{path}: {error.problem}", hint="asv bench and asv run write it anew; without it no result has a meaning"
        ) from error


def _read(paths: Iterable[Path], suite: Mapping[str, Benchmark]) -> Results:
    runs: list[Run] = []
    problems: list[Problem] = []
    machines: dict[Path, Machine] = {}
    for path in paths:
        if path.parent not in machines:
            machines[path.parent] = _machine_or_problem(path.parent, problems)
        try:
            runs.append(_run(path, machines[path.parent], suite, problems))
        except ResultsError as error:
            problems.append(Problem(path, error.problem))
    return Results(tuple(sorted(runs, key=lambda run: (run.date, run.commit, run.environment))), tuple(problems))


def _machine_or_problem(folder: Path, problems: list[Problem]) -> Machine:
    path = folder / "machine.json"
    try:
        raw = expect(load_json(read_text(path)), dict, "it")
    except ResultsError as error:
        problems.append(Problem(path, error.problem))
        return Machine(folder.name)

    def text(key: str) -> str | None:
        return str(raw[key]) if raw.get(key) else None

    return Machine(text("machine") or folder.name, **{key: text(key) for key in _MACHINE})


def _run(path: Path, machine: Machine, suite: Mapping[str, Benchmark], problems: list[Problem]) -> Run:
    raw = expect(load_json(read_text(path)), dict, "it")
    if raw.get("version") != _RESULT_VERSION:
        raise ResultsError(f"has result version {raw.get('version')!r}; this pcbench reads version {_RESULT_VERSION}")
    commit = expect(raw.get("commit_hash"), str, "commit_hash")
    environment = expect(raw.get("env_name"), str, "env_name")
    columns = [str(column) for column in expect(raw.get("result_columns"), list, "result_columns")]
    sidecar = _sidecar_or_problem(path, commit, environment, problems)
    measurements: dict[Case, Measurement] = {}
    absences: dict[Case, Absence] = {}
    left_out: dict[str, str] = {}
    for name, row in expect(raw.get("results"), dict, "results").items():
        try:
            cells = _cells(columns, expect(row, list, "its row"))
            reason = _left_out(suite.get(name), cells)
            if reason is not None:
                left_out[name] = reason
                continue
            for case, outcome in _cases(name, suite[name], cells):
                if isinstance(outcome, Measurement):
                    measurements[case] = outcome
                else:
                    absences[case] = _reason(case, outcome, sidecar)
        except ResultsError as error:
            problems.append(Problem(path, f"{name}: {error.problem}"))
    if sidecar is not None:
        for identity, absence in sidecar.absences.items():
            told = case_of_id(identity, suite)
            if told is not None and told.benchmark not in left_out and told not in measurements:
                absences.setdefault(told, absence)
    # machine.json tells what the machine is now, the result what it was then.
    then = optional(raw.get("params"), dict, "params") or {}
    facts: dict[str, Any] = {key: str(then[key]) or None for key in _MACHINE if key in then}
    machine = replace(machine, **facts)
    run = Run(commit, _date(raw.get("date")), environment, machine, None, measurements, absences, left_out)
    if sidecar is None:
        return run
    run = replace(run, context=sidecar.context, claims=sidecar.claims, censuses=sidecar.censuses)
    return replace(run, codegen=sidecar.codegen, kernel_times=sidecar.kernel_times)


def _date(value: object) -> datetime:
    try:
        return datetime.fromtimestamp(expect(value, int, "date") / 1000, UTC)
    except (OverflowError, ValueError, OSError) as error:
        raise ResultsError(f"date {value} is no date") from error


def _sidecar_or_problem(path: Path, commit: str, environment: str, problems: list[Problem]) -> Sidecar | None:
    beside = sidecar_path(path)
    if not beside.exists():
        return None
    try:
        sidecar = read_sidecar(beside)
    except ResultsError as error:
        problems.append(Problem(beside, error.problem))
        return None
    problems.extend(Problem(beside, what) for what in sidecar.problems)
    context = sidecar.context
    if (context.commit, context.environment) != (commit, environment):
        problems.append(Problem(beside, f"is about commit {context.commit[:8]} in {context.environment}: not used"))
        return None
    return sidecar


def _cells(columns: Sequence[str], row: list[object]) -> dict[str, object]:
    if len(row) > len(columns):
        raise ResultsError(f"its row has {len(row)} columns, the file names {len(columns)}")
    return dict(itertools.zip_longest(columns, row))


def _left_out(benchmark: Benchmark | None, cells: Mapping[str, object]) -> str | None:
    if benchmark is None:
        return "benchmarks.json does not have it"
    if (version := str(cells.get("version"))) != benchmark.version:
        return f"measured as version {version[:12]}, the suite has version {benchmark.version[:12]}"
    params = cells.get("params")
    if isinstance(params, list) and len(params) != len(benchmark.param_names):
        return f"measured with {len(params)} parameters, the suite has {len(benchmark.param_names)}"
    return None


def _cases(name: str, benchmark: Benchmark, cells: Mapping[str, object]) -> list[tuple[Case, Measurement | Absence]]:
    params = [expect(values, list, "params") for values in expect(cells.get("params"), list, "params")]
    cases = _combinations(name, benchmark.param_names, tuple(tuple(map(str, values)) for values in params))
    if "result" not in cells:
        raise ResultsError("result_columns has no column result")
    if cells["result"] is None:
        return [(case, Absence("failed")) for case in cases]
    per_case: dict[str, list[object]] = {}
    for column in ("result", "stats_q_25", "stats_q_75", "stats_repeat", "samples"):
        values = cells.get(column)
        per_case[column] = [None] * len(cases) if values is None else expect(values, list, column)
        if len(per_case[column]) != len(cases):
            raise ResultsError(f"{len(per_case[column])} values of {column} for {len(cases)} parameter combinations")
    rows = zip(*per_case.values(), strict=True)
    return [(case, _outcome(benchmark, case, *row)) for case, row in zip(cases, rows, strict=True)]


@functools.lru_cache(maxsize=4096)  # hundreds of runs hold the same cases: they share them
def _combinations(name: str, names: tuple[str, ...], stored: tuple[tuple[str, ...], ...]) -> tuple[Case, ...]:
    values = [[plain(value) for value in each] for each in stored]
    return tuple(Case(name, tuple(zip(names, one, strict=True))) for one in itertools.product(*values))


def _outcome(
    benchmark: Benchmark, case: Case, value: object, low: object, high: object, repeat: object, samples: object
) -> Measurement | Absence:
    if value is None:
        return Absence("failed")
    if not isinstance(value, int | float):
        return Absence("failed", f"its value is no number: {value!r}"[:200])
    if math.isnan(number := _number(value)):
        return Absence("n/a")
    if math.isinf(number):
        return Absence("failed", "its value is infinite")
    recorded = optional(samples, list, "samples")
    taken = None if recorded is None else tuple(_number(sample) for sample in recorded)
    if taken is not None and not all(map(math.isfinite, taken)):
        return Absence("failed", "a sample is no finite number")
    n = optional(repeat, int, "stats_repeat")
    return Measurement(
        number,
        benchmark.unit,
        taken,
        # asv writes both quartiles of a single sample; they are no spread.
        _quartile(low) if n != 1 else None,
        _quartile(high) if n != 1 else None,
        n,
        benchmark.worse_for(case),
        benchmark.kind,
        benchmark.codegen,
    )


def _number(value: object) -> float:
    if type(value) is float:  # nearly all of millions are
        return value
    try:
        return float(expect(value, int, "it") if isinstance(value, int) else expect(value, float, "it"))
    except (ResultsError, OverflowError) as error:
        raise ResultsError(f"a value that starts with {value!r:.40} is no number") from error


def _quartile(value: object) -> float | None:
    """A quartile, or None where asv has none that is finite."""
    number = math.nan if value is None else _number(value)
    return number if math.isfinite(number) else None


def _reason(case: Case, absence: Absence, sidecar: Sidecar | None) -> Absence:
    told = None if sidecar is None else sidecar.absences.get(str(case))
    if told is None:
        return absence
    return replace(told, reason=told.reason or absence.reason)
