"""``pcbench contract``: what torch's documents promise of persisted models, checked."""

from __future__ import annotations

import argparse
import fnmatch
import json
import sys
import threading
from collections.abc import Sequence
from pathlib import Path

from pcbench import asking, claim_checking, discovery, processes
from pcbench.analysis.contract_table import contract_lines, list_lines
from pcbench.asking import Setting
from pcbench.claims import Checked, Claim, ClaimOutcome, ClaimResult, claims, to_json
from pcbench.commands import Command
from pcbench.commands._argument_types import above_0, positive_int
from pcbench.commands._builds import Build, add_env_argument, builds
from pcbench.commands._progress import Step, steps
from pcbench.errors import PcbenchError, UsageError
from pcbench.samples import EAGER

_STDOUT = "-"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare contract's arguments."""
    add_env_argument(parser)
    parser.add_argument("--document", metavar="NAME", help="only the claims of this document; see --list")
    parser.add_argument(
        "--claim", metavar="PATTERN", help="only the claims whose id has this in it, or matches it, as in 'precompile*'"
    )
    parser.add_argument("--list", action="store_true", help="list the claims and check none")
    parser.add_argument("--json", metavar="FILE", help=f"write outcomes as JSON; {_STDOUT} prints them, and no table")
    parser.add_argument("--jobs", type=positive_int, default=1, metavar="N", help="check N at once (default: 1)")
    parser.add_argument(
        "--timeout", type=above_0("seconds"), default=300.0, metavar="SECONDS", help="limit per claim (default: 300)"
    )


def run(args: argparse.Namespace) -> int:
    """Check the claims in every build and print what became of them; 2 when one crashed, or a build has no torch."""
    asked = _asked(args.document, args.claim)
    if args.list:
        print("\n".join(list_lines(asked)))
        return 0
    if args.json not in (None, _STDOUT) and not Path(args.json).absolute().parent.is_dir():
        raise UsageError(f"cannot write {args.json}: there is no such folder")
    checked: list[Checked] = []
    interrupted = False
    with builds(args) as found, steps(len(found) * (1 + len(asked))) as step:
        try:
            for each in found:
                _check(each, asked, step, args, checked)
        except KeyboardInterrupt:  # what was checked is worth keeping
            interrupted = True
    if interrupted:
        print("pcbench: interrupted; what was checked until then follows", file=sys.stderr)
    if args.json is not None:
        text = json.dumps(to_json(checked), indent=1) + "\n"
        if args.json == _STDOUT:
            print(text, end="")
        else:
            Path(args.json).write_text(text)
    if args.json != _STDOUT:
        print("\n".join(contract_lines(asked, checked)))
    for build in checked:
        if build.problem is not None:
            print(f"pcbench: {build.name}: {build.problem}", file=sys.stderr)
    judged = all(build.problem is None and build.count(ClaimOutcome.CRASHED) == 0 for build in checked)
    return 0 if judged and not interrupted else 2


def _asked(document: str | None, pattern: str | None) -> tuple[Claim, ...]:
    known = claims()
    if document is not None:
        discovery.check_name("document", document, tuple(dict.fromkeys(claim.document for claim in known)))
        known = tuple(claim for claim in known if claim.document == document)
    if pattern is None:
        return known
    found = tuple(claim for claim in known if pattern in claim.id or fnmatch.fnmatchcase(claim.id, pattern))
    if not found:
        raise UsageError(f"no claim has {pattern!r} in its id", hint="pcbench contract --list lists them")
    return found


def _check(build: Build, asked: Sequence[Claim], step: Step, args: argparse.Namespace, checked: list[Checked]) -> None:
    """Add what becomes of the claims in a build, as far as it comes."""
    setting = build.setting(Setting(EAGER, timeout_s=args.timeout))
    lock = threading.Lock()

    def began(claim: Claim) -> None:
        with lock:
            step(f"{build.name}: {claim.id}")

    with processes.scratch() as folder:
        step(f"{build.name}: torch")
        try:
            messages = asking.ask(setting, {"do": "describe", "strategy": EAGER})
        except PcbenchError as error:
            checked.append(Checked(build.name, None, None, problem=error.problem))
            return
        facts = next(message["facts"] for message in messages if "facts" in message)
        results: list[ClaimResult] = []
        try:
            results.extend(claim_checking.check_all(asked, setting, folder / "caches", jobs=args.jobs, began=began))
        finally:
            checked.append(Checked(build.name, facts["torch"], facts["torch_git"], tuple(results)))


COMMAND = Command(
    help="what torch's documents promise of persisted models, checked: a small program per claim",
    add_arguments=add_arguments,
    run=run,
)
