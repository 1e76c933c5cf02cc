"""``pcbench compare MODEL``: which way of saving it should I ship?"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from pcbench import processes
from pcbench.analysis.builds_table import build_lines
from pcbench.analysis.comparison import SCHEMA, Comparison, to_json
from pcbench.analysis.quantities import counted
from pcbench.analysis.recommendation import Recommendation, recommend
from pcbench.analysis.sections import sections
from pcbench.analysis.table import text_lines
from pcbench.commands import Command
from pcbench.commands._builds import builds
from pcbench.commands._compare_arguments import add_arguments, plan
from pcbench.commands._compared import Compared, compared, measure, steps_of
from pcbench.commands._files import write
from pcbench.commands._outputs import save_figure
from pcbench.commands._progress import steps
from pcbench.conditions import CONDITIONS
from pcbench.errors import PcbenchError
from pcbench.reports._ladder import draw_comparison
from pcbench.samples import EAGER
from pcbench.status import Status


def run(args: argparse.Namespace) -> int:
    """Measure, print, write; 2 when a strategy that was named is unavailable, or no row could be measured."""
    asked, ended = plan(args), None
    with builds(args) as found:
        measured = [compared(build, asked, CONDITIONS if args.deploy else (), args.workers) for build in found]
        try:
            with processes.scratch() as folder, steps(steps_of(measured)) as step:
                measure(measured, folder, step)
        except (KeyboardInterrupt, OSError, PcbenchError) as error:  # what was measured is worth keeping
            if isinstance(error, PcbenchError) and not any(one.measured.rows() for one in measured):
                raise
            ended = "interrupted" if isinstance(error, KeyboardInterrupt) else f"could not go on: {error}"
    reached = [one for one in measured if one.measured.rows()]
    if ended is not None:
        kept = "what was measured until then follows" if reached else "nothing was measured"
        print(f"pcbench: {ended}; {kept}", file=sys.stderr)
        if not reached:
            return 2
    code = _say(args, measured[0].comparison(args.model)) if len(measured) == 1 else _say_together(args, measured)
    return max(code, 0 if ended is None else 2)


def _say(args: argparse.Namespace, comparison: Comparison) -> int:
    recommendation = recommend(comparison, calls_per_start=args.calls)
    where = f"Python {comparison.python}, {counted(comparison.threads, 'thread')}, {comparison.machine['cpu']}"
    print(f"{comparison.model} on torch {comparison.torch}, {where}")
    print("\n".join(text_lines(comparison, calls_per_start=args.calls)))
    print(
        "start and call: median and range; x eager: of pairs taken in turn; capture: with save, n=1; paid back: starts "
        f"of {args.calls:,} calls until capture and save have paid for themselves; compiler runs: processes started"
    )
    for section in sections(comparison):
        print("\n" + "\n".join(section))
    sys.stdout.flush()
    if args.json is not None:
        _write_json(args.json, to_json(comparison, recommendation.to_json()))
    if comparison.rows and args.figure is not None:
        _draw(comparison, args.figure)
    print(recommendation)
    lacking = _lacking(args, comparison)
    for strategy, reason in lacking.items():
        print(f"pcbench: {strategy} is unavailable: {reason}", file=sys.stderr)
    return 2 if lacking or not _usable(comparison) else 0


def _say_together(args: argparse.Namespace, measured: Sequence[Compared]) -> int:
    """Builds side by side; 2 when one could not be measured, or what was named is unavailable in all of them."""
    comparisons = {one.build.name: one.comparison(args.model) for one in measured if one.measured.rows()}
    recommended = {name: recommend(c, calls_per_start=args.calls) for name, c in comparisons.items()}
    print(f"{args.model} on torch builds, start to first output: median and range")
    for name, comparison in comparisons.items():
        print(f"{name}: torch {comparison.torch}, Python {comparison.python}, {counted(comparison.threads, 'thread')}")
    print("\n" + "\n".join(build_lines(comparisons)))
    for name, comparison in comparisons.items():
        for section in sections(comparison):
            print(f"\n{name}: " + "\n".join(section))
    sys.stdout.flush()
    if args.json is not None:
        told = [_json(one, comparisons, recommended) for one in measured]
        _write_json(args.json, {"schema": SCHEMA, "model": args.model, "builds": told})
    for name, comparison in comparisons.items() if args.figure is not None else ():
        _draw(comparison, args.figure.with_stem(f"{args.figure.stem}-{name}"))
    print()
    for name, recommendation in recommended.items():
        print(f"{name}: {recommendation}")
    for one in measured:
        if one.failed is not None:
            print(f"pcbench: {one.build.name}: {one.failed}", file=sys.stderr)
    nowhere = set.intersection(*(set(_lacking(args, c)) for c in comparisons.values()))
    for strategy in sorted(nowhere):
        print(f"pcbench: {strategy} is unavailable in every build", file=sys.stderr)
    whole = len(comparisons) == len(measured) and all(_usable(c) for c in comparisons.values())
    return 2 if nowhere or not whole else 0


def _json(
    one: Compared, comparisons: Mapping[str, Comparison], recommended: Mapping[str, Recommendation]
) -> dict[str, object]:
    name = one.build.name
    if name not in comparisons:
        return {"name": name, "problem": one.problem}
    found = to_json(comparisons[name], recommended[name].to_json())
    return {"name": name, "torch_git": one.facts["torch_git"]} | found


def _lacking(args: argparse.Namespace, comparison: Comparison) -> dict[str, str | None]:
    """The strategies that were named and are unavailable, with their reasons."""
    return {
        row.strategy: row.reason
        for row in comparison.rows
        if row.strategy in (args.strategies or ()) and row.status is Status.UNAVAILABLE
    }


def _usable(comparison: Comparison) -> bool:
    return any(row.counts for row in comparison.rows if row.strategy != EAGER)


def _draw(comparison: Comparison, path: Path) -> None:
    save_figure(draw_comparison(comparison), path)
    print(f"figure: {path}")


def _write_json(path: Path, content: Mapping[str, object]) -> None:
    write(path, (json.dumps(content, indent=1) + "\n").encode())
    print(f"samples: {path}")


COMMAND = Command(
    help="capture, save, load and call a model every way that this torch knows, in fresh processes, beside eager",
    add_arguments=add_arguments,
    run=run,
)
