"""What one guard of each family costs, drawn: for the report over runs, and for ``pcbench guards --figure``."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, MaxNLocator

from pcbench.analysis.guard_slopes import FamilySlope, range_words
from pcbench.analysis.quantities import listed, scale_of, seconds
from pcbench.analysis.spread import Spread
from pcbench.reports._captions import counts_of
from pcbench.reports._drawing import INK, caption, figure, log_axis, plain_axes, title, write_quantity

ROW_INCHES = 0.27
_LOG_FROM = 6.0


def draw_slopes(found: Sequence[FamilySlope], where: str) -> Figure:
    """The families' slopes and intercepts, the dearest guard first.

    Args:
        where: What they were measured on.
    """
    fig = figure(10, ROW_INCHES * (len(found) + 1.5) + 2.1)
    grid = fig.add_gridspec(1, 2, width_ratios=[2.2, 1])
    draw_panels(fig.add_subplot(grid[0, 0]), fig.add_subplot(grid[0, 1]), found)
    finding = slope_finding(found)
    title(fig, finding[0].upper() + finding[1:], columns=92)
    caption(fig, f"{slope_caption(found)}{where}")
    return fig


def draw_panels(left: Axes, right: Axes, found: Sequence[FamilySlope]) -> None:
    """Slopes to the left, intercepts to the right; a row per family."""
    names = [line.family for line in found]
    for axes, spreads, heading, labels in (
        (left, [line.per_guard_s for line in found], "one guard more, per check", names),
        (right, [line.intercept_s for line in found], "check with none of them (intercept)", []),
    ):
        for row, one in enumerate(spreads):
            axes.plot([one.low, one.high], [row, row], color=INK, linewidth=2.2, alpha=0.55, solid_capstyle="butt")
            axes.plot(one.median, row, "o", color=INK, markersize=5.5)
            axes.annotate(
                seconds(one.median),
                (max(one.high, one.median), row),
                (7, 0),
                textcoords="offset points",
                va="center",
                fontsize=8.5,
                color=INK,
            )
        axes.set_ylim(len(spreads) - 0.4, -0.6)
        axes.set_yticks(range(len(spreads)) if labels else [], labels)
        axes.set_title(heading, loc="left", fontsize=9.5, color=INK)
        _time_axis(axes, spreads)
        plain_axes(axes, grid="x")
        axes.tick_params(axis="y", length=0)


def _time_axis(axes: Axes, spreads: Sequence[Spread]) -> None:
    """From 0 where the families lie near each other, else logarithmic; with room for a number after each."""
    low, high = min(one.low for one in spreads), max(one.high for one in spreads)
    if low > 0 and high / low > _LOG_FROM:
        axes.set_xscale("log")
        room = (high / low) ** 0.22
        axes.set_xlim(low / 1.3, high * room)
        log_axis(axes.xaxis, low / 1.3, high * room, write_quantity("seconds"), most=6)
        return
    scale, symbol = scale_of(max(high, -low), "seconds")
    axes.set_xlim(min(0.0, 1.1 * low), 1.45 * max(high, 0.0) or scale)
    axes.xaxis.set_major_locator(MaxNLocator(5))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value / scale:g}"))
    axes.set_xlabel(symbol, fontsize=9, color=INK)


def slope_finding(found: Sequence[FamilySlope]) -> str:
    """``a guard costs 4.1 ns (globals) to 90 ns (tensors)``."""
    dearest, cheapest = (f"{seconds(line.per_guard_s.median)} ({line.family})" for line in (found[0], found[-1]))
    return f"a guard costs {cheapest}" if len(found) == 1 else f"a guard costs {cheapest} to {dearest}"


def slope_caption(found: Sequence[FamilySlope]) -> str:
    """What the dots and lines are."""
    counts = sorted({spread.n for line in found for spread in (line.per_guard_s, line.intercept_s)})
    n = counts_of(counts, "process", "processes")
    ranges = listed([range_words(count) for count in counts])
    return (
        f"Times: slope and intercept of a line through the checks of a family's sizes; dots: median of "
        f"{n}, of each the least of its blocks; lines: {ranges}. "
    )
