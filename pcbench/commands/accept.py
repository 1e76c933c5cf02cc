"""``pcbench accept``: make results the baseline, as a change of results/BASELINE that people can review."""

from __future__ import annotations

import argparse
import difflib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from pcbench.analysis import selection
from pcbench.analysis.asv_results import read_some
from pcbench.analysis.baseline import (
    FILE,
    AcceptedCase,
    Baseline,
    accept_all,
    accept_cases,
    drop,
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
    parser.add_argument(
        "--gone",
        action="store_true",
        help="drop the baselines of machines and environments, of those that --machine and --env name, that have no "
        "result of the candidate",
    )
    add_selection(parser)


def _run(args: argparse.Namespace) -> int:
    if not args.reason.strip():
        raise UsageError("the reason is empty", hint="say why it is accepted: it stays in results/BASELINE")
    if args.gone and args.cases:
        raise UsageError("--gone drops whole environments", hint="name them with --env, and no case")
    wanted = wanted_of(args)
    path = wanted.results / FILE
    before = read_baseline(path)
    after, said = (_dropped if args.gone else _accepted)(wanted, before, args.cases, args.reason.strip())
    old, new = (path.read_text() if path.exists() else ""), written(after)
    _files.write(path, new.encode())
    for line in difflib.unified_diff(old.splitlines(), new.splitlines(), str(path), str(path), lineterm="", n=1):
        print(line)
    for line in said:
        print(f"{line}; commit {path} with the change that explains it")
    return 0


def _dropped(wanted: Wanted, before: Baseline, names: Sequence[str], reason: str) -> tuple[Baseline, list[str]]:  # noqa: ARG001  # as _accepted
    """The baseline without the places that have no result of the candidate."""
    entries, _ = index(wanted.results)
    newest = candidates(replace(wanted, env=None, machine=None), entries)
    there = {_place(entry) for entry in newest}
    gone = []
    for place in before.places:
        environment, _, machine = place.rpartition(" on ")
        if place not in there and selection.is_of(machine, environment, wanted.machine, wanted.env):
            gone.append(place)
    if not gone:
        raise UsageError("every baseline that was named has a result of the candidate", hint="nothing was dropped")
    return drop(before, gone), [f"dropped the baseline of {place}: {reason}" for place in gone]


def _accepted(wanted: Wanted, before: Baseline, names: Sequence[str], reason: str) -> tuple[Baseline, list[str]]:
    """The baseline with the candidate's results, and what was accepted, in words."""
    entries, problems = index(wanted.results)
    chosen = candidates(wanted, entries)
    if not chosen:
        hint = f"{problems[0].path} {problems[0].what}" if problems else None
        raise ResultsError(f"{wanted.results} holds no results that can be read", hint=hint)
    today = f"{datetime.now(UTC):%Y-%m-%d}"
    runs = {_place(entry): _read(wanted.results, entry) for entry in chosen}
    _refuse_unknown(names, list(runs.values()))
    after, said = before, []
    for entry in chosen:
        place, run = _place(entry), runs[_place(entry)]
        cases = {str(case): case for name in names for case in _matching(run, name)}
        if not names:
            after = accept_all(after, place, run.commit, today, reason)
        elif cases:
            was = _numbers(entry, wanted.results, before, cases)
            told = {
                name: AcceptedCase(run.commit, today, reason, was.get(name, ""), _number(run, case))
                for name, case in cases.items()
            }
            after = accept_cases(after, place, told)
        else:
            continue
        said.append(f"accepted {counted(len(cases), 'case') if names else 'all cases'} of {run.commit[:8]} in {place}")
    return after, said


def _refuse_unknown(names: Sequence[str], runs: Sequence[Run]) -> None:
    for name in names:
        if not any(_matching(run, name) for run in runs):
            known = sorted({str(case) for run in runs for case in (*run.measurements, *run.absences)})
            raise UsageError(f"no case is {name}", hint=selection.near(name, known) or "pcbench gate --all lists them")


def _matching(run: Run, name: str) -> list[Case]:
    return [case for case in (*run.measurements, *run.absences) if selection.names(name, case)]


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
