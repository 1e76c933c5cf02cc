"""``pcbench bench [RANGE]``: run the asv suite, draw the report, say what was found."""

from __future__ import annotations

import argparse
import importlib.util
import os
import re
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from asv.config import Config  # type: ignore[import-untyped]

from pcbench import machine
from pcbench.analysis.asv_results import read_results
from pcbench.analysis.baseline import FILE
from pcbench.analysis.quantities import seconds
from pcbench.analysis.records import Case, Run
from pcbench.commands import Command, _asv_process
from pcbench.commands.report import draw_reports
from pcbench.errors import PcbenchError, UsageError
from pcbench.samples import EAGER, TEMPERATURES
from pcbench.status import Status

_ASV_WORDS = ("NEW", "ALL", "EXISTING", "TAGS", "HEAD")
_FIRST_OUTPUT = "track_first_output"
_NO_FAILURES = ("n/a", Status.UNAVAILABLE, "INTERRUPTED")
# Load average per CPU from which other work is taken to be running: a CPU of four is left for what a desktop does.
_BUSY = 0.75


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare bench's arguments."""
    parser.add_argument(
        "range",
        nargs="?",
        default="HEAD",
        metavar="RANGE",
        help="commits, as asv takes them: HEAD (default), COMMIT^!, NEW, ALL or A..B (the commits after A up to B)",
    )
    parser.add_argument(
        "--profile",
        choices=("quick", "full"),
        default="quick",
        help="quick: one small model, few samples (minutes); full: every model (hours); their results are kept apart "
        "(default: quick)",
    )
    parser.add_argument("--machine", metavar="NAME", help="this machine's name in the results (default: asv's)")


def run(args: argparse.Namespace) -> int:
    """Measure, draw, tell; 2 when a case failed, nothing was measured or the run was interrupted."""
    root = Path.cwd()
    head = _head(root)
    _check_range(root, args.range)
    name = machine.ensure(args.machine)
    conf = Config.load(None)
    results = root / conf.results_dir
    log = root / conf.env_dir / "bench.log"
    _say_what_is_measured(root, conf.results_dir, args.range, head)
    before = _written(results / name)
    ending = _asv_process.run(
        ["run", args.range, "--machine", name, "--record-samples", "--show-stderr"],
        root=root,
        results=results,
        log=log,
        variables={"PCBENCH_PROFILE": args.profile},
    )
    changed = [path for path, at in _written(results / name).items() if before.get(path) != at]
    if not changed:
        if ending.interrupted:
            raise PcbenchError("interrupted before a case was measured: nothing was kept")
        raise PcbenchError(f"asv measured nothing: {_last_line(log)}", hint=f"all that it said is in {log}")
    runs = [run for run in read_results(results).runs if run.machine.name == name and _is_of(run, changed)]
    for measured in runs:
        _say_what_was_found(measured)
    failed = _say_what_failed(runs, _asv_process.case_names(results), args.profile)
    if ending.interrupted:
        kept = sum(len(measured.measurements) for measured in runs)
        print(
            f"interrupted at case {ending.started} of {ending.total}; kept: {_count(kept, 'measurement')} in "
            f"{', '.join(str(path.relative_to(root)) for path in changed)}"
        )
        return 2
    if ending.returncode not in (0, 2):
        raise PcbenchError(f"asv ended early: {_last_line(log)}", hint=f"all that it said is in {log}")
    index = draw_reports(results, root / "report", ())
    print(f"report: {index}")
    print(_what_judges_it(results))
    return 0 if not failed and any(measured.measurements for measured in runs) else 2


def _what_judges_it(results: Path) -> str:
    if (results / FILE).exists():
        return "pcbench gate judges it"
    return "pcbench accept --reason TEXT makes it the baseline that pcbench gate compares with"


def _head(root: Path) -> str:
    """The commit of HEAD.

    Raises:
        PcbenchError: The folder is no checkout with commits and an asv suite.
    """
    if not (root / "asv.conf.json").is_file():
        raise PcbenchError(
            f"there is no asv.conf.json in {root}", hint="run bench at the top of a checkout that has a suite for asv"
        )
    if _git(root, "rev-parse", "--is-inside-work-tree") is None:
        raise PcbenchError(f"{root} is not in a git checkout", hint="asv measures commits: clone it with git")
    head = _git(root, "rev-parse", "--verify", "HEAD^{commit}")
    if head is None:
        raise PcbenchError(f"{root} has no commit yet", hint="asv measures commits: commit first")
    if importlib.util.find_spec("asv_runner") is None:
        raise PcbenchError("asv-runner is not installed", hint="make bench installs the pinned set")
    return head


