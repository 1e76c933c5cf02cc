"""Every case over commits, with spread, steps and accepted values: a panel a benchmark and model, a line a strategy."""

from __future__ import annotations

import math
from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from pcbench.analysis.policy import Policy
from pcbench.analysis.quantities import counted, quantity
from pcbench.analysis.records import Case
from pcbench.analysis.series import Place, Series, lost
from pcbench.analysis.shown import Shown
from pcbench.analysis.steps import Step
from pcbench.reports import Report, Table
from pcbench.reports._captions import all_ran_on, sample_counts
from pcbench.reports._drawing import INK, caption, figure, look, title
from pcbench.reports._trend_panel import ACCEPTED, STEP, draw_panel
from pcbench.reports._words import case_words
from pcbench.samples import EAGER

_COLUMNS = 2
_MOST_PANELS = 16
_PANEL_INCHES = 2.3
_RECENT = 30
"""The title counts the steps among so many of the newest commits, and says so."""
_STILL = 0.005
"""A ratio that rounds to 1.00: the title then names no case."""

_Panels = dict[tuple[Place, Case], list[Series]]


def _panels(shown: Shown) -> _Panels:
    """Series that differ in the strategy alone, together; those that moved most at the newest commits first.

    Counts that never changed and places with one commit come last: there are many, and they show nothing.
    """
    found: _Panels = {}
    for one in shown.series:
        found.setdefault((one.place, one.case.without("strategy")), []).append(one)
    return dict(
        sorted(
            found.items(),
            key=lambda item: (
                len(shown.places[item[0][0]]) < 2,
                -_moved(item[1], shown),
                _still(item[1]),
                str(item[0][1]),
                str(item[0][0]),
            ),
        )
    )


def _is_recent(step: Step, series: Series) -> bool:
    return step.index >= series.commits - _RECENT


def _still(series: Sequence[Series]) -> bool:
    """Whether they are plain numbers, without samples, that are the same at every commit."""
    return all(m.n is None and m.value == one.points[0][1].value for one in series for _, m in one.points)


def _moved(series: Sequence[Series], shown: Shown) -> float:
    """The largest change at the newest commit, or step among the newest commits."""
    steps = [
        abs(math.log(step.ratio))
        for one in series
        for step in shown.steps.get((one.place, one.case), ())
        if step.ratio and _is_recent(step, one)
    ]
    return max([*map(_change, series), *steps], default=0.0)


def _change(one: Series) -> float:
    return abs(math.log(one.latest_ratio)) if one.latest_ratio else 0.0


