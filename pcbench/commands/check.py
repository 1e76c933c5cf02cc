"""``pcbench check FOLDER [MODEL]``: would this artifact load here, and is it to be trusted?"""

from __future__ import annotations

import argparse
import sys
from dataclasses import replace
from pathlib import Path

from pcbench import asking, processes, sampling, vetting
from pcbench.analysis.quantities import seconds, size
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
        print(f"pcbench: {args.folder} is taken whoever saved it: loading it runs its code", file=sys.stderr)
    with processes.scratch() as private:
        found = vetting.checked_copy(args.folder, private / "artifact", trust=args.trust)
        print("\n".join(_lines(found)))
        setting = Setting(args.model or EAGER, threads=found.platform.threads)
        if args.model is None:
            _check_here(args, setting, found)
            print("it would load here")
        else:
            _load(args, setting, found, private / "caches")
    return 0


def _check_here(args: argparse.Namespace, setting: Setting, found: Manifest) -> None:
    request = {"do": "check", "strategy": found.strategy, "artifact": str(args.folder.absolute()), "trust": args.trust}
    with processes.scratch() as folder:
        messages, ending = asking.ask_child(setting, request, folder / "caches")
    failed = asking.failure(messages, ending, setting)
    if failed is not None:
        raise ArtifactError(failed[1].removeprefix("the manifest: ArtifactError: "))


def _load(args: argparse.Namespace, setting: Setting, found: Manifest, caches: Path) -> None:
    temperature = "cold" if found.caches is None else BUNDLED
    here = replace(setting, cwd=Path.cwd())
    outcome = sampling.load_with(here, found.strategy, args.folder.absolute(), caches, temperature, trust=args.trust)
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
        f"strategy: {found.strategy}, weights {found.weights}, gradients {'on' if found.grad else 'off'}",
        f"files:    {len(found.files)}, {size(sum(file.bytes for file in found.files.values()))}",
        f"torch:    {made.torch} (git {made.torch_git}), triton {made.triton}, Python {made.python}",
        f"machine:  {made.device}, {made.arch}, {made.isa}, {made.threads} threads",
        f"inputs:   {', '.join(found.inputs)}",
        f"caches:   {caches}",
    ]


COMMAND = Command(
    help="check an artifact as a load would; with a model, load it and compare the answers",
    add_arguments=add_arguments,
    run=run,
)
