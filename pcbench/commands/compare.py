"""``pcbench compare MODEL``: which way of saving it should I ship?"""

from __future__ import annotations

import argparse
import io
import json
import os
import sys
from pathlib import Path

from matplotlib.figure import Figure

from pcbench import discovery, machine, processes, sampling
from pcbench.analysis.comparison import Comparison, to_json
from pcbench.analysis.quantities import counted
from pcbench.analysis.recommendation import CALLS_PER_START, recommend
from pcbench.analysis.table import text_lines
from pcbench.commands import Command
from pcbench.commands._progress import steps
from pcbench.commands._rounds import Measured, Plan, measure
from pcbench.errors import PcbenchError, UsageError
from pcbench.reports._ladder import draw_comparison
from pcbench.samples import EAGER, TEMPERATURES
from pcbench.sampling import Setting
from pcbench.status import Status


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare compare's arguments."""
    models, strategies = ", ".join(discovery.model_names()), ",".join(discovery.strategy_names())
    parser.add_argument(
        "model",
        help="a model's name, the path of a file that ends in MODEL, or package.module:function that returns "
        f"(model, args, kwargs); names: {models}",
    )
    parser.add_argument("--strategies", type=_list, metavar="A,B", help=f"ways to save, of {strategies} (default: all)")
    parser.add_argument(
        "--temperatures",
        type=_list,
        metavar="T,U",
        default=TEMPERATURES,
        help="of cold (empty compiler caches), warm (the caches that the capture left) and hot (second load in a "
        "process); default: all",
    )
    parser.add_argument("--samples", type=_positive_int, default=3, help="fresh processes per row (default: 3)")
    parser.add_argument("--threads", type=_positive_int, help="CPU threads, at capture and at load (default: all CPUs)")
    parser.add_argument(
        "--timeout", type=_positive_float, default=300.0, metavar="SECONDS", help="limit per process (default: 300)"
    )
    parser.add_argument(
        "--calls",
        type=_positive_int,
        default=CALLS_PER_START,
        help=f"calls per process start that the recommendation assumes (default: {CALLS_PER_START})",
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="write every sample there")
    parser.add_argument("--figure", type=Path, metavar="FILE", help="draw the ladder and the break-even curve there")


def run(args: argparse.Namespace) -> int:
    """Measure, print, write; 2 when a strategy that was named is unavailable, or no row could be measured."""
    plan = _plan(args)
    for output in (args.json, args.figure):
        if output is not None:
            _check_writable(output)
    if args.figure is not None:
        _check_figure(args.figure)
        if args.json is not None and args.json.absolute() == args.figure.absolute():
            raise UsageError(f"--json and --figure both name {args.json}", hint="give each a file of its own")
    facts = _facts(plan.setting)
    measured = Measured(plan)
    ended = None
    try:
        with processes.scratch() as folder, steps(plan.steps) as step:
            measure(measured, folder, step)
    except (KeyboardInterrupt, OSError) as error:  # what was measured is worth keeping
        ended = "interrupted" if isinstance(error, KeyboardInterrupt) else f"could not go on: {error}"
    comparison = Comparison(
        model=args.model,
        torch=facts["torch"],
        triton=facts["triton"],
        python=facts["python"],
        machine=machine.describe() | {"isa": facts["isa"]},
        threads=plan.setting.threads,
        rows=measured.rows(),
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
        f"start and call: median and range; capture: with save, n=1; paid back: starts of {args.calls:,} calls until "
        "capture and save have paid for themselves; compiler runs: processes started"
    )
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


def _plan(args: argparse.Namespace) -> Plan:
    known = discovery.strategy_names()
    strategies = tuple(discovery.check_name("strategy", name, known) for name in args.strategies or known)
    temperatures = tuple(discovery.check_name("temperature", name, TEMPERATURES) for name in args.temperatures)
    if args.model.endswith(".py"):
        if not Path(args.model).is_file():
            raise UsageError(f"there is no file {args.model}", hint="give the path of a file that ends in MODEL")
    elif ":" not in args.model:
        discovery.check_name("model", args.model, discovery.model_names())
    setting = Setting(args.model, timeout_s=args.timeout)
    if args.threads is not None:
        setting = Setting(args.model, timeout_s=args.timeout, threads=args.threads)
    in_order = tuple(t for t in TEMPERATURES if t in temperatures)
    return Plan(setting, tuple(dict.fromkeys(strategies)), in_order, args.samples)


def _facts(setting: Setting) -> dict[str, str]:
    messages = sampling.ask(setting, {"do": "describe", "strategy": EAGER})
    facts: dict[str, str] = next(m["facts"] for m in messages if "facts" in m)
    return facts


def _check_writable(path: Path) -> None:
    folder = path.absolute().parent
    if path.is_dir() or not folder.is_dir() or not os.access(path if path.exists() else folder, os.W_OK):
        raise UsageError(
            f"{path} cannot be written", hint="name a file in a folder that exists and that you may write to"
        )


def _check_figure(path: Path) -> None:
    known = Figure().canvas.get_supported_filetypes()
    if path.suffix.lstrip(".").lower() not in known:
        raise UsageError(f"{path} has no ending that a figure can have", hint=f"one of {', '.join(sorted(known))}")


def _write(path: Path, content: bytes) -> None:
    try:
        path.write_bytes(content)
    except OSError as error:
        raise PcbenchError(f"{path} could not be written: {error.strerror}") from error


def _list(text: str) -> tuple[str, ...]:
    words = tuple(word.strip() for word in text.split(",") if word.strip())
    if not words:
        raise argparse.ArgumentTypeError("give at least one name")
    return words


def _positive_int(text: str) -> int:
    if not text.isdigit() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number from 1")
    return int(text)


def _positive_float(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0 < value < float("inf"):
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of seconds above 0")
    return value


COMMAND = Command(
    help="capture, save, load and call a model every way that this torch knows, in fresh processes, beside eager",
    add_arguments=add_arguments,
    run=run,
)
