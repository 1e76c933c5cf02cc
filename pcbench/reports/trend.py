"""Every case over commits, with its spread: a panel for each benchmark and model, a line for each strategy."""

from __future__ import annotations

import math
from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator, ScalarFormatter

from pcbench.analysis.quantities import counted, quantity, scale_of
from pcbench.analysis.records import Case, Run
from pcbench.analysis.series import Place, Series, all_series, by_place, lost
from pcbench.reports import Report, Table
from pcbench.reports._captions import all_ran_on, sample_counts
from pcbench.reports._drawing import INK, caption, figure, log_axis, look, plain_axes, title, write_quantity
from pcbench.reports._words import case_words
from pcbench.samples import EAGER

_COLUMNS = 2
_MOST_PANELS = 24
_PANEL_INCHES = 2.3
_LOG_FROM = 6.0
_NARROWEST = 0.2

_AS_MUCH = 0.75
"""Share of a case's change, on a logarithmic scale, from which on eager is said to have moved as much."""

_VISIBLE = 1.05
"""A smaller ratio of eager is not worth a word about the machine."""

_Panels = dict[tuple[Place, Case], list[Series]]


def _panels(series: Sequence[Series]) -> _Panels:
    """Series that differ in the strategy alone, together; those that moved most at the newest commit first.

    Counts that never changed come last: there are many, and a line that is flat shows nothing.
    """
    found: _Panels = {}
    for one in sorted(series, key=lambda one: str(one.case)):
        found.setdefault((one.place, one.case.without("strategy")), []).append(one)
    return dict(
        sorted(found.items(), key=lambda item: (-_moved(item[1]), _still(item[1]), str(item[0][1]), str(item[0][0])))
    )


def _still(series: Sequence[Series]) -> bool:
    """Whether they are plain numbers, without samples, that are the same at every commit."""
    return all(m.n is None and m.value == one.points[0][1].value for one in series for _, m in one.points)


def _moved(series: Sequence[Series]) -> float:
    return max(map(_change, series), default=0.0)


def _change(one: Series) -> float:
    return abs(math.log(one.latest_ratio)) if one.latest_ratio else 0.0


