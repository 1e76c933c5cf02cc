"""``pcbench ab BASE CANDIDATE [CASE ...]``: two sides measured now, in pairs of fresh processes."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path

from pcbench import machine, processes, sides
from pcbench.analysis.findings import Finding
from pcbench.analysis.policy import LEAST_PAIRS, Policy
from pcbench.analysis.quantities import counted, seconds
from pcbench.analysis.verdict_groups import outcome
from pcbench.commands import Command, _files, _pair_record
from pcbench.commands._argument_types import above_0, positive_int
from pcbench.commands._pair_cases import chosen, suite_of
from pcbench.commands._pair_counts import count_findings
from pcbench.commands._pair_output import Compared, as_json, footing, judged, table
from pcbench.commands._pair_processes import Listed, listed
from pcbench.commands._pairing import Progress, measure
from pcbench.commands._policy_file import policy_of
from pcbench.errors import PcbenchError, UsageError
from pcbench.paired import Paired, Side
from pcbench.sides import Asked, Ready

_STDOUT = Path("-")
_SAY_EVERY_S = 5.0
_KEEP_EVERY_S = 30.0
_NOT_FOUND = (
    "; the gate will not find them: no one result there is of this commit and torch (`pcbench bench` makes one)"
)
_EPILOG = """\
A side is a commit (anything that git takes), a folder (another checkout, or one that holds the measured packages), or
env:NAME, an interpreter of `pcbench env`. CASE is a case's id, a benchmark's name for all of its cases, or either with
* and ?; without CASE all that are times. A case that is no time is measured a few times a side: a count twice, to be
compared exactly, and anything else three times.

exit codes:
  0  nothing is slower; FASTER and INCONCLUSIVE are said, not failed
  1  something is SLOWER or CHANGED
  2  nothing is, but something failed, was the machine (HOST) or was never measured, or it was interrupted

examples:
  pcbench ab HEAD~1 HEAD "bench_guards.Cost.track_seconds(mlp, check)"
  pcbench ab HEAD . --budget 10                  what I have not committed yet, ten minutes at most
  pcbench ab env:2.14.1 env:2.15.0 "bench_load.*"
"""


@dataclass
class _Saying:
    """Says on stderr how far it is: at once after the first pairs of all cases, then every few seconds."""

    last: float = field(default_factory=time.monotonic)
    estimated: bool = False

    def __call__(self, progress: Progress) -> None:
        now, first = time.monotonic(), not self.estimated and progress.pairs >= progress.cases
        if not first and now - self.last < _SAY_EVERY_S:
            return
        self.last, self.estimated = now, self.estimated or first
        left = f"{progress.open} of {counted(progress.cases, 'case')} open"
        print(
            f"{counted(progress.pairs, 'pair')} measured; {left}; {_duration(progress.left_s)} left if they stay open",
            file=sys.stderr,
            flush=True,
        )


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.epilog = _EPILOG
    parser.add_argument("base", metavar="BASE", help="the side that is the baseline")
    parser.add_argument("candidate", metavar="CANDIDATE", help="the side that is compared with it")
    parser.add_argument("cases", nargs="*", metavar="CASE", help="cases of the suite (default: all that are times)")
    parser.add_argument("--commit", default="HEAD", help="the code of a side that is env:NAME (default: HEAD)")
    parser.add_argument("--env", metavar="NAME", help="the interpreter of sides that name none (default: this one)")
    parser.add_argument("--results", type=Path, metavar="DIR", help="where pairs are kept (default: asv's results)")
    parser.add_argument("--machine", metavar="NAME", help="this machine's name in the results (default: asv's)")
    parser.add_argument(
        "--budget",
        type=above_0("minutes"),
        metavar="MINUTES",
        help="begin no pair after so long; what is open is INCONCLUSIVE",
    )
    parser.add_argument(
        "--pairs",
        type=positive_int,
        metavar="N",
        help="pairs of a look, in place of the policy's; twice as many if open",
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all of it as JSON; - writes to stdout alone")
    parser.add_argument("--no-save", action="store_true", help="keep no pairs in the results")


def _run(args: argparse.Namespace) -> int:
    if args.json is not None and args.json != _STDOUT:
        _files.check_writable(args.json)
    root = Path.cwd()
    suite, results = suite_of(root)
    results = args.results or results
    policy = _policy(root, args.pairs)
    name = machine.ensure(args.machine)
    scratch = root / ".asv" / "ab"
    scratch.mkdir(parents=True, exist_ok=True)
    with ExitStack() as stack:
        stack.enter_context(sides.alone(root))
        folder = stack.enter_context(processes.scratch(scratch))
        asked = (_asked(args.base, args), _asked(args.candidate, args))
        baseline, candidate = stack.enter_context(sides.both(root, suite, folder, *asked))
        cases = chosen(_listed(baseline, candidate), args.cases)
        if not cases:
            raise UsageError(f"the suite {suite.benchmarks} has no case that is a time", hint="name a CASE")
        known = _pair_record.same_code_of(results / name, policy, candidate.side.torch)
        compared = Compared(baseline.side, candidate.side, name, policy, known)
        return _compare(args, compared, (baseline, candidate), cases, results)


def _asked(what: str, args: argparse.Namespace) -> Asked:
    return Asked(what, None if what.startswith(sides.ENV) else args.env, args.commit)


def _listed(baseline: Ready, candidate: Ready) -> tuple[Listed, ...]:
    """The suite's cases; what it imports may be new in the candidate, and its other files can still be measured."""
    try:
        return listed(baseline)
    except PcbenchError as error:
        found = listed(candidate)
        print(f"note: {error.problem}", file=sys.stderr)
        return found


