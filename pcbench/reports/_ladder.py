"""The figure of ``pcbench compare``: every start by phase, and from how many calls it pays."""

from __future__ import annotations

import math
import statistics
import textwrap

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch
from matplotlib.ticker import MaxNLocator

from pcbench.analysis.breakeven import start_difference
from pcbench.analysis.comparison import Comparison, Row
from pcbench.analysis.quantities import counted, scale_of, seconds
from pcbench.analysis.recommendation import MEANING
from pcbench.analysis.spread import kind_of, spread
from pcbench.analysis.table import PHASE_LABELS, by_start, phase_medians
from pcbench.reports._breakeven_curve import LEGEND_COLUMNS, curves, draw_curves
from pcbench.reports._captions import counts_of
from pcbench.reports._drawing import INK, caption, figure, plain_axes, title
from pcbench.reports._fastest import Start, standing
from pcbench.samples import EAGER

_PHASE_LOOKS = {
    "interpreter_s": ("#999999", ""),
    "import_torch_s": ("#C9E4F6", ""),
    "import_other_s": ("#E69F00", "////"),
    "model_s": ("#009E73", "...."),
    "load_s": ("#0072B2", "\\\\\\\\"),
    "first_call_s": ("#F7C6A3", "xxxx"),
}

_ROW_INCHES = 0.3
_CURVE_INCHES = 3.4
_REASON_COLUMNS = 115
_NARROWEST = 0.003


def draw_comparison(comparison: Comparison) -> Figure:
    """Load to first output by phase, strategies by temperature with eager first; below it total time over calls.

    A strategy that failed is a line of text. Each temperature has a time axis of its own.
    """
    temperatures = comparison.temperatures
    groups = [by_start(comparison, temperature) for temperature in temperatures]
    curved = next(((t, found) for t in temperatures if (found := curves(comparison, t))), None)
    heights = [0.25, *(_ROW_INCHES * len(rows) + 0.2 for rows in groups)]
    if curved:
        heights += [_CURVE_INCHES, 0.22 * math.ceil(len(curved[1]) / LEGEND_COLUMNS)]
    fig = figure(10, sum(heights) + 0.55 * len(heights) + 1.1)
    legend, *panels = fig.subplots(len(heights), 1, gridspec_kw={"height_ratios": heights}, squeeze=False)[:, 0]
    _draw_legend(legend, groups)
    for axes, rows, temperature in zip(panels, groups, temperatures, strict=False):
        _draw_group(axes, rows, temperature)
    if curved:
        draw_curves(panels[-2], panels[-1], curved[1], curved[0])
    title(fig, finding(comparison))
    caption(fig, _caption(comparison, curved is not None))
    return fig


def finding(comparison: Comparison) -> str:
    """Which strategy loads fastest at the coldest temperature that can be judged, beside eager."""
    starts = {
        temperature: [_start(row) for row in comparison.rows if row.temperature == temperature and row.counts]
        for temperature in comparison.temperatures
    }
    found = standing(starts)
    if found is None:
        return f"{comparison.model}: no strategy loaded and gave eager's answer"
    where = f"{comparison.model}, {found.temperature}"
    if not found.judged:
        return f"{where}: {found.not_judged()}"
    first = found.saved[0]
    said = f"{where}: {found.leader()}, {seconds(first.median_s)} to the first output"
    row, eager = comparison.row(first.strategy, found.temperature), comparison.eager(found.temperature)
    if found.eager is None or row is None or eager is None:
        return f"{said}; eager was not measured"
    low, high = start_difference(row, eager)
    if low <= 0.0 <= high:
        return f"{said}; eager {seconds(found.eager.median_s)}, a difference within the spread"
    apart = first.median_s - found.eager.median_s
    return f"{said}, {seconds(abs(apart))} {'faster' if apart < 0 else 'slower'} than eager"


def _start(row: Row) -> Start:
    samples = row.start_s
    return Start(row.strategy, statistics.median(samples), min(samples), max(samples), len(samples))


