"""``pcbench accept``: make results the baseline, as a change of results/BASELINE that people can review."""

from __future__ import annotations

import argparse
import difflib
import fnmatch
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

from pcbench.analysis.asv_results import read_some
from pcbench.analysis.baseline import (
    FILE,
    AcceptedCase,
    Baseline,
    accept_all,
    accept_cases,
    read_baseline,
    written,
)
from pcbench.analysis.gating import Wanted, candidates
from pcbench.analysis.quantities import counted, quantity
from pcbench.analysis.records import Case, Run
from pcbench.analysis.results_index import Entry, index
from pcbench.analysis.series import Place
from pcbench.commands import Command, _files
from pcbench.commands.gate import add_selection, wanted_of
from pcbench.errors import ResultsError, UsageError

_EXAMPLES = """\
examples:
  pcbench accept --reason "first baseline"                       all cases of the newest results
  pcbench accept "bench_guards.Census.*" --reason "one guard more, for the new dtype check"
"""


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.epilog = _EXAMPLES
    parser.add_argument(
        "cases",
        nargs="*",
        metavar="CASE",
        help="cases as gate names them, a benchmark's name or a pattern; without one, all",
    )
    parser.add_argument("--reason", required=True, metavar="TEXT", help="why: it stays in results/BASELINE")
    add_selection(parser)


def _run(args: argparse.Namespace) -> int:
    if not args.reason.strip():
        raise UsageError("the reason is empty", hint="say why it is accepted: it stays in results/BASELINE")
    wanted = wanted_of(args)
    entries, problems = index(wanted.results)
    chosen = candidates(wanted, entries)
    if not chosen:
        raise ResultsError(
            f"{wanted.results} holds no results that can be read", hint=problems[0] if problems else None
        )
    path = wanted.results / FILE
    before = read_baseline(path)
    after = _accepted(wanted, chosen, before, args.cases, args.reason.strip())
    old, new = (path.read_text() if path.exists() else ""), written(after)
    _files.write(path, new.encode())
    for line in difflib.unified_diff(old.splitlines(), new.splitlines(), str(path), str(path), lineterm="", n=1):
        print(line)
    for entry in chosen:
        what = counted(len(after.places[_place(entry)].cases), "case") if args.cases else "all cases"
        print(
            f"accepted {what} of {entry.commit[:8]} in {_place(entry)}; commit {path} with the change that explains it"
        )
    return 0


def _accepted(wanted: Wanted, chosen: Sequence[Entry], before: Baseline, names: Sequence[str], reason: str) -> Baseline:
    today = f"{datetime.now(UTC):%Y-%m-%d}"
    runs = {_place(entry): _read(wanted.results, entry) for entry in chosen}
    after = before
    if not names:
        for place, run in runs.items():
            after = accept_all(after, place, run.commit, today, reason)
        return after
    _refuse_unknown(names, list(runs.values()))
    for entry in chosen:
        run = runs[_place(entry)]
        cases = {str(case): case for name in names for case in _matching(run, name)}
        if cases:
            was = _numbers(entry, wanted.results, before, cases)
            told = {
                name: AcceptedCase(run.commit, today, reason, was.get(name, ""), _number(run, case))
                for name, case in cases.items()
            }
            after = accept_cases(after, _place(entry), told)
    return after


def _refuse_unknown(names: Sequence[str], runs: Sequence[Run]) -> None:
    for name in names:
        if not any(_matching(run, name) for run in runs):
            known = sorted({str(case) for run in runs for case in (*run.measurements, *run.absences)})
            near = difflib.get_close_matches(name, known, n=3, cutoff=0.4)
            raise UsageError(
                f"no case is {name}", hint=f"near: {', '.join(near)}" if near else "pcbench gate --all lists them"
            )


def _matching(run: Run, name: str) -> list[Case]:
    cases = (*run.measurements, *run.absences)
    return [case for case in cases if name in (str(case), case.benchmark) or fnmatch.fnmatchcase(str(case), name)]


def _read(results: Path, entry: Entry) -> Run:
    """The run of an entry.

    Raises:
        ResultsError: A part of it cannot be read: it is not made a baseline.
    """
    found = read_some(results, [entry.path])
    for problem in found.problems:
        raise ResultsError(f"{problem.path} {problem.what}", hint="measure it again")
    return found.runs[0]


def _numbers(entry: Entry, results: Path, before: Baseline, cases: Mapping[str, Case]) -> dict[str, str]:
    """What was accepted of cases until now, in words; nothing where its result is gone."""
    known = before.places.get(_place(entry))
    if known is None:
        return {}
    commits = {name: known.cases[name].commit if name in known.cases else known.commit for name in cases}
    files = {
        entry.path.with_name(entry.path.name.replace(entry.commit[:8], commit[:8], 1)) for commit in commits.values()
    }
    runs = {run.commit: run for run in read_some(results, [file for file in files if file.is_file()]).runs}
    return {name: _number(runs[commit], cases[name]) for name, commit in commits.items() if commit in runs}


def _number(run: Run, case: Case) -> str:
    measured = run.measurements.get(case)
    if measured is None:
        absence = run.absences.get(case)
        return "no number" if absence is None else absence.status
    return quantity(measured.value, measured.unit)


def _place(entry: Entry) -> str:
    return str(Place(entry.machine, entry.environment))


COMMAND = Command("Make results the baseline that gate compares with.", _add_arguments, _run)
