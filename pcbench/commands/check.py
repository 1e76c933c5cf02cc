"""``pcbench check FOLDER [MODEL]``: would this artifact load here, and is it to be trusted?"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from pcbench import asking, manifest, processes, sampling
from pcbench.analysis.quantities import counted, seconds, size
from pcbench.asking import Setting
from pcbench.commands import Command
from pcbench.errors import ArtifactError, PcbenchError
from pcbench.manifest import Manifest
from pcbench.samples import BUNDLED, EAGER
from pcbench.status import Status


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare check's arguments."""
    parser.add_argument("folder", type=Path, help="the artifact's folder")
    parser.add_argument(
        "model", nargs="?", help="then load it in a fresh process, call it, and compare its answer with this model's"
    )
    parser.add_argument(
        "--trust",
        action="store_true",
        help="take it without this user's signature, and another user's files; everything else is checked. "
        "Loading runs its code",
    )


def run(args: argparse.Namespace) -> int:
    """Check, and with a model load; 2 when it is refused, or did not load."""
    if args.trust:
        print(f"pcbench: who saved {args.folder} is not checked, and loading it runs its code", file=sys.stderr)
    found = _checked(args)
    print("\n".join(_lines(found)))
    if args.model is None:
        threads = counted(found.platform.threads, "thread")
        print(f"it would load here, in a process with {threads} and gradients {_switch(found.grad)}")
    else:
        _load(args, found)
    return 0


def _checked(args: argparse.Namespace) -> Manifest:
    """The manifest of the artifact, after a fresh process checked it as a load would.

    Raises:
        ArtifactError: A load would refuse it.
    """
    folder = args.folder.absolute()
    messages = asking.ask(
        Setting(EAGER), {"do": "check", "strategy": EAGER, "artifact": str(folder), "trust": args.trust}
    )
    for message in messages:
        if "refused" in message:
            raise ArtifactError(**message["refused"])
    text = next(message["manifest"] for message in messages if "manifest" in message)
    return manifest.parse(text.encode(), folder)


def _load(args: argparse.Namespace, found: Manifest) -> None:
    temperature = "cold" if found.caches is None else BUNDLED
    setting, folder = Setting(args.model, threads=found.platform.threads), args.folder.absolute()
    with processes.scratch() as caches:
        outcome = sampling.load_with(setting, found.strategy, folder, caches, temperature, trust=args.trust)
    if outcome.status is not Status.OK:
        raise PcbenchError(f"{args.folder} did not load: {outcome.status}: {outcome.reason}")
    (sample,) = outcome.samples
    print(
        f"{temperature} load: {seconds(sample.phases.total_s)} from the start of a process to the first output, "
        f"which agrees with {args.model}'s in eager mode"
    )


def _lines(found: Manifest) -> list[str]:
    made = found.platform
    caches = "none" if found.caches is None else f"made with torch in {found.caches.torch_path}"
    return [
        f"strategy: {found.strategy}, weights {found.weights}, gradients {_switch(found.grad)}",
        f"files:    {len(found.files)}, {size(sum(file.bytes for file in found.files.values()))}",
        f"torch:    {made.torch} (git {made.torch_git}), triton {made.triton}, Python {made.python}",
        f"machine:  {made.device}, {made.arch}, {made.isa}, {counted(made.threads, 'thread')}",
        f"inputs:   {', '.join(found.inputs)}",
        f"caches:   {caches}",
    ]


def _switch(on: bool) -> str:
    return "on" if on else "off"


COMMAND = Command(
    help="check an artifact as a load would; with a model, load it and compare the answers",
    add_arguments=add_arguments,
    run=run,
)
