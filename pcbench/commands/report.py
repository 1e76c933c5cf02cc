"""``pcbench report``: figures and a page out of results/, without torch."""

from __future__ import annotations

import argparse
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from pcbench import discovery, reports
from pcbench.analysis.asv_results import read_results, read_some
from pcbench.analysis.baseline import FILE, Baseline, read_baseline
from pcbench.analysis.case_rows import case_rows
from pcbench.analysis.findings import Finding
from pcbench.analysis.gating import EVERY_CASE, Wanted, gate
from pcbench.analysis.records import Problem, Results, Run, Verdict
from pcbench.analysis.results_index import Entry, index
from pcbench.analysis.series import Place, by_place
from pcbench.analysis.shown import Shown, accepted_values
from pcbench.commands import Command
from pcbench.commands._policy_file import policy_of
from pcbench.errors import ResultsError, UsageError
from pcbench.reports import Report
from pcbench.reports._page import Section, page
from pcbench.whole_files import write_whole

_DPI = 150


@dataclass(frozen=True)
class Drawn:
    """What was written: the page and a PNG for each report that draws something; and what is said of them.

    Attributes:
        without_figure: The reports without a figure, and what they say instead.
        changed: What the overview's figure shows, in a sentence; empty without one.
    """

    index: Path
    figures: tuple[Path, ...]
    without_figure: tuple[tuple[str, str], ...]
    results: Results
    changed: str = ""


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
        else:
            _remove(out / f"{section.name}.png")
    index = _write(out / "index.html", page(sections, found, case_rows(shown)).encode())
    changed = next((one.finding for one in sections if one.name == "overview" and one.png is not None), "")
    return Drawn(index, tuple(figures), _unshown(sections), found, changed)


def _in_order(known: Sequence[str]) -> tuple[str, ...]:
    """What changed comes first."""
    return tuple(sorted(known, key=lambda name: (name != "overview", name != "trend", name)))


def _shown(results: Path, found: Results, against: str | None) -> tuple[Shown, list[Problem]]:
    """The runs with what the baseline and their history say of them, and what of that could not be read."""
    policy, path, places = policy_of(Path.cwd()), results / FILE, by_place(found.runs)
    findings: list[Finding] = []
    try:
        baseline = read_baseline(path)
    except ResultsError as error:
        findings = [_unjudged(place, error.problem) for place in places]
        return Shown(found.runs, findings, {}, policy, against), [Problem(path, error.problem)]
    problems, accepted = [], {}
    for place, entry in _newest_accepted(results, baseline, places).items():
        accepted[str(place)] = baseline.places[_name(entry)]
        try:
            judged = gate(Wanted(results, entry.commit, env=entry.environment, machine=entry.machine), policy)
        except (ResultsError, UsageError) as error:
            problems.append(Problem(path, error.problem))
            findings.append(_unjudged(place, error.problem))
        else:
            ours = (one for one in judged.findings if one.place.environment == place.environment)
            findings += [replace(one, place=place) for one in ours]
    values = accepted_values(Baseline(accepted), places)
    return Shown(found.runs, findings, values, policy, against), problems


def _newest_accepted(results: Path, baseline: Baseline, places: Mapping[Place, Sequence[Run]]) -> dict[Place, Entry]:
    """The newest result of each place that has a baseline.

    results/BASELINE calls a machine as its folder is called, a run as machine.json does: a copied folder has two names.
    """
    entries = [entry for entry in index(results)[0] if _name(entry) in baseline.places]
    found = {}
    for place, runs in places.items():
        newest = [one for one in entries if (one.commit, one.environment) == (runs[-1].commit, place.environment)]
        for entry in newest:
            if any(run.machine.name == place.machine for run in read_some(results, [entry.path]).runs):
                found[place] = entry
    return found


def _name(entry: Entry) -> str:
    return str(Place(entry.machine, entry.environment))


def _unjudged(place: Place, problem: str) -> Finding:
    return Finding(EVERY_CASE, Verdict.UNJUDGED, problem, place)


def _unshown(sections: Sequence[Section]) -> tuple[tuple[str, str], ...]:
    """The reports without a figure, and what they say instead."""
    nothing = "the results hold nothing that it shows"
    return tuple((s.name, " ".join(s.said) or ("a table" if s.table else nothing)) for s in sections if s.png is None)


def _section(name: str, shown: Shown) -> Section:
    report = discovery.load("pcbench.reports", name, "REPORT", Report)
    figure, table, said = report.draw(shown), report.table(shown), tuple(report.said(shown))
    if figure is None:
        return Section(name, report.title, table=table, said=said)
    finding = " ".join(figure.get_suptitle().split())
    return Section(name, report.title, finding, _png(figure), table, said)


def _png(figure: Figure) -> bytes:
    """The figure as savefig makes it, which draws everything twice."""
    png = io.BytesIO()
    figure.set_dpi(_DPI)
    FigureCanvasAgg(figure).print_png(png)  # type: ignore[no-untyped-call]  # matplotlib declares no types here
    return png.getvalue()


def _write(path: Path, content: bytes) -> Path:
    """Write a file whole or not at all."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, content)
    except OSError as error:
        raise UsageError(f"cannot write {path}: {error.strerror}", hint="give another folder with --out") from error
    return path


def _remove(path: Path) -> None:
    """Remove the figure of an earlier report, which would be taken for one of this."""
    try:
        path.unlink(missing_ok=True)
    except NotADirectoryError:
        pass  # Nothing is there; that the page cannot be written either is said with it.
    except OSError as error:
        raise UsageError(f"cannot remove {path}: {error.strerror}", hint="give another folder with --out") from error


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
    if drawn.changed:
        print(f"overview: {drawn.changed}")
    for name, said in drawn.without_figure:
        print(f"{name}: {said}")
    commits = len({run.commit for run in drawn.results.runs})
    print(f"{commits} commit{'s' * (commits != 1)}: {', '.join(map(str, drawn.figures)) or 'no figure'}")
    print(f"report: {drawn.index}")
    return 0


COMMAND = Command("Draw figures and an offline page from asv's results.", _add_arguments, _run)