def _draw(shown: Shown) -> Figure | None:
    series = shown.series
    panels = _panels(shown)
    if not panels:
        return None
    first = list(panels.items())[:_MOST_PANELS]
    rows = math.ceil(len(first) / _COLUMNS)
    names = tuple(sorted({s for one in series if (s := one.case.param("strategy"))}))
    marks = ((STEP, any(shown.steps.values())), (ACCEPTED, bool(shown.accepted)))
    key_inches = 0.25 * math.ceil((len(names) + sum(held for _, held in marks)) / 4)
    fig = figure(10, key_inches + rows * (_PANEL_INCHES + 0.45) + 1.4)
    grid = fig.add_gridspec(rows + 1, _COLUMNS, height_ratios=[key_inches or 0.01, *[_PANEL_INCHES] * rows])
    _draw_key(fig.add_subplot(grid[0, :]), names, [line for line, held in marks if held])
    several = len({place for place, _ in panels}) > 1
    for number, ((place, shared), lines) in enumerate(first):
        axes = fig.add_subplot(grid[1 + number // _COLUMNS, number % _COLUMNS])
        draw_panel(axes, lines, names, [run.commit[:8] for run in shown.places[place]], shown)
        heading = case_words(shared)
        axes.set_title(f"{heading}\n{place}" if several else heading, loc="left", fontsize=9.5, color=INK)
    title(fig, _finding(shown))
    most = shown.policy.report_nights
    sought = (
        f" Steps are sought among the newest {most} commits of a stretch."
        if any(len(ordered) > most for ordered in shown.places.values())
        else ""
    )
    hidden = f" {len(first)} of {len(panels)} panels are drawn, those that moved most; the table of cases has all." * (
        len(panels) > len(first)
    )
    drawn = {place for (place, _), _ in first}
    ran = [run for run in shown.runs if run.measurements and Place(run.machine.name, run.environment) in drawn]
    measured = [m for _, lines in first for one in lines for _, m in one.points]
    caption(
        fig,
        f"Commits by date, oldest left. Marks: {sample_counts(measured)}; bars or bands: quartiles, none for a single "
        f"sample or a plain number.{sought}{hidden} {all_ran_on(ran)}",
    )
    return fig


def _draw_key(axes: Axes, names: tuple[str, ...], marks: Sequence[Line2D]) -> None:
    axes.axis("off")
    handles: list[Line2D] = []
    for name in names:
        colour, marker, dash = look(name, names)
        handles.append(Line2D([], [], color=colour, marker=marker, linestyle=dash, markersize=6, label=name))
    handles += marks
    if handles:
        key = axes.legend(handles=handles, loc="center left", ncols=4, fontsize=9, frameon=False, borderpad=0)
        key.set_in_layout(False)


def _finding(shown: Shown) -> str:
    """The largest change at the newest commit beside eager's in the same comparison; says nothing of its cause."""
    series = shown.series
    if max(len(ordered) for ordered in shown.places.values()) < 2:
        return f"{counted(len(series), 'case')} at one commit: no trend yet"
    gone = len(lost(shown.runs))
    tail = f"; {counted(gone, 'case')} lost (failed or n/a now, measured before)" if gone else ""
    steps = sum(_is_recent(step, one) for one in series for step in shown.steps.get((one.place, one.case), ()))
    tail += f"; {counted(steps, 'step')} among the newest {_RECENT} commits" if steps else ""
    moved = [one for one in series if one.latest_ratio]
    if not moved:
        return f"No case was measured at both the newest commit and the one before{tail}"
    eager = {(one.place, one.case.without("strategy")): one for one in moved if one.case.param("strategy") == EAGER}
    saved = [one for one in moved if one.case.param("strategy") != EAGER]
    most = max(saved or moved, key=_change)
    ratio, after = most.latest_ratio or math.nan, ""
    if abs(ratio - 1) < _STILL:
        return f"No case changed by as much as 1 % at the newest commit; not a verdict{tail}"
    notes = ["n=1"] if any(m.n == 1 for _, m in most.points[-2:]) else []
    base = eager.get((most.place, most.case.without("strategy")))
    if base is not None and base is not most:
        base_ratio = base.latest_ratio or math.nan
        if _moved_as_much(ratio, base_ratio, shown.policy):
            after = f"; eager moved as much ({base_ratio:.2f} times): the machine changed"
        else:
            notes.append(f"eager: {base_ratio:.2f} times")
    noted = f" ({', '.join(notes)})" if notes else ""
    words = case_words(most.case)
    return f"Largest change at the newest commit: {words} {ratio:.2f} times{noted}{after}; not a verdict{tail}"


def _moved_as_much(ratio: float, eager: float, policy: Policy) -> bool:
    share = math.log(eager) / math.log(ratio) if ratio != 1 else 0.0
    return abs(math.log(eager)) >= math.log1p(policy.eager_moved) and share >= policy.eager_share


def _table(shown: Shown) -> Table | None:
    """The steps, newest first; the newest numbers of all cases are in the page's own table."""
    header = ("case", "step at", "committed", "before", "after", "after / before", "environment")
    rows = []
    for one in shown.series:
        for step in shown.steps.get((one.place, one.case), ()):
            run, unit = shown.places[one.place][step.index], one.points[-1][1].unit
            ratio = "-" if step.ratio is None else f"{step.ratio:.3f}"
            values = quantity(step.before, unit), quantity(step.after, unit), ratio
            rows.append((run.date, (str(one.case), run.commit[:8], f"{run.date:%Y-%m-%d}", *values, str(one.place))))
    rows.sort(key=lambda item: item[0], reverse=True)
    return Table(header, tuple(row for _, row in rows)) if rows else None


REPORT = Report("Trend over commits", _draw, _table)