def _draw_legend(axes: Axes, groups: list[list[Row]]) -> None:
    axes.axis("off")
    shown = {phase for rows in groups for phase in _visible(rows)}
    patches = [
        Patch(facecolor=colour, hatch=hatch, edgecolor=INK, linewidth=0.5, label=PHASE_LABELS[phase])
        for phase, (colour, hatch) in _PHASE_LOOKS.items()
        if phase in shown
    ]
    axes.legend(handles=patches, loc="center left", ncols=len(patches) or 1, fontsize=9, frameon=False, borderpad=0)


def _visible(rows: list[Row]) -> set[str]:
    """The phases that take some width in a temperature's bars."""
    medians = [phase_medians(row.samples) for row in rows if row.counts]
    widest = max((sum(phases.values()) for phases in medians), default=0.0)
    return {phase for phases in medians for phase, value in phases.items() if value > _NARROWEST * widest}


def _draw_group(axes: Axes, rows: list[Row], temperature: str) -> None:
    longest = max((max(row.start_s) for row in rows if row.counts), default=1.0)
    scale, symbol = scale_of(longest, "seconds")
    for place, row in enumerate(rows):
        if row.counts:
            _draw_bar(axes, place, row, scale)
        else:
            said = f"{row.status.value}: {row.reason}" if row.reason else row.status.value
            short = textwrap.shorten(said, _REASON_COLUMNS, placeholder=" ...")
            axes.text(longest / scale * 0.006, place, short, va="center", fontsize=8.5, color=INK, style="italic")
    axes.set_ylim(len(rows) - 0.4, -0.6)
    axes.set_yticks(range(len(rows)), [row.strategy for row in rows])
    axes.set_xlim(0, longest / scale * 1.12)
    axes.xaxis.set_major_locator(MaxNLocator(8, steps=[1, 2, 2.5, 5, 10]))
    plain_axes(axes, grid="x")
    axes.tick_params(axis="y", length=0)
    for tick in axes.get_yticklabels():
        tick.set_fontweight("bold" if tick.get_text() == EAGER else "normal")
    axes.set_title(f"{temperature}: {MEANING[temperature]}", loc="left", fontsize=10.5, color=INK)
    axes.set_xlabel(f"time to the first output ({symbol})", fontsize=9)


def _draw_bar(axes: Axes, place: int, row: Row, scale: float) -> None:
    left = 0.0
    for phase, median_s in phase_medians(row.samples).items():
        colour, hatch = _PHASE_LOOKS[phase]
        width = median_s / scale
        axes.barh(place, width, 0.7, left, color=colour, hatch=hatch, edgecolor=INK, linewidth=0.4, label=phase)
        left += width
    totals = spread(row.start_s)
    assert totals is not None
    if totals.n > 1:
        axes.plot([totals.low / scale, totals.high / scale], [place, place], color=INK, linewidth=1.6, zorder=4)
    axes.plot(
        [value / scale for value in row.start_s],
        [place] * totals.n,
        "o",
        color="white",
        markeredgecolor=INK,
        markersize=3.5,
        zorder=5,
    )
    axes.annotate(
        seconds(totals.median),
        (max(left, max(row.start_s) / scale), place),
        xytext=(7, 0),
        textcoords="offset points",
        va="center",
        fontsize=8.5,
        color=INK,
    )


def _caption(comparison: Comparison, curved: bool) -> str:
    machine = ", ".join(
        f"{value} CPUs" if name == "num_cpu" else str(value) for name, value in comparison.machine.items() if value
    )
    counts = sorted({len(row.samples) for row in comparison.rows if row.counts})
    n = counts_of(counts or [0], "fresh process", "fresh processes")
    kinds = " or ".join(sorted({kind_of(count) for count in counts if count > 1}))
    line = f"Line: {kinds} of the totals." if kinds else "One sample has no spread: it decides nothing."
    parts = [
        f"torch {comparison.torch}, triton {comparison.triton}, Python {comparison.python}, "
        f"{counted(comparison.threads, 'thread')} on {machine or 'an unnamed machine'}.",
        f"{n} per row. Bars: median of each phase. Circles: each sample's total. {line} Number: median total.",
        "The time axes differ.",
    ]
    parts.append(
        "Below: median start plus calls at the median paired difference from eager's; a difference within the spread "
        "of the pairs counts as none."
        if curved
        else "No curve of total time over calls: eager or the later calls were not measured."
    )
    return " ".join(parts)
