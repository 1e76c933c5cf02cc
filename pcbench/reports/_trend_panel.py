"""One panel of the trend: a benchmark and model over commits, with its steps and accepted values."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator, ScalarFormatter

from pcbench.analysis.quantities import counted, scale_of
from pcbench.analysis.records import Case
from pcbench.analysis.series import Series
from pcbench.analysis.shown import Shown
from pcbench.analysis.steps import Step
from pcbench.reports._drawing import FAINT, INK, log_axis, look, plain_axes, write_quantity

_LOG_FROM = 6.0
_NARROWEST = 0.2
_MOST_STEPS = 3
_CROWDED = 120
"""More commits than this leave no room for a mark and a bar each."""

STEP = Line2D([], [], color=FAINT, linestyle=(0, (4, 2)), linewidth=1, label="step")
ACCEPTED = Line2D([], [], color=FAINT, linestyle=(0, (1, 1.5)), linewidth=1.6, label="accepted value")


def draw_panel(
    axes: Axes, lines: Sequence[Series], names: tuple[str, ...], commits: Sequence[str], shown: Shown
) -> None:
    """A line for each strategy, bars for its quartiles; steps and accepted values where ``shown`` has them."""
    unit = lines[0].points[0][1].unit
    values = [m.value for line in lines for _, m in line.points]
    scale, symbol = scale_of(max(values, key=abs), unit)
    dense, crowded = len(commits) > 20, len(commits) > _CROWDED
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
            marker=None if crowded else marker,
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
            if crowded:
                axes.fill_between(at, *ends, color=colour, linewidth=0, alpha=0.25, zorder=2)
            else:
                axes.vlines(at, *ends, color=colour, linewidth=1 if dense else 2.2, alpha=0.5, zorder=2)
    accepted = {
        line.case: found for line in lines if (found := shown.accepted.get((line.place, line.case))) is not None
    }
    for case, value in accepted.items():
        strategy = case.param("strategy")
        colour = INK if strategy is None else look(strategy, names)[0]
        axes.axhline(value / scale, color=colour, linestyle=(0, (1, 1.5)), linewidth=1.6, zorder=1, label="accepted")
    axes.set_xlim(-0.5, len(commits) - 0.5)
    _commit_ticks(axes, commits)
    _value_axis(axes, lines, accepted.values(), scale, symbol)
    _draw_steps(axes, {line.case: shown.steps.get((line.place, line.case), ()) for line in lines}, len(commits))
    plain_axes(axes, grid="y")


def _draw_steps(axes: Axes, steps: Mapping[Case, Sequence[Step]], commits: int) -> None:
    """A vertical line at each commit where a level changed, the largest few with their size."""
    by_commit: dict[int, list[tuple[Case, Step]]] = {}
    for case, found in steps.items():
        for step in found:
            by_commit.setdefault(step.index, []).append((case, step))
    largest = sorted(by_commit, key=lambda at: -max(_size(step) for _, step in by_commit[at]))[:_MOST_STEPS]
    for at, found_here in sorted(by_commit.items()):
        axes.axvline(at - 0.5, color=FAINT, linestyle=(0, (4, 2)), linewidth=1, zorder=1, label="step")
        if at not in largest:
            continue
        case, step = max(found_here, key=lambda item: _size(item[1]))
        ratio = "from or to 0" if step.ratio is None else f"{step.ratio:.2f} times"
        who = case.param("strategy") if len(found_here) == 1 else f"{counted(len(found_here), 'case')}, up to"
        axes.annotate(
            f"{who} {ratio}" if who and len(steps) > 1 else ratio,
            (at - 0.5, 1.0),
            (3 if at < 0.6 * commits else -3, -2 - 10 * sorted(largest).index(at)),
            xycoords=("data", "axes fraction"),
            textcoords="offset points",
            ha="left" if at < 0.6 * commits else "right",
            va="top",
            fontsize=8,
            color=INK,
            zorder=5,
        ).set_bbox({"facecolor": "white", "alpha": 0.8, "edgecolor": "none", "pad": 0.5})


def _size(step: Step) -> float:
    return abs(math.log(step.ratio)) if step.ratio else math.inf


def _value_axis(axes: Axes, lines: Sequence[Series], accepted: Iterable[float], scale: float, symbol: str) -> None:
    """Logarithmic where the lines lie far apart; else wide enough that the noise of samples does not fill the panel."""
    points = [m for line in lines for _, m in line.points]
    ends = [end / scale for m in points for end in (m.value, m.low, m.high) if end is not None]
    ends += [value / scale for value in accepted]
    low, high = min(ends), max(ends)
    if low > 0 and high / low > _LOG_FROM:
        axes.set_yscale("log")
        write = write_quantity(points[0].unit)
        log_axis(axes.yaxis, low, high, lambda value: write(value * scale), most=6)
        axes.set_ylim(low / 1.4, high * 1.4)
        return
    axes.set_ylabel(symbol or "number", fontsize=9)
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