def _draw(runs: Sequence[Run]) -> Figure | None:
    series = all_series(runs)
    panels = _panels(series)
    if not panels:
        return None
    shown = list(panels.items())[:_MOST_PANELS]
    rows = math.ceil(len(shown) / _COLUMNS)
    names = tuple(sorted({s for one in series if (s := one.case.param("strategy"))}))
    key_inches = 0.25 * math.ceil(len(names) / 4)
    fig = figure(10, key_inches + rows * (_PANEL_INCHES + 0.45) + 1.4)
    grid = fig.add_gridspec(rows + 1, _COLUMNS, height_ratios=[key_inches or 0.01, *[_PANEL_INCHES] * rows])
    _draw_key(fig.add_subplot(grid[0, :]), names)
    places = by_place(runs)
    several = len({place for place, _ in panels}) > 1
    for number, ((place, shared), lines) in enumerate(shown):
        axes = fig.add_subplot(grid[1 + number // _COLUMNS, number % _COLUMNS])
        _draw_panel(axes, lines, names, [run.commit[:8] for run in places[place]])
        heading = case_words(shared)
        axes.set_title(f"{heading}\n{place}" if several else heading, loc="left", fontsize=9.5, color=INK)
    title(fig, _finding(series, runs))
    hidden = f" {len(shown)} of {len(panels)} panels are drawn, those that moved most; the table has all." * (
        len(panels) > len(shown)
    )
    measured = [m for one in series for _, m in one.points]
    caption(
        fig,
        f"Commits by date, oldest left. Marks: {sample_counts(measured)}; bars: quartiles, none for a single "
        f"sample or a plain number.{hidden} {all_ran_on([run for run in runs if run.measurements])}",
    )
    return fig


def _draw_key(axes: Axes, names: tuple[str, ...]) -> None:
    axes.axis("off")
    handles = []
    for name in names:
        colour, marker, dash = look(name, names)
        handles.append(Line2D([], [], color=colour, marker=marker, linestyle=dash, markersize=6, label=name))
    if handles:
        key = axes.legend(handles=handles, loc="center left", ncols=4, fontsize=9, frameon=False, borderpad=0)
        key.set_in_layout(False)


def _draw_panel(axes: Axes, lines: Sequence[Series], names: tuple[str, ...], commits: Sequence[str]) -> None:
    unit = lines[0].points[0][1].unit
    values = [m.value for line in lines for _, m in line.points]
    scale, symbol = scale_of(max(values, key=abs), unit)
    dense = len(commits) > 20
    # With few commits there is room to keep strategies from hiding each other; with many their lines do.
    apart = min(0.12, 0.7 / len(lines)) if len(commits) <= 5 else 0.0
    for place, line in enumerate(lines):
        shift = (place - (len(lines) - 1) / 2) * apart
        strategy = line.case.param("strategy")
        colour, marker, dash = (INK, "o", "-") if strategy is None else look(strategy, names)
        xs = [index + shift for index, _ in line.points]
        ys = [m.value / scale for _, m in line.points]
        axes.plot(
            xs,
            ys,
            color=colour,
            linestyle=dash,
            marker=marker,
            markersize=3 if dense else 6,
            linewidth=1.2,
            zorder=3,
            label=strategy or str(line.case),
        )
        measured = [(x, m.low, m.high) for x, (_, m) in zip(xs, line.points, strict=True)]
        bars = [(x, low, high) for x, low, high in measured if low is not None and high is not None]
        if bars:
            at, lows, highs = zip(*bars, strict=True)
            ends = [low / scale for low in lows], [high / scale for high in highs]
            axes.vlines(at, *ends, color=colour, linewidth=1 if dense else 2.2, alpha=0.5, zorder=2)
    axes.set_xlim(-0.5, len(commits) - 0.5)
    _commit_ticks(axes, commits)
    _value_axis(axes, lines, scale, symbol)
    plain_axes(axes, grid="y")


def _value_axis(axes: Axes, lines: Sequence[Series], scale: float, symbol: str) -> None:
    """Logarithmic where the lines lie far apart; else wide enough that the noise of samples does not fill the panel."""
    points = [m for line in lines for _, m in line.points]
    ends = [end / scale for m in points for end in (m.value, m.low, m.high) if end is not None]
    low, high = min(ends), max(ends)
    if low > 0 and high / low > _LOG_FROM:
        axes.set_yscale("log")
        write = write_quantity(points[0].unit)
        log_axis(axes.yaxis, low, high, lambda value: write(value * scale), most=6)
        axes.set_ylim(low / 1.4, high * 1.4)
        return
    axes.set_ylabel(symbol, fontsize=9)
    narrowest = 0.0 if all(m.n is None for m in points) else _NARROWEST * abs(high)
    room = max((high - low) * 0.15, (narrowest - (high - low)) / 2) or abs(high) * 0.05 or 1.0
    axes.set_ylim(low - room, high + room)
    axes.yaxis.set_major_locator(MaxNLocator(5))
    axes.yaxis.set_major_formatter(ScalarFormatter(useOffset=False))


def _commit_ticks(axes: Axes, commits: Sequence[str]) -> None:
    """At most five commits are named: the newest, and others evenly before it."""
    step = max(1, math.ceil(len(commits) / 5))
    places = list(range(len(commits) - 1, -1, -step))
    axes.set_xticks(places, [commits[place] for place in places])


def _finding(series: Sequence[Series], runs: Sequence[Run]) -> str:
    """The largest change at the newest commit beside eager's in the same comparison; says nothing of its cause."""
    if max(len(ordered) for ordered in by_place(runs).values()) < 2:
        return f"{counted(len(series), 'case')} at one commit: no trend yet"
    gone = len(lost(runs))
    tail = f"; {counted(gone, 'case')} lost (failed or n/a now, measured before)" if gone else ""
    moved = [one for one in series if one.latest_ratio]
    if not moved:
        return f"No case was measured at both the newest commit and the one before{tail}"
    eager = {(one.place, one.case.without("strategy")): one for one in moved if one.case.param("strategy") == EAGER}
    saved = [one for one in moved if one.case.param("strategy") != EAGER]
    most = max(saved or moved, key=_change)
    ratio, after = most.latest_ratio or math.nan, ""
    if abs(ratio - 1) < 0.005:
        return f"No case changed by as much as 1 % at the newest commit; not a verdict{tail}"
    notes = ["n=1"] if any(m.n == 1 for _, m in most.points[-2:]) else []
    base = eager.get((most.place, most.case.without("strategy")))
    if base is not None and base is not most:
        base_ratio = base.latest_ratio or math.nan
        if _moved_as_much(ratio, base_ratio):
            after = f"; eager moved as much ({base_ratio:.2f} times): the machine changed"
        else:
            notes.append(f"eager: {base_ratio:.2f} times")
    noted = f" ({', '.join(notes)})" if notes else ""
    words = case_words(most.case)
    return f"Largest change at the newest commit: {words} {ratio:.2f} times{noted}{after}; not a verdict{tail}"


def _moved_as_much(ratio: float, eager: float) -> bool:
    share = math.log(eager) / math.log(ratio) if ratio != 1 else 0.0
    return abs(math.log(eager)) >= math.log(_VISIBLE) and share >= _AS_MUCH


def _table(runs: Sequence[Run]) -> Table | None:
    header = ("case", "commits", "newest", "quartiles", "n", "newest / before", "environment")
    rows = tuple(_row(one) for one in sorted(all_series(runs), key=lambda one: (str(one.case), str(one.place))))
    return Table(header, rows) if rows else None


def _row(one: Series) -> tuple[str, ...]:
    newest, value, quartiles, n = one.newest, "-", "-", "-"
    if newest is not None:
        value = quantity(newest.value, newest.unit)
        n = "-" if newest.n is None else f"{newest.n}"
        if newest.low is not None and newest.high is not None:
            quartiles = f"{quantity(newest.low, newest.unit)} to {quantity(newest.high, newest.unit)}"
    ratio = "-" if one.latest_ratio is None else f"{one.latest_ratio:.2f}"
    return str(one.case), f"{len(one.points)}", value, quartiles, n, ratio, str(one.place)


REPORT = Report("Trend over commits", _draw, _table)
