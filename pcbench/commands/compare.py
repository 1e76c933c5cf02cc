"""``pcbench compare MODEL``: which way of saving it should I ship?"""

from __future__ import annotations

import argparse
import io
import json
import sys
from pathlib import Path

from pcbench import asking, machine, processes
from pcbench.analysis.comparison import Comparison, to_json
from pcbench.analysis.quantities import counted
from pcbench.analysis.recommendation import recommend
from pcbench.analysis.sections import sections
from pcbench.analysis.table import text_lines
from pcbench.asking import Setting
from pcbench.commands import Command
from pcbench.commands._compare_arguments import add_arguments, plan
from pcbench.commands._deploying import Deploying
from pcbench.commands._deploying import measure as measure_deployed
from pcbench.commands._progress import steps
from pcbench.commands._rounds import Measured, measure
from pcbench.conditions import CONDITIONS
from pcbench.errors import PcbenchError
from pcbench.reports._ladder import draw_comparison
from pcbench.samples import EAGER
from pcbench.status import Status


def run(args: argparse.Namespace) -> int:
    """Measure, print, write; 2 when a strategy that was named is unavailable, or no row could be measured."""
    asked = plan(args)
    facts = _facts(asked.setting)
    measured = Measured(asked)
    deploying = Deploying(measured, CONDITIONS if args.deploy else (), args.workers)
    ended = None
    try:
        with processes.scratch() as folder, steps(asked.steps + deploying.steps) as step:
            measure(measured, folder, step)
            measure_deployed(deploying, folder, facts["isa"], step)
    except (KeyboardInterrupt, OSError, PcbenchError) as error:  # what was measured is worth keeping
        if isinstance(error, PcbenchError) and not measured.rows():
            raise
        ended = "interrupted" if isinstance(error, KeyboardInterrupt) else f"could not go on: {error}"
    comparison = Comparison(
        model=args.model,
        torch=facts["torch"],
        triton=facts["triton"],
        python=facts["python"],
        machine=machine.describe() | {"isa": facts["isa"]},
        threads=asked.setting.threads,
        rows=measured.rows(),
        captures=measured.capture_rows(),
        shapes=measured.shape_rows(),
        deployed=deploying.deployed_rows(),
        workers=deploying.worker_rows(),
    )
    if ended is not None:
        kept = "what was measured until then follows" if comparison.rows else "nothing was measured"
        print(f"pcbench: {ended}; {kept}", file=sys.stderr)
        if not comparison.rows:
            return 2
    return max(_say(args, comparison), 0 if ended is None else 2)


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
        _write(args.json, (json.dumps(to_json(comparison, recommendation.to_json()), indent=1) + "\n").encode())
    if comparison.rows and args.figure is not None:
        picture = io.BytesIO()
        draw_comparison(comparison).savefig(picture, format=args.figure.suffix.lstrip(".").lower(), dpi=150)
        _write(args.figure, picture.getvalue())
    for what, path in (("samples", args.json), ("figure", args.figure)):
        if path is not None:
            print(f"{what}: {path}")
    print(recommendation)
    lacking = {
        row.strategy: row.reason
        for row in comparison.rows
        if row.strategy in (args.strategies or ()) and row.status is Status.UNAVAILABLE
    }
    for strategy, reason in lacking.items():
        print(f"pcbench: {strategy} is unavailable: {reason}", file=sys.stderr)
    usable = any(row.counts for row in comparison.rows if row.strategy != EAGER)
    return 2 if lacking or not usable else 0


def _facts(setting: Setting) -> dict[str, str]:
    messages = asking.ask(setting, {"do": "describe", "strategy": EAGER})
    facts: dict[str, str] = next(m["facts"] for m in messages if "facts" in m)
    return facts


def _write(path: Path, content: bytes) -> None:
    try:
        path.write_bytes(content)
    except OSError as error:
        raise PcbenchError(f"{path} could not be written: {error.strerror}") from error


COMMAND = Command(
    help="capture, save, load and call a model every way that this torch knows, in fresh processes, beside eager",
    add_arguments=add_arguments,
    run=run,
)
