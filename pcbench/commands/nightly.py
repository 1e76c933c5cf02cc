"""``pcbench nightly``: measure what is new, decide suspects in pairs of processes, name commits, judge, report."""

from __future__ import annotations

import argparse
import shlex
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from pathlib import Path

from pcbench import machine, sides
from pcbench.analysis.quantities import counted
from pcbench.commands import Command
from pcbench.commands._argument_types import above_0
from pcbench.commands._night_asv import clean
from pcbench.commands._night_ground import Ground, configuration, torch_of, uncommitted
from pcbench.commands._night_stages import Working
from pcbench.commands._night_state import alone, begin, check_room, keep
from pcbench.commands._policy_file import policy_of
from pcbench.commands.gate import add_outputs, check_outputs, commit_of, tell
from pcbench.errors import UsageError

_EXAMPLES = """\
A night: the suite on the new commits (asv), suspects decided in pairs of fresh processes (as pcbench ab), a canary (the
baseline against itself, whose verdicts are the measured rate of false alarms), the commit of what is worse, verdicts,
report. What does not fit into the budget is said. An interrupted night goes on where it was with the same command.

exit codes, as those of pcbench gate: 0 nothing slower or changed; 1 something is SLOWER or CHANGED; 2 something could
not be measured or judged, or the night was interrupted.

examples:
  pcbench nightly                                       the new commits of this branch, an hour at most
  pcbench nightly --budget 20 --profile quick
  pcbench nightly --vary torch --env 2.16.0.dev         the commit of the baseline on another torch
"""


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.epilog = _EXAMPLES
    parser.add_argument(
        "--budget", type=above_0("minutes"), default=60.0, metavar="MINUTES", help="how long it may take (default: 60)"
    )
    parser.add_argument(
        "--profile", choices=("quick", "full"), default="full", help="as pcbench bench has it (default: full)"
    )
    parser.add_argument("--vary", choices=("torch",), help="judge a torch build, --env, in place of commits")
    parser.add_argument("--env", metavar="NAME", help="its environment, of pcbench env or shared_pythons")
    parser.add_argument("--baseline", metavar="COMMIT", help="compare with this commit, too")
    parser.add_argument("--machine", metavar="NAME", help="this machine's name in the results (default: asv's)")
    parser.add_argument("--no-report", action="store_true", help="draw no report")
    add_outputs(parser)


def _run(args: argparse.Namespace) -> int:
    check_outputs(args)
    if (args.vary is None) != (args.env is None):
        raise UsageError("--vary torch and --env NAME belong together", hint="pcbench env list shows the names")
    root = Path.cwd()
    begun = time.monotonic()
    conf = configuration(root)
    results = root / conf.results_dir
    policy, name, folder = policy_of(root), machine.ensure(args.machine), root / ".asv"
    check_room(root, results)
    torch = None if args.env is None else torch_of(conf, args.env)[1]
    with ExitStack() as stack:
        lock = stack.enter_context(alone(folder, "pcbench nightly"))
        stack.enter_context(sides.alone(root))
        clean(root)
        ground = Ground(root, results, folder, name, args.profile, policy, conf, args.env, torch, lock.fileno())
        night, said = begin(folder, _asked(args, name))
        say = _saying(begun, args.budget * 60)
        if said:
            say(said)
        if edited := uncommitted(ground):
            more = f" and {len(edited) - 1} more" if len(edited) > 1 else ""
            say(f"commits are measured, and not what differs from the last one in {edited[0]}{more}")
        working = Working(
            ground, night, args.budget * 60, begun + args.budget * 60, say, [], commit_of(args.baseline, root)
        )
        working.resumed = bool(night.commits)
        return _work(working, args)


def _work(working: Working, args: argparse.Namespace) -> int:
    try:
        working.plan()
        working.measure()
        working.confirm()
        working.canary()
        judgement = working.verdicts()
        working.finish()
    except KeyboardInterrupt:
        if working.night.commits:
            keep(working.ground.folder, working.night)
        stages = counted(len(working.night.done), "stage")
        print(
            f"interrupted; what was measured is kept, {stages} behind it; the same command goes on with it",
            file=sys.stderr,
        )
        return 2
    tell(judgement, args)
    if not args.no_report:
        _report(working.ground)
    return judgement.exit_code


def _report(ground: Ground) -> None:
    """Draw the report in a process of its own: one that fails takes no verdict with it."""
    words = ["report", "--results", str(ground.results), "--out", str(ground.root / "report")]
    done = subprocess.run([sys.executable, "-m", "pcbench", *words], stdout=sys.stderr, check=False)
    if done.returncode != 0:
        print(f"the report could not be drawn: pcbench {shlex.join(words)} says why", file=sys.stderr)


def _asked(args: argparse.Namespace, name: str) -> Mapping[str, str | None]:
    return {
        "profile": args.profile,
        "vary": args.vary,
        "env": args.env,
        "baseline": args.baseline,
        "machine": name,
    }


def _saying(begun: float, budget_s: float) -> Callable[[str], None]:
    def say(line: str) -> None:
        spent = time.monotonic() - begun
        left = max(0.0, budget_s - spent)
        print(f"[{spent:5.0f} s, {left / 60:3.0f} min left] {line}", file=sys.stderr, flush=True)

    return say


COMMAND = Command("Measure what is new, confirm what looks worse, judge it and report.", _add_arguments, _run)
"""What a scheduler runs."""