def _check_range(root: Path, spec: str) -> None:
    if spec in _ASV_WORDS or spec.startswith("HASHFILE:"):
        return
    commits = _git(root, "rev-list", "--first-parent", *spec.split(), "--")
    if commits:
        return
    if commits is not None:
        raise UsageError(f"the range {spec} holds no commit", hint="A..B leaves A out; one commit is COMMIT^!")
    shallow = _git(root, "rev-parse", "--is-shallow-repository") == "true"
    raise UsageError(
        f"git knows no commits {spec}",
        hint="this is a shallow clone: git fetch --unshallow" if shallow else "git log shows the commits",
    )


def _say_what_is_measured(root: Path, results: str, spec: str, head: str) -> None:
    changed = _git(root, "status", "--porcelain", "--", ".", f":(exclude){results}", ":(exclude)report")
    if changed:
        count = _count(len(changed.splitlines()), "file")
        print(f"note: the tree has uncommitted changes ({count}); commits are measured, without them")
    load, cpus = os.getloadavg()[0], os.cpu_count() or 1
    if load > _BUSY * cpus:
        print(f"note: load average {load:.1f} on {_count(cpus, 'CPU')}: other work is running, and times will show it")
    print(f"measuring {f'HEAD ({head[:8]})' if spec == 'HEAD' else spec}", flush=True)


def _say_what_was_found(measured: Run) -> None:
    """A line per strategy and temperature: seconds to first output."""
    cases = [case for case in (*measured.measurements, *measured.absences) if case.benchmark.endswith(_FIRST_OUTPUT)]
    if not cases:
        return
    print(f"\n{measured.commit[:8]} on {measured.machine.name}, {measured.environment}: start to first output")
    rows = [_row(measured, case) for case in sorted(cases, key=_order)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        print("  " + "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())
    print("  eager is one case among the others, not taken in turn with them: pcbench compare measures ratios")


def _say_what_failed(runs: Sequence[Run], names: Mapping[str, str], profile: str) -> bool:
    """A line per case that failed, with its name as asv has it and the reason; whether there is one."""
    failed = [(run, case, why) for run in runs for case, why in run.absences.items() if why.status not in _NO_FAILURES]
    if not failed:
        return False
    print(f"\n{_count(len(failed), 'case')} failed:")
    for measured, case, why in failed:
        reason = f": {why.reason}" if why.reason else ""
        print(f"  {measured.commit[:8]} {names.get(str(case), case)}  {why.status}{reason}")
    first, case, _ = failed[0]
    pattern = re.escape(names.get(str(case), str(case)))
    print(f'  the first again: PCBENCH_PROFILE={profile} asv run {first.commit[:8]}^! -b "{pattern}"')
    return True


def _order(case: Case) -> tuple[str, bool, str, int]:
    strategy, temperature = case.param("strategy") or "", case.param("temperature")
    rung = TEMPERATURES.index(temperature) if temperature in TEMPERATURES else len(TEMPERATURES)
    return (case.param("model") or "", strategy != EAGER, strategy, rung)


def _row(measured: Run, case: Case) -> tuple[str, ...]:
    named = tuple(case.param(name) or "" for name in ("model", "strategy", "temperature"))
    found = measured.measurements.get(case)
    if found is None:
        absence = measured.absences[case]
        return (*named, absence.status, absence.reason or "" if absence.status in _NO_FAILURES else "see below")
    return (*named, f"{seconds(found.value)} (n={found.n or 1})", "")


def _written(folder: Path) -> dict[Path, int]:
    files = (path for path in folder.glob("*.json") if path.name != "machine.json")
    return {path: path.stat().st_mtime_ns for path in files}


def _is_of(measured: Run, files: Sequence[Path]) -> bool:
    return any(path.name.startswith(measured.commit[:8]) and measured.environment in path.name for path in files)


def _count(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def _last_line(log: Path) -> str:
    lines = [line.strip() for line in log.read_text().splitlines() if line.strip()]
    return lines[-1] if lines else "it said nothing"


def _git(root: Path, *words: str) -> str | None:
    """What git prints, or None when it refuses."""
    try:
        done = subprocess.run(["git", *words], cwd=root, capture_output=True, text=True, check=False, env=os.environ)
    except FileNotFoundError as error:
        raise PcbenchError("git is not installed", hint="asv measures commits") from error
    return done.stdout.strip() if done.returncode == 0 else None


COMMAND = Command(
    help="run the asv suite on HEAD or a range of commits, and draw the report", add_arguments=add_arguments, run=run
)
