"""``pcbench history [CASE ...]``: when a case's level changed, and between which commits. It alerts and never fails."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from pcbench.analysis.asv_results import read_results
from pcbench.analysis.history import Change, changes, needed, new_changes, rule_of
from pcbench.analysis.history_lines import as_json, cut_lines, overview, table
from pcbench.analysis.nights import NightSeries, all_nights
from pcbench.analysis.policy import Policy
from pcbench.analysis.quantities import counted
from pcbench.analysis.records import Case, Run
from pcbench.analysis.selection import is_of, names, near
from pcbench.commands import Command, _files
from pcbench.commands._policy_file import policy_of
from pcbench.errors import ResultsError, UsageError

_STDOUT = Path("-")
_MOST = 30
_EXAMPLES = """\
exit codes:
  0  the results could be read, whatever they say
  2  usage, or nothing could be read

examples:
  pcbench history                                  every step, what got worse first
  pcbench history 'bench_load.*' --env torch2.15   of some cases, with the nights themselves
  pcbench history --alert                          only what is new this morning
"""


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.epilog = _EXAMPLES
    parser.add_argument("cases", nargs="*", metavar="CASE", help="a case, a benchmark, or a pattern; without one, all")
    parser.add_argument("--results", type=Path, default=Path("results"), help="asv's results folder (default: results)")
    parser.add_argument("--machine", metavar="NAME", help="only results of this machine, or of a pattern")
    parser.add_argument("--env", metavar="NAME", help="only results of this environment: its name, a part, a pattern")
    parser.add_argument("--alert", action="store_true", help="only what the newest nights say: what is new")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the steps as JSON; - writes to stdout alone")
    parser.add_argument("--all", action="store_true", help=f"list every step, not the first {_MOST} alone")


def _run(args: argparse.Namespace) -> int:
    if args.json is not None and args.json != _STDOUT:
        _files.check_writable(args.json)
    policy = policy_of(Path.cwd())
    read = read_results(args.results)
    problems = [f"not read: {problem.path}: {problem.what}" for problem in read.problems]
    if not read.runs:
        raise ResultsError(f"no result in {args.results} can be read", hint=problems[0])
    series = _chosen(all_nights(_selected(read.runs, args)), args.cases)
    found = new_changes(_newest(series), policy) if args.alert else changes(series, policy)
    if args.json is not None:
        told = as_json(found, series, policy, problems, alert=args.alert)
        if args.json == _STDOUT:
            print(told)
            return 0
        _files.write(args.json, (told + "\n").encode())
    print("\n".join([*problems, *_lines(found, series, policy, args)]))
    return 0


def _selected(runs: Sequence[Run], args: argparse.Namespace) -> list[Run]:
    """The runs of the machine and environment that were asked for.

    Raises:
        UsageError: There are none.
    """
    machine, env = args.machine, args.env
    found = [run for run in runs if is_of(run.machine.name, run.environment, machine, env)]
    if not found:
        there = sorted({f"{run.environment} on {run.machine.name}" for run in runs})
        raise UsageError("no result is of that machine and environment", hint=f"there are: {', '.join(there)}")
    return found


def _chosen(series: Sequence[NightSeries], patterns: Sequence[str]) -> list[NightSeries]:
    """The series of the cases that patterns name, all without a pattern.

    Raises:
        UsageError: One names no case.
    """
    if not patterns:
        return list(series)
    cases = {one.case for one in series}
    wanted: set[Case] = set()
    for pattern in patterns:
        fitting = {case for case in cases if names(pattern, case)}
        if not fitting:
            known = [*map(str, cases), *(case.benchmark for case in cases)]
            raise UsageError(f"no case is {pattern!r}", hint=near(pattern, known) or "a pattern such as 'bench_load.*'")
        wanted |= fitting
    return [one for one in series if one.case in wanted]


def _newest(series: Sequence[NightSeries]) -> list[NightSeries]:
    """Those of each place's newest stretch: an alert is about this morning."""
    newest = {one.stretch.place: one.stretch for one in series}
    return [one for one in series if one.stretch is newest[one.stretch.place]]


def _lines(
    found: Sequence[Change], series: Sequence[NightSeries], policy: Policy, args: argparse.Namespace
) -> list[str]:
    nights = len({(one.stretch.place, night.commit) for one in series for night in one.stretch.nights})
    over = f"in {counted(len({one.case for one in series}), 'case')} over {counted(nights, 'night')}"
    if args.alert:
        heading = f"{counted(len(found), 'new step') if found else 'nothing new'} {over}"
    else:
        heading = f"{counted(len(found), 'step') if found else 'no step'} {over}"
    lines = [heading, *table(found, most=None if args.all else _MOST)]
    if args.cases:
        shown = series if args.all else series[:_MOST]
        for one in shown:
            lines += ["", *overview(one)]
        if len(shown) < len(series):
            lines.append(f"and {counted(len(series) - len(shown), 'more series', 'more series')}: --all shows them")
    if args.cases or not found:
        judged = [rule_of(one, policy.of(one.case), alert=args.alert) for one in series]
    else:
        judged = [change.rule for change in found]
    return [
        *lines,
        *_short(series, policy, args),
        *cut_lines(series),
        *(f"rule: {rule}" for rule in dict.fromkeys(judged)),
    ]


def _short(series: Sequence[NightSeries], policy: Policy, args: argparse.Namespace) -> list[str]:
    """What "no step" does not mean: series that could not show one."""
    looked = _newest(series) if args.alert else series
    needs = [needed(one, policy.of(one.case), alert=args.alert) for one in looked]
    short = [least for one, least in zip(looked, needs, strict=True) if one.measured < least]
    if not short:
        return []
    return [f"{len(short)} of {len(looked)} series are too short to tell: they need {max(short)} nights"]


COMMAND = Command(
    "Say when a case's level changed, and between which commits; alerts, never fails.", _add_arguments, _run
)
