"""``pcbench report``: figures and a page out of results/, without torch."""

from __future__ import annotations

import argparse
import io
import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from pcbench import discovery, reports
from pcbench.analysis.asv_results import read_results
from pcbench.analysis.baseline import FILE, Baseline, read_baseline
from pcbench.analysis.case_rows import case_rows
from pcbench.analysis.findings import Finding
from pcbench.analysis.gating import Wanted, gate
from pcbench.analysis.records import Problem, Results
from pcbench.analysis.series import by_place
from pcbench.analysis.shown import Shown, accepted_values
from pcbench.commands import Command
from pcbench.commands._policy_file import policy_of
from pcbench.errors import ResultsError, UsageError
from pcbench.reports import Report
from pcbench.reports._page import Section, page

_DPI = 150


@dataclass(frozen=True)
class Drawn:
    """What was written: the page, a PNG for each report that draws something, and what the others say instead."""

    index: Path
    figures: tuple[Path, ...]
    without_figure: tuple[tuple[str, str], ...]
    results: Results


def report_names() -> tuple[str, ...]:
    """Names of the reports."""
    return discovery.names(Path(reports.__file__).parent)


def draw_reports(results: Path, out: Path, names: Sequence[str] = ()) -> Path:
    """As :func:`draw`; the path of index.html."""
    return draw(results, out, names).index


def draw(results: Path, out: Path, names: Sequence[str] = (), against: str | None = None) -> Drawn:
    """Draw the named reports, or all, from a results folder: NAME.png each in ``out``, and index.html with all of them.

    Args:
        against: The torch version that releases are compared with; None for the oldest.

    Raises:
        UsageError: There is no such report or torch, or ``out`` cannot be written.
        ResultsError: The folder is missing, is empty, or none of its files can be read.
    """
    known = report_names()
    chosen = tuple(dict.fromkeys(discovery.check_name("report", name, known) for name in names)) or _in_order(known)
    found = read_results(results)
    if not found.runs:
        first = found.problems[0]
        raise ResultsError(f"no result in {results} can be read", hint=f"{first.path} {first.what}")
    shown, unread = _shown(results, found, against)
    found = replace(found, problems=(*found.problems, *unread))
    sections = [_section(name, shown) for name in chosen]
    figures = []
    for section in sections:
        if section.png is not None:
            figures.append(_write(out / f"{section.name}.png", section.png))
    index = _write(out / "index.html", page(sections, found, case_rows(shown)).encode())
    return Drawn(index, tuple(figures), _unshown(sections), found)


def _in_order(known: Sequence[str]) -> tuple[str, ...]:
    """What changed comes first."""
    return tuple(sorted(known, key=lambda name: (name != "overview", name != "trend", name)))


def _shown(results: Path, found: Results, against: str | None) -> tuple[Shown, list[Problem]]:
    """The runs with what the baseline and their history say of them, and what of that could not be read."""
    policy, path = policy_of(Path.cwd()), results / FILE
    findings: list[Finding] = []
    problems = []
    try:
        baseline = read_baseline(path)
    except ResultsError as error:
        baseline = Baseline()
        problems.append(Problem(path, error.problem))
    places = by_place(found.runs)
    for place in (place for place in places if str(place) in baseline.places):
        commit = places[place][-1].commit
        try:
            judged = gate(Wanted(results, commit, env=place.environment, machine=place.machine), policy)
        except (ResultsError, UsageError) as error:
            problems.append(Problem(path, error.problem))
        else:
            findings += [finding for finding in judged.findings if finding.place == place]
    return Shown(found.runs, findings, accepted_values(baseline, places), policy, against), problems


def _unshown(sections: Sequence[Section]) -> tuple[tuple[str, str], ...]:
    """The reports without a figure, and what they say instead."""
    nothing = "the results hold nothing that it shows"
    return tuple((s.name, " ".join(s.said) or ("a table" if s.table else nothing)) for s in sections if s.png is None)


def _section(name: str, shown: Shown) -> Section:
    report = discovery.load("pcbench.reports", name, "REPORT", Report)
    figure, table, said = report.draw(shown), report.table(shown), tuple(report.said(shown))
    if figure is None:
        return Section(name, report.title, table=table, said=said)
    png = io.BytesIO()
    figure.savefig(png, format="png", dpi=_DPI)
    finding = " ".join(figure.get_suptitle().split())
    return Section(name, report.title, finding, png.getvalue(), table, said)


def _write(path: Path, content: bytes) -> Path:
    """Write a file whole or not at all."""
    aside = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            aside.write_bytes(content)
            aside.replace(path)
        finally:
            aside.unlink(missing_ok=True)
    except OSError as error:
        raise UsageError(f"cannot write {path}: {error.strerror}", hint="give another folder with --out") from error
    return path


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "names", nargs="*", metavar="NAME", help=f"reports: {', '.join(report_names())}; without one, all"
    )
    parser.add_argument("--results", type=Path, default=Path("results"), help="asv's results folder (default: results)")
    parser.add_argument("--out", type=Path, default=Path("report"), help="folder to write to (default: report)")
    parser.add_argument(
        "--against", metavar="TORCH", help="the torch version that releases are compared with (default: the oldest)"
    )


def _run(args: argparse.Namespace) -> int:
    drawn = draw(args.results, args.out, args.names, args.against)
    for problem in drawn.results.problems:
        print(f"not read: {problem.path}: {problem.what}")
    for name, said in drawn.without_figure:
        print(f"{name}: {said}")
    commits = len({run.commit for run in drawn.results.runs})
    print(f"{commits} commit{'s' * (commits != 1)}: {', '.join(map(str, drawn.figures)) or 'no figure'}")
    print(f"report: {drawn.index}")
    return 0


COMMAND = Command("Draw figures and an offline page from asv's results.", _add_arguments, _run)
