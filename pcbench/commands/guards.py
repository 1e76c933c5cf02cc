"""``pcbench guards TARGET``: what guards are there, what they cost, where, and what would help."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

from pcbench import guard_families, machine
from pcbench.analysis.columns import aligned
from pcbench.analysis.guard_builds import guard_build_lines
from pcbench.analysis.guard_json import to_json
from pcbench.analysis.guard_lines import guard_lines
from pcbench.analysis.guard_report import GuardReport
from pcbench.analysis.guard_slopes import slopes
from pcbench.commands import Command
from pcbench.commands._builds import builds
from pcbench.commands._files import write
from pcbench.commands._guard_arguments import STDOUT, add_arguments, asked
from pcbench.commands._guard_rounds import Examined, count_instructions, measure, steps_of
from pcbench.commands._outputs import save_figure
from pcbench.commands._progress import steps
from pcbench.errors import PcbenchError
from pcbench.reports._guard_slopes import draw_slopes


def run(args: argparse.Namespace) -> int:
    """Measure, print, write; 2 when something that was asked for is not known, or is not exact."""
    if args.list:
        print("\n".join(aligned([(family.name, family.text) for family in guard_families.families()])))
        return 0
    wanted, ended = asked(args), None
    with builds(args) as found:
        examined = [Examined(target, build, wanted) for target in wanted.targets for build in found]
        try:
            with steps(steps_of(examined)) as step:
                measure(examined, step)
                count_instructions(examined, step)
        except (KeyboardInterrupt, PcbenchError) as error:  # what was measured is worth keeping
            if isinstance(error, PcbenchError) and not any(one.counted for one in examined):
                raise
            ended = "interrupted" if isinstance(error, KeyboardInterrupt) else f"could not go on: {error}"
    reports = [one.report() for one in examined]
    if ended is not None:
        known = any(report.counted for report in reports)
        kept = "what was measured until then follows" if known else "nothing was measured"
        print(f"pcbench: {ended}; {kept}", file=sys.stderr)
        if not known:
            return 2
    if args.json != STDOUT:
        _print(reports, side_by_side=len(found) > 1)
    if args.json is not None:
        sys.stdout.flush()
        _write(args.json, to_json(reports))
    if args.figure is not None:
        _draw(reports, args.figure)
    for report in reports:
        for part, problem in report.problems.items():
            print(f"pcbench: {report.target} on {report.build}: {part}: {problem}", file=sys.stderr)
    whole = ended is None and all(not r.problems and r.counted is not None and not r.counted.differing for r in reports)
    return 0 if whole else 2


def _print(reports: Sequence[GuardReport], *, side_by_side: bool) -> None:
    if not side_by_side:
        print("\n".join(guard_lines(reports)))
        return
    blocks = []
    for target in dict.fromkeys(report.target for report in reports):
        blocks.append("\n".join(guard_build_lines([report for report in reports if report.target == target])))
    print("\n\n".join(blocks))


def _write(where: str, content: object) -> None:
    text = json.dumps(content, indent=1) + "\n"
    if where == STDOUT:
        print(text, end="")
    else:
        write(Path(where), text.encode())
        print(f"samples: {where}")


def _draw(reports: Sequence[GuardReport], path: Path) -> None:
    """The families' slopes, in a figure for each build."""
    swept = [report for report in reports if report.sweeps and report.counted is not None]
    for build in dict.fromkeys(report.build for report in swept):
        own = [report for report in swept if report.build == build]
        file = path if len({report.build for report in swept}) == 1 else path.with_stem(f"{path.stem}-{build}")
        torch = own[0].counted.torch if own[0].counted else ""
        where = f"torch {torch}, {machine.describe()['cpu']}."
        save_figure(draw_slopes(slopes([sweep for report in own for sweep in report.sweeps]), where), file)
        print(f"figure: {file}", file=sys.stderr)


COMMAND = Command(
    help="the guards of a compiled model: counted, timed, told apart, and what would make them cheaper",
    add_arguments=add_arguments,
    run=run,
)
