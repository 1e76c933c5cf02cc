"""``pcbench accept``: make results the baseline, as a change of results/BASELINE that people can review."""

from __future__ import annotations

import argparse
import difflib
import fcntl
import os
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
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
from pcbench.analysis.records import Absence, Case, Run
from pcbench.analysis.results_index import Entry, index
from pcbench.analysis.series import Place
from pcbench.commands import Command, _files
from pcbench.commands._night_state import refuse_during
from pcbench.commands.gate import add_selection, wanted_of
from pcbench.errors import ResultsError, UsageError

_SHOWN = 20
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
    refuse_during(wanted.results.absolute().parent / ".asv")
    with _alone(wanted.results):
        return _write(wanted, args)


def _write(wanted: Wanted, args: argparse.Namespace) -> int:
    path = wanted.results / FILE
    before = read_baseline(path)
    after, said = (_dropped if args.gone else _accepted)(wanted, before, args.cases, args.reason.strip())
    old, new = (path.read_text() if path.exists() else ""), written(after)
    _files.write(path, new.encode())
    for line in difflib.unified_diff(old.splitlines(), new.splitlines(), str(path), str(path), lineterm="", n=1):
        print(line)
    for line in said:
        print(line)
    print(f"commit {path} with the change that explains it")
    return 0


@contextmanager
def _alone(results: Path) -> Iterator[None]:
    """Keep a second accept from reading what this one is about to write.

    Raises:
        ResultsError: There is no such folder.
    """
    if not results.is_dir():
        raise ResultsError(f"there is no results folder {results}", hint="pcbench bench and asv run write one")
    folder = os.open(results, os.O_RDONLY)
    try:
        fcntl.flock(folder, fcntl.LOCK_EX)
        yield
    finally:
        os.close(folder)


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
    known = {_place(entry): _known(wanted.results, entry, runs[_place(entry)], before) for entry in chosen}
    _refuse_unknown(names, {str(case) for cases in known.values() for case in cases})
    after, said = before, []
    for entry in chosen:
        place, run = _place(entry), runs[_place(entry)]
        cases = {str(case): case for case in known[place] if any(selection.names(name, case) for name in names)}
        if not names:
            said += _moved(wanted.results, entry, run, before)
            after = accept_all(after, place, run.commit, today, reason)
        elif cases:
            _refuse_failed(run, cases.values())
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


def _known(results: Path, entry: Entry, run: Run, before: Baseline) -> list[Case]:
    """The cases of a run, and those that its place's baseline has beyond them: that they are gone can be accepted."""
    cases = dict.fromkeys([*run.measurements, *run.absences])
    for old in _accepted_runs(results, entry, before).values():
        cases |= dict.fromkeys([*old.measurements, *map(Case, old.left_out)])
    return list(cases)


def _refuse_unknown(names: Sequence[str], known: Collection[str]) -> None:
    for name in names:
        if not any(selection.names(name, case) for case in known):
            raise UsageError(f"no case is {name}", hint=selection.near(name, known) or "pcbench gate --all lists them")


def _refuse_failed(run: Run, cases: Iterable[Case]) -> None:
    """A failure without a reason is never taken for the one that was accepted: it would fail again."""
    failed = [case for case in cases if (why := run.absences.get(case)) is not None and _fails_anew(why)]
    if failed:
        more = f" and {len(failed) - 1} more" if len(failed) > 1 else ""
        raise UsageError(
            f"{failed[0]}{more} failed and has no number", hint="mend it, or let the policy ignore it: ignore = true"
        )


def _fails_anew(why: Absence) -> bool:
    return why.status == "failed" and why.reason is None


def _moved(results: Path, entry: Entry, run: Run, before: Baseline) -> list[str]:
    """What accepting all of a run changes, for the people who review it: numbers by case, and what has none."""
    if _place(entry) not in before.places:
        return [f"{counted(len(run.measurements), 'number')}, {counted(len(run.absences), 'case')} without one"]
    cases = {str(case): case for case in _known(results, entry, run, before)}
    was = _numbers(entry, results, before, cases)
    changed = [
        f"{name}: {was[name]} -> {now}"
        for name, case in cases.items()
        if name in was and was[name] != (now := _number(run, case))
    ]
    cut = changed[:_SHOWN] + ([f"and {len(changed) - _SHOWN} more"] if len(changed) > _SHOWN else [])
    failed = sum(map(_fails_anew, run.absences.values()))
    return cut + ([f"{counted(failed, 'case')} failed without a reason, and will fail on"] if failed else [])


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
    runs = _accepted_runs(results, entry, before)
    return {name: _number(runs[commit], cases[name]) for name, commit in commits.items() if commit in runs}


def _accepted_runs(results: Path, entry: Entry, before: Baseline) -> dict[str, Run]:
    """The runs that the baseline of an entry's place names, by commit; not those whose result is gone."""
    known = before.places.get(_place(entry))
    commits = set() if known is None else {known.commit, *(case.commit for case in known.cases.values())}
    files = {entry.path.with_name(entry.path.name.replace(entry.commit[:8], commit[:8], 1)) for commit in commits}
    return {run.commit: run for run in read_some(results, sorted(file for file in files if file.is_file())).runs}


def _number(run: Run, case: Case) -> str:
    measured = run.measurements.get(case)
    if measured is None:
        absence = run.absences.get(case)
        return "no number" if absence is None else absence.status
    return quantity(measured.value, measured.unit)


def _place(entry: Entry) -> str:
    return str(Place(entry.machine, entry.environment))


COMMAND = Command("Make results the baseline that gate compares with.", _add_arguments, _run)
