"""``pcbench gate``: a verdict for each case of the newest results, and an exit code. Needs no torch and no git."""

from __future__ import annotations

import argparse
import os
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path

from pcbench.analysis import verdict_annotations
from pcbench.analysis.comparability import VARIABLE
from pcbench.analysis.findings import Judgement
from pcbench.analysis.gating import Wanted, gate
from pcbench.analysis.verdict_json import as_json
from pcbench.analysis.verdict_junit import as_junit
from pcbench.analysis.verdict_markdown import as_markdown
from pcbench.analysis.verdict_text import as_text
from pcbench.commands import Command, _files
from pcbench.commands._policy_file import policy_of
from pcbench.errors import UsageError
from pcbench.side_trees import git

_STDOUT = Path("-")
_COMMITS = 5000  # of which the newest that has a result is looked for
_EXAMPLES = """\
exit codes:
  0  nothing is slower or changed; FASTER and INCONCLUSIVE are said, not failed
  1  something is SLOWER or CHANGED
  2  something could not be judged: MISSING, FAILED, UNJUDGED, HOST, or NEW until `pcbench accept` takes it

examples:
  pcbench gate                                   the newest results beside results/BASELINE
  pcbench gate --baseline HEAD~1                 beside the commit before, too
  pcbench gate --vary torch --candidate torch:2.15.0 --baseline torch:2.14.1
"""


def add_selection(parser: argparse.ArgumentParser) -> None:
    """Declare what names results: also for ``accept``."""
    parser.add_argument("--candidate", metavar="COMMIT", help="a commit, or torch:VERSION (default: the newest)")
    parser.add_argument(
        "--env", metavar="NAME", help="only results of this environment: its name, a part of it, a pattern"
    )
    parser.add_argument("--machine", metavar="NAME", help="only results of this machine, or of a pattern")
    parser.add_argument("--results", type=Path, default=Path("results"), help="asv's results folder (default: results)")


def add_outputs(parser: argparse.ArgumentParser) -> None:
    """Declare the files that verdicts are written to: also for ``nightly``."""
    for name, what in (("json", "JSON"), ("markdown", "a pull-request comment"), ("junit", "JUnit XML")):
        parser.add_argument(
            f"--{name}", type=Path, metavar="FILE", help=f"write the verdicts as {what}; - writes to stdout alone"
        )


def check_outputs(args: argparse.Namespace) -> None:
    """Refuse files that cannot be written, and two outputs on stdout.

    Raises:
        UsageError: So.
    """
    wanted = [path for path in (args.json, args.markdown, args.junit) if path is not None]
    if wanted.count(_STDOUT) > 1:
        raise UsageError("two outputs are to go to stdout", hint="- can be given once")
    for path in wanted:
        if path != _STDOUT:
            _files.check_writable(path)


def tell(judgement: Judgement, args: argparse.Namespace, *, every: bool = False) -> None:
    """Write the files that were asked for, and print the rest."""
    forms = ((args.json, as_json), (args.markdown, as_markdown), (args.junit, as_junit))
    told = False
    for path, form in forms:
        if path == _STDOUT:
            print(form(judgement))
            told = True
        elif path is not None:
            _files.write(path, (form(judgement) + "\n").encode())
    if not told:
        print(as_text(judgement, every=every))
    if os.environ.get("GITHUB_ACTIONS"):
        # Beside an output on stdout, they go where GitHub reads them as well.
        for line in verdict_annotations.annotations(judgement):
            print(line, file=sys.stderr if told else sys.stdout)


def commit_of(name: str | None, root: Path) -> str | None:
    """A commit's hash, where git knows the name; else the name, which results may know."""
    if name is None or name.startswith("torch:"):
        return name
    return _git(root, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{commit}}") or name


def newest_first(root: Path) -> tuple[str, ...]:
    """The commits of the branch that is checked out, newest first; none where there is no git or no repository."""
    return tuple((_git(root, "rev-list", "--first-parent", f"--max-count={_COMMITS}", "HEAD") or "").split())


def _git(root: Path, *words: str) -> str | None:
    return git(root, *words) if shutil.which("git") else None


def wanted_of(args: argparse.Namespace, more: Mapping[str, object] | None = None) -> Wanted:
    """What the arguments name."""
    candidate = commit_of(args.candidate, Path.cwd())
    order = newest_first(Path.cwd())
    return Wanted(args.results, candidate, env=args.env, machine=args.machine, newest_first=order, **(more or {}))  # type: ignore[arg-type]


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.epilog = _EXAMPLES
    parser.add_argument(
        "--baseline",
        metavar="COMMIT",
        help="a commit, or torch:VERSION; what results/BASELINE accepts is compared, too",
    )
    add_selection(parser)
    parser.add_argument(
        "--vary",
        choices=sorted(VARIABLE),
        action="append",
        default=[],
        help="compare results of different builds: torch takes torch and triton out of what must match",
    )
    add_outputs(parser)
    parser.add_argument("--all", action="store_true", help="list every case, those that are the same, too")


def _run(args: argparse.Namespace) -> int:
    check_outputs(args)
    more = {"baseline": commit_of(args.baseline, Path.cwd()), "vary": tuple(args.vary)}
    judgement = gate(wanted_of(args, more), policy_of(Path.cwd()))
    tell(judgement, args, every=args.all)
    return judgement.exit_code


COMMAND = Command("Judge the newest results; exit 1 when something got worse.", _add_arguments, _run)
