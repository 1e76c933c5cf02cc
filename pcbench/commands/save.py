"""``pcbench save MODEL FOLDER --strategy NAME``: an artifact to ship."""

from __future__ import annotations

import argparse
from pathlib import Path

from pcbench import discovery, processes, sampling, signing
from pcbench.analysis.quantities import seconds, size
from pcbench.asking import Setting, usable_cpus
from pcbench.commands import Command
from pcbench.commands._argument_types import above_0, positive_int
from pcbench.commands._progress import steps
from pcbench.errors import PcbenchError, UsageError
from pcbench.status import Status


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare save's arguments."""
    parser.add_argument(
        "model", help="a model's name, the path of a file that ends in MODEL, or package.module:function"
    )
    parser.add_argument("folder", type=Path, help="where the artifact goes; it must not exist")
    parser.add_argument("--strategy", required=True, help=f"how to save it: {', '.join(discovery.strategy_names())}")
    parser.add_argument(
        "--with-caches",
        action="store_true",
        help="save what was compiled with it, so that a first load elsewhere compiles nothing",
    )
    parser.add_argument("--threads", type=positive_int, help="CPU threads; a load needs as many (default: all CPUs)")
    parser.add_argument(
        "--timeout", type=above_0("seconds"), default=300.0, metavar="SECONDS", help="limit (default: 300)"
    )


def run(args: argparse.Namespace) -> int:
    """Capture, save and sign in a fresh process; 2 when that failed."""
    discovery.check_name("strategy", args.strategy, discovery.strategy_names())
    if args.folder.exists():
        raise UsageError(f"{args.folder} exists already", hint="remove it, or save under another name")
    if not args.folder.absolute().parent.is_dir():
        raise UsageError(f"there is no folder {args.folder.absolute().parent}", hint="make it first")
    setting = Setting(args.model, threads=args.threads or usable_cpus(), timeout_s=args.timeout)
    with processes.scratch(args.folder.absolute().parent) as aside, steps(1) as step:
        step(f"capturing {args.model} with {args.strategy}")
        captured = sampling.capture(setting, args.strategy, aside / "made", with_caches=args.with_caches)
        if captured.status is not Status.OK:
            raise PcbenchError(f"{args.strategy} could not save {args.model}: {captured.status}: {captured.reason}")
        (aside / "made" / "artifact").rename(args.folder)
    told = f"{size(captured.artifact_bytes or 0)}, captured and saved in {seconds(captured.total_s)}"
    print(f"{args.folder}: {args.strategy}, {told}")
    print(f"signed with the key in {signing.path()}: who has that key can load it without --trust")
    return 0


COMMAND = Command(
    help="capture a model and save it to a folder that can be shipped", add_arguments=add_arguments, run=run
)