def _policy(root: Path, pairs: int | None) -> Policy:
    policy = policy_of(root)
    if pairs is None:
        return policy
    if pairs < LEAST_PAIRS:
        raise UsageError(f"--pairs {pairs}: fewer than {LEAST_PAIRS} have no interval with 95 %")
    # The last override wins: over those of single cases in pyproject.toml, too.
    return replace(policy, overrides=(*policy.overrides, ("*", {"pairs": pairs, "slow_pairs": pairs})))


def _compare(
    args: argparse.Namespace, compared: Compared, ready: tuple[Ready, Ready], cases: Sequence[Listed], results: Path
) -> int:
    timed = [case for case in cases if case.unit == "seconds"]
    counts = [case for case in cases if case.unit != "seconds"]
    out = sys.stderr if args.json == _STDOUT else sys.stdout
    for role, side in (("baseline: ", compared.baseline), ("candidate:", compared.candidate)):
        print(f"{role} {_words(side)}", file=out)
    others = f", {len(counts)} measured a few times a side" if counts else ""
    print(f"{counted(len(timed), 'case')} in pairs of processes{others}", file=out, flush=True)
    found: list[Paired] = []
    told: list[Finding] = []
    unavailable = interrupted = False
    kept_at, kept = time.monotonic(), None
    try:
        if counts:
            told, unavailable = count_findings(compared, ready, counts)
        budget_s = None if args.budget is None else args.budget * 60
        for one in measure(
            *ready, timed, compared.policy, same_code=compared.same_code, budget_s=budget_s, tell=_Saying()
        ):
            found.append(one)
            if not args.no_save and time.monotonic() - kept_at > _KEEP_EVERY_S:
                kept_at = time.monotonic()
                _pair_record.keep(results, compared.machine, found)
    except KeyboardInterrupt:
        interrupted = True
    judgement = judged(compared, found, {str(case.case): case.case for case in timed}, told)
    code = 2 if interrupted and judgement.exit_code == 0 else judgement.exit_code
    if judgement.findings:
        print(file=out)
        print("\n".join(table(judgement, found)), file=out)
    print("\n".join(["", *footing(compared, judgement, found)]), file=out)
    if unavailable:
        print("counts that neither side has were left out", file=out)
    if not args.no_save:
        kept = _pair_record.keep(results, compared.machine, found)
    if kept is not None:
        print(f"kept in {kept.path}{'' if kept.found else _NOT_FOUND}", file=out)
    if args.json == _STDOUT:
        print(as_json(compared, judgement, found, code))
    elif args.json is not None:
        _files.write(args.json, (as_json(compared, judgement, found, code) + "\n").encode())
    print(f"interrupted; exit {code}" if interrupted else outcome(judgement), file=out)
    return code


def _words(side: Side) -> str:
    code = "code that is no commit" if side.commit is None else side.commit[:8]
    torch = "no torch" if side.torch is None else f"torch {side.torch}"
    return f"{side.name} ({code}, {torch}, Python {side.python} of {side.env})"


def _duration(value_s: float) -> str:
    return f"{value_s / 60:.0f} min" if value_s >= 90 else seconds(value_s)


COMMAND = Command("Compare two commits, checkouts or torch builds, measured now in turn.", _add_arguments, _run)
