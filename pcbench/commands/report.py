"""``pcbench report``: figures and a page out of results/, without torch."""

from __future__ import annotations

import argparse
import io
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from pcbench import discovery, reports
from pcbench.analysis.asv_results import read_results
from pcbench.analysis.records import Results
from pcbench.commands import Command
from pcbench.errors import ResultsError, UsageError
from pcbench.reports import Report
from pcbench.reports._page import Section, page

_DPI = 150


@dataclass(frozen=True)
class Drawn:
    """What was written: the page, and a PNG for each report that the results hold something for."""

    index: Path
    figures: tuple[Path, ...]
    empty: tuple[str, ...]
    results: Results


def report_names() -> tuple[str, ...]:
    """Names of the reports."""
    return discovery.names(Path(reports.__file__).parent)


def draw_reports(results: Path, out: Path, names: Sequence[str] = ()) -> Path:
    """As :func:`draw`; the path of index.html."""
    return draw(results, out, names).index


def draw(results: Path, out: Path, names: Sequence[str] = ()) -> Drawn:
    """Draw the named reports, or all, from a results folder: NAME.png each in ``out``, and index.html with all of them.

    Raises:
        UsageError: There is no such report, or ``out`` cannot be written.
        ResultsError: The folder is missing, is empty, or none of its files can be read.
    """
    known = report_names()
    chosen = tuple(dict.fromkeys(discovery.check_name("report", name, known) for name in names)) or known
    found = read_results(results)
    if not found.runs:
        first = found.problems[0]
        raise ResultsError(f"no result in {results} can be read", hint=f"{first.path} {first.what}")
    sections = [_section(name, found) for name in chosen]
    figures = []
    for section in sections:
        if section.png is not None:
            figures.append(_write(out / f"{section.name}.png", section.png))
    index = _write(out / "index.html", page(sections, found).encode())
    return Drawn(index, tuple(figures), tuple(s.name for s in sections if s.png is None), found)


def _section(name: str, found: Results) -> Section:
    report = discovery.load("pcbench.reports", name, "REPORT", Report)
    figure = report.draw(found.runs)
    if figure is None:
        return Section(name, report.title, table=report.table(found.runs))
    png = io.BytesIO()
    figure.savefig(png, format="png", dpi=_DPI)
    finding = " ".join(figure.get_suptitle().split())
    return Section(name, report.title, finding, png.getvalue(), report.table(found.runs))


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


def _run(args: argparse.Namespace) -> int:
    drawn = draw(args.results, args.out, args.names)
    for problem in drawn.results.problems:
        print(f"not read: {problem.path}: {problem.what}")
    for name in drawn.empty:
        print(f"{name}: the results hold nothing that it shows")
    commits = len({run.commit for run in drawn.results.runs})
    print(f"{commits} commit{'s' * (commits != 1)}: {', '.join(map(str, drawn.figures)) or 'no figure'}")
    print(f"report: {drawn.index}")
    return 0


COMMAND = Command("Draw figures and an offline page from asv's results.", _add_arguments, _run)
