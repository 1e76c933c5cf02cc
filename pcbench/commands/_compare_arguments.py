"""The arguments of ``pcbench compare``, and the plan that they make."""

from __future__ import annotations

import argparse
from pathlib import Path

from pcbench import discovery
from pcbench.analysis.recommendation import CALLS_PER_START
from pcbench.asking import Setting, usable_cpus
from pcbench.commands._argument_types import above_0, positive_int
from pcbench.commands._builds import add_env_argument
from pcbench.commands._files import check_writable
from pcbench.commands._outputs import check_figure
from pcbench.commands._rounds import Plan
from pcbench.conditions import CONDITIONS
from pcbench.errors import UsageError
from pcbench.samples import TEMPERATURES, USUAL_TEMPERATURES


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare compare's arguments."""
    models, strategies = ", ".join(discovery.model_names()), ", ".join(discovery.strategy_names())
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
        default=USUAL_TEMPERATURES,
        help="of cold (empty compiler caches), bundled (the same, but the artifact carries what its capture compiled), "
        "warm (the caches that the capture left) and hot (second load in a process); default: all but bundled, which "
        "takes captures of its own",
    )
    parser.add_argument("--samples", type=positive_int, default=3, help="fresh processes per row (default: 3)")
    parser.add_argument("--threads", type=positive_int, help="CPU threads, at capture and at load (default: all CPUs)")
    parser.add_argument(
        "--timeout", type=above_0("seconds"), default=300.0, metavar="SECONDS", help="limit per process (default: 300)"
    )
    parser.add_argument(
        "--calls",
        type=positive_int,
        default=CALLS_PER_START,
        help=f"calls per process start that the recommendation assumes (default: {CALLS_PER_START})",
    )
    parser.add_argument(
        "--capture-warm",
        action="store_true",
        help="then capture once more, from the caches that the capture left; the cold capture is always told by phase",
    )
    parser.add_argument(
        "--deploy",
        action="store_true",
        help=f"then load each artifact cold, as another machine has it: {', '.join(CONDITIONS)}",
    )
    parser.add_argument(
        "--workers",
        type=positive_int,
        default=0,
        metavar="N",
        help="then load in N processes at once, over one folder of compiler caches",
    )
    parser.add_argument(
        "--shapes", action="store_true", help="then call each loaded artifact once with each extra shape of the model"
    )
    add_env_argument(parser)
    parser.add_argument("--json", type=Path, metavar="FILE", help="write every sample there")
    parser.add_argument("--figure", type=Path, metavar="FILE", help="draw the ladder and the break-even curve there")


def plan(args: argparse.Namespace) -> Plan:
    """What the arguments ask to measure.

    Raises:
        UsageError: A name is unknown, or an output file cannot be written.
    """
    _check_outputs(args)
    known = discovery.strategy_names()
    strategies = tuple(discovery.check_name("strategy", name, known) for name in args.strategies or known)
    temperatures = tuple(discovery.check_name("temperature", name, TEMPERATURES) for name in args.temperatures)
    if args.model.endswith(".py"):
        if not Path(args.model).is_file():
            raise UsageError(f"there is no file {args.model}", hint="give the path of a file that ends in MODEL")
    elif ":" not in args.model:
        discovery.check_name("model", args.model, discovery.model_names())
    setting = Setting(args.model, timeout_s=args.timeout, threads=args.threads or usable_cpus())
    in_order = tuple(t for t in TEMPERATURES if t in temperatures)
    return Plan(
        setting,
        tuple(dict.fromkeys(strategies)),
        in_order,
        args.samples,
        shapes=args.shapes,
        capture_warm=args.capture_warm,
        keep_state=args.deploy,
    )


def _check_outputs(args: argparse.Namespace) -> None:
    for output in (args.json, args.figure):
        if output is not None:
            check_writable(output)
    if args.figure is not None:
        check_figure(args.figure)
        if args.json is not None and args.json.absolute() == args.figure.absolute():
            raise UsageError(f"--json and --figure both name {args.json}", hint="give each a file of its own")


def _list(text: str) -> tuple[str, ...]:
    words = tuple(word.strip() for word in text.split(",") if word.strip())
    if not words:
        raise argparse.ArgumentTypeError("give at least one name")
    return words
