"""What changed at the newest commit of each place, worst first; in the table also what could not be compared."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter

from pcbench.analysis.gating import EVERY_CASE
from pcbench.analysis.overview_rows import Overview, Row, overview
from pcbench.analysis.quantities import counted, digits, listed
from pcbench.analysis.records import Case, Run, Verdict
from pcbench.analysis.shown import Shown
from pcbench.reports import Report, Table
from pcbench.reports._captions import all_ran_on, sample_counts
from pcbench.reports._drawing import FAINT, INK, caption, figure, log_axis, plain_axes, title
from pcbench.reports._words import case_words

_MOST_ROWS = 24
_MOST_PLACES = 5
_ROW_INCHES = 0.46
_WORSE, _BETTER, _OPEN = ("#D55E00", "^"), ("#0072B2", "v"), ("#767676", "o")
_LEAST_SPAN = 1.1


def _draw(shown: Shown) -> Figure | None:
    found = overview(shown)
    if not found.changed:
        return None
    rows = found.changed[:_MOST_ROWS]
    places = {row.place for row in rows}
    fig = figure(10, _ROW_INCHES * len(rows) + 1.9)
    words, axes = fig.subplots(1, 2, gridspec_kw={"width_ratios": [1.9, 1]})
    _draw_words(words, rows, several=len(places) > 1)
    _draw_ratios(axes, rows)
    title(fig, _finding(found), columns=84)
    newest = [ordered[-1] for place, ordered in shown.places.items() if place in places]
    hidden = f"{len(rows)} of {len(found.changed)} changes are drawn; the table has all. " * (
        len(rows) < len(found.changed)
    )
    caption(
        fig,
        f"Commit {', '.join(dict.fromkeys(run.commit[:8] for run in newest))} beside what each line names. Ratio: "
        f"newest / compared, above 1 is more; numbers: {_samples(rows, newest)}, their spread is in the "
        f"table of cases. {hidden}{all_ran_on(newest)}",
        columns=150,
    )
    return fig


def _samples(rows: Sequence[Row], newest: Sequence[Run]) -> str:
    """Of how many samples the numbers are the least: what a judgement compares."""
    cases = [row.subject for row in rows if isinstance(row.subject, Case)]
    measured = [run.measurements[case] for run in newest for case in cases if case in run.measurements]
    return sample_counts(measured, which="least sample")


def _look(row: Row) -> tuple[str, str]:
    if row.verdict is Verdict.FASTER or (row.verdict is None and row.ratio is not None and row.ratio < 1):
        return _BETTER
    return _OPEN if row.verdict is Verdict.INCONCLUSIVE else _WORSE


def _draw_words(axes: Axes, rows: Sequence[Row], several: bool) -> None:
    axes.axis("off")
    axes.set_ylim(len(rows) - 0.5, -0.5)
    axes.set_xlim(0, 1)
    for place, row in enumerate(rows):
        verdict = f"{row.verdict}: " if row.verdict is not None else ""
        where = f" ({row.place.environment})" if several else ""
        head = textwrap.shorten(f"{verdict}{_subject(row)}{where}", 84, placeholder=" ...")
        below = textwrap.shorten(f"{row.reason}; {row.against}" if row.against else row.reason, 96, placeholder=" ...")
        for text, size, shift, colour in ((head, 9.5, 1, INK), (below, 8.5, -1, FAINT)):
            placed = axes.annotate(
                text,
                (0, place),
                (0, shift),
                textcoords="offset points",
                va="bottom" if shift > 0 else "top",
                fontsize=size,
                color=colour,
                fontweight="bold" if row.verdict in (Verdict.SLOWER, Verdict.CHANGED) and shift > 0 else "normal",
            )
            placed.set_in_layout(False)


def _draw_ratios(axes: Axes, rows: Sequence[Row]) -> None:
    ratios = [row.ratio for row in rows if row.ratio]
    high, low = max([_LEAST_SPAN, *ratios]), min([1 / _LEAST_SPAN, *ratios])
    room = (high / low) ** 0.12
    left, right = low / room, high * room**2.5
    axes.axvline(1.0, color=FAINT, linewidth=1, zorder=1)
    for place, row in enumerate(rows):
        colour, marker = _look(row)
        if row.ratio:
            axes.plot([1.0, row.ratio], [place, place], color=colour, linewidth=2, zorder=2)
            axes.plot(row.ratio, place, marker, color=colour, markeredgecolor=INK, markersize=8, zorder=3)
        at = max(row.ratio or 1.0, 1.0)
        label = _times(row.ratio) if row.ratio else "no ratio" if isinstance(row.subject, Case) else ""
        axes.annotate(label, (at, place), (9, 0), textcoords="offset points", va="center", fontsize=9, color=INK)
    axes.set_xscale("log")
    axes.set_xlim(left, right)
    if right / left < 3:
        axes.xaxis.set_major_locator(FixedLocator(_round_ticks(left, right)))
        axes.xaxis.set_minor_locator(FixedLocator([]))
        axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    else:
        log_axis(axes.xaxis, left, right, digits, most=6)
    axes.set_ylim(len(rows) - 0.5, -0.5)
    axes.set_yticks([])
    axes.set_xlabel("newest / compared (logarithmic)", fontsize=9.5)
    plain_axes(axes, grid="x")
    axes.spines["left"].set_visible(False)


def _round_ticks(left: float, right: float) -> list[float]:
    """About five round numbers, 1 among them."""
    step = next((s for s in (0.01, 0.02, 0.05, 0.1, 0.2) if (right - left) / s <= 6), 0.5)
    return [1 + step * k for k in range(-20, 21) if left <= 1 + step * k <= right]


def _subject(row: Row) -> str:
    return case_words(row.subject) if isinstance(row.subject, Case) else row.subject


def _finding(found: Overview) -> str:
    """How many changed, by verdict, and which is the worst."""
    worst = found.changed[0]
    times = f", {_times(worst.ratio)} times" if worst.ratio else ""
    verdicts = [row.verdict for row in found.changed if row.verdict is not None]
    counts = [f"{verdicts.count(verdict)} {verdict}" for verdict in dict.fromkeys(verdicts)]
    unjudged = sum(row.verdict is None for row in found.changed)
    if unjudged:
        counts.append(f"{counted(unjudged, 'change')} that no baseline judges")
    return f"{listed(counts)}; first: {_subject(worst)}{times}"


def _times(ratio: float) -> str:
    return f"{ratio:.3f}" if abs(ratio - 1) < 0.1 else digits(ratio)


def _said(shown: Shown) -> list[str]:
    found = overview(shown)
    lines = []
    unjudged = [row for row in found.unknown if row.subject == EVERY_CASE]
    cases = sum(row.cases for row in found.unknown if row not in unjudged)
    if not found.changed and found.same:
        what = "No case that could be compared changed" if found.unknown else "Nothing changed"
        lines.append(f"{what} at the newest commit.")
    lines += [f"{row.place} has no verdict: {row.reason}." for row in unjudged]
    if cases:
        lines.append(f"{counted(cases, 'case')} could not be compared: see the table.")
    if found.same:
        lines.append(f"{counted(found.same, 'case')} stayed within the threshold.")
    if found.alone:
        few = len(found.alone) <= _MOST_PLACES
        places = ", ".join(map(str, found.alone)) if few else f"{len(found.alone)} environments"
        lines.append(f"One commit alone, so nothing to compare with: {places}.")
    if found.judged < len(shown.places) - len(found.alone):
        lines.append(
            "Without an accepted baseline the newest commit stands beside the one before, which is no verdict: "
            "pcbench accept gives it one, pcbench gate judges."
        )
    return lines


def _table(shown: Shown) -> Table | None:
    found = overview(shown)
    header = ("what", "verdict", "how", "ratio", "beside", "threshold", "environment")
    rows = tuple(
        (
            str(row.subject),
            str(row.verdict or "-"),
            row.reason,
            f"{row.ratio:.3f}" if row.ratio else "-",
            row.against or "-",
            row.rule or "-",
            str(row.place),
        )
        for row in (*found.changed, *found.unknown)
    )
    return Table(header, rows) if rows else None


REPORT = Report("What changed at the newest commit", _draw, _table, _said)
