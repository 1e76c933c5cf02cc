"""``pcbench bisect CASE A..B``: which commit, or which torch build, changed a case."""

from __future__ import annotations

import argparse
import math
import sys
import time
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from pcbench import machine, sides
from pcbench.analysis.bisection import Narrowed
from pcbench.analysis.pairs import locate, log_ratios
from pcbench.analysis.quantities import counted, listed
from pcbench.analysis.records import Verdict
from pcbench.commands import Command, _pair_record
from pcbench.commands._argument_types import above_0
from pcbench.commands._bisecting import Walk
from pcbench.commands._night_ground import about, between
from pcbench.commands._night_pairs import At, ready, suite_cases
from pcbench.commands._pair_cases import chosen, suite_of
from pcbench.commands._pair_processes import Listed
from pcbench.commands._policy_file import policy_of
from pcbench.errors import UsageError
from pcbench.sides import Suite

_DIFFERENT = (Verdict.SLOWER, Verdict.FASTER, Verdict.CHANGED, Verdict.FAILED)
_EXAMPLES = """\
The ends are compared first: a timing in pairs of fresh processes as pcbench ab does it, anything else by one process
each. Then each step asks whether the middle is nearer to the first or to the last.

exit codes: 0 a commit or a build is named, or the ends are the same; 2 the evidence names none, or it was interrupted.

examples:
  pcbench bisect "bench_load.Load.track_first_output(mlp, aoti, warm)" v1.2..HEAD --budget 30
  pcbench bisect "bench_guards.Census.track_count(mlp, guards)" --torch 2.13.0 --torch 2.14.1 --torch 2.15.0
"""


@dataclass(frozen=True)
class _Range:
    """The places in order, what to call them, and what one of them is: ``commit`` or ``build``."""

    places: tuple[At, ...]
    names: tuple[str, ...]
    kind: str


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.epilog = _EXAMPLES
    parser.add_argument("case", metavar="CASE", help="one case of the suite, as pcbench gate names it")
    parser.add_argument("range", nargs="?", metavar="A..B", help="commits: A is as it was, B is changed")
    parser.add_argument(
        "--torch", action="append", default=[], metavar="NAME", help="builds in place of commits, in order: two or more"
    )
    parser.add_argument("--commit", default="HEAD", help="the code that runs on the builds (default: HEAD)")
    parser.add_argument("--env", metavar="NAME", help="the interpreter that runs the commits (default: this one)")
    parser.add_argument(
        "--budget", type=above_0("minutes"), metavar="MINUTES", help="stop after so long, with the range that is left"
    )
    parser.add_argument("--machine", metavar="NAME", help="this machine's name in the results (default: asv's)")


def _run(args: argparse.Namespace) -> int:
    root = Path.cwd()
    begun = time.monotonic()
    suite, results = suite_of(root)
    found = _range(root, args)
    name = machine.ensure(args.machine)
    with ExitStack() as stack:
        stack.enter_context(sides.alone(root))
        case, torch = _case(root, suite, found, args.case)
        policy = policy_of(root)
        walk = Walk(
            root,
            suite,
            found.places,
            found.names,
            str(case.case),
            policy,
            _pair_record.same_code_of(results / name, policy, torch),
            math.inf if args.budget is None else begun + 60 * args.budget,
            lambda line: print(line, flush=True),
        )
        try:
            return _bisect(root, walk, found, case)
        except KeyboardInterrupt:
            print("interrupted; the evidence up to here is above", file=sys.stderr)
            return 2


def _bisect(root: Path, walk: Walk, found: _Range, case: Listed) -> int:
    ask = walk.timing if case.unit == "seconds" else walk.count
    last = len(found.places) - 1
    print(f"{case.case}: {found.names[0]} to {found.names[-1]}, {counted(last, found.kind)}", flush=True)
    verdict, reason = ask(last)
    if verdict not in _DIFFERENT:
        print(f"the evidence names none: {found.names[-1]} is {verdict} beside {found.names[0]}: {reason}")
        return 0 if verdict is Verdict.SAME else 2
    if verdict is Verdict.FAILED:
        ask = walk.count
    elif case.unit == "seconds":
        walk.sharpen(_log_ratio(walk, last))
    narrowed = walk.find(ask, verdict)
    if not narrowed.named:
        left = found.names[narrowed.unchanged + 1 : narrowed.changed + 1]
        print(f"the evidence names none of {listed(list(left))}: {narrowed.stopped}")
        return 2
    print(_named(root, walk, found, narrowed, verdict, reason))
    return 0


def _named(root: Path, walk: Walk, found: _Range, narrowed: Narrowed, verdict: Verdict, reason: str) -> str:
    place = found.places[narrowed.changed]
    there = reason
    if place in walk.known and verdict is not Verdict.FAILED:
        there = walk.timing(narrowed.changed)[1]
    if found.kind == "build":
        return f"{verdict} since {found.names[narrowed.changed]}, at {place.commit[:8]}: {there}"
    date, subject = about(root, place.commit)
    return f"{verdict} since {place.commit[:8]} of {date}: {subject}\n  {there}"


def _log_ratio(walk: Walk, index: int) -> float:
    looks = walk.known[walk.places[index]].looks
    return locate([ratio for look in looks for ratio in log_ratios(look.pairs)]).middle


def _range(root: Path, args: argparse.Namespace) -> _Range:
    """The places that the arguments name.

    Raises:
        UsageError: They name none, or too few.
    """
    if bool(args.torch) == (args.range is not None):
        raise UsageError("bisect needs either A..B or --torch, twice or more", hint="see the examples of --help")
    if args.torch:
        commit = sides.resolve(root, args.commit)
        if commit is None or len(args.torch) < 2:
            raise UsageError(
                "bisect needs two builds or more" if commit else f"git knows no commit {args.commit}",
                hint="give --torch once for each, in order",
            )
        return _Range(tuple(At(commit, env) for env in args.torch), tuple(f"torch {e}" for e in args.torch), "build")
    first, dots, last = args.range.partition("..")
    one, other = sides.resolve(root, first), sides.resolve(root, last or "HEAD")
    if not dots or one is None or other is None:
        raise UsageError(f"git knows no range {args.range}", hint="A..B: two commits, A before B")
    commits = [one, *between(root, one, other)]
    if len(commits) < 2:
        raise UsageError(
            f"{first} is not before {last or 'HEAD'} on one branch", hint="git log --first-parent shows it"
        )
    return _Range(tuple(At(commit, args.env) for commit in commits), tuple(commit[:8] for commit in commits), "commit")


def _case(root: Path, suite: Suite, found: _Range, name: str) -> tuple[Listed, str | None]:
    """The case that a name is of, and the torch of the last place."""
    with ready(root, suite, found.places[0], found.places[-1]) as ends:
        cases = chosen(suite_cases(ends), [name])
        torch = ends[1].side.torch
    if len(cases) > 1:
        some = ", ".join(str(case.case) for case in cases[:3])
        raise UsageError(f"{name} names {counted(len(cases), 'case')}", hint=f"bisect walks for one: {some}")
    return cases[0], torch


COMMAND = Command("Name the commit, or the torch build, that changed a case.", _add_arguments, _run)
"""Walks a range with pairs of processes."""
