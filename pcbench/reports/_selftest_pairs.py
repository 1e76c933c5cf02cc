"""What share of planted slow-downs each rule finds, over their size; at 0 what it calls changed of the same code."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import PercentFormatter

from pcbench.analysis.quantities import counted
from pcbench.analysis.selftest_pairs import OURS, RECORD, Group
from pcbench.analysis.selftest_pairs_store import Selftest
from pcbench.analysis.selftest_pairs_text import finding
from pcbench.reports._drawing import FAINT, INK, caption, figure, look, plain_axes, title

_APART = 0.07
_BAND = "#f2f2f2"
_WIDE: dict[str, Any] = {"color": INK, "linewidth": 2.4, "markersize": 7}
_OURS = {
    False: _WIDE | {"marker": "o", "linestyle": "-"},
    True: _WIDE | {"marker": "o", "linestyle": "--", "markerfacecolor": "white"},
}
"""Of a record's absence and of a record."""


@dataclass(frozen=True)
class _Line:
    label: str
    rule: str
    groups: Sequence[Group]
    style: dict[str, Any]


def draw(selftest: Selftest) -> Figure | None:
    """The figure; None without verdicts on checks."""
    lines = _lines(selftest)
    if not lines:
        return None
    fig = figure(9.5, 5.6)
    axes = fig.add_subplot()
    sizes = sorted({each.planted for each in selftest.checks})
    for at, line in enumerate(lines):
        _draw_line(axes, line, sizes, _APART * (at - (len(lines) - 1) / 2))
    if sizes[0] == 0:
        axes.axvspan(-0.5, 0.5, color=_BAND, zorder=0)
    axes.set_xticks(
        range(len(sizes)), [f"{size:.0%} slower" if size else "the same code:\nfalse alarms" for size in sizes]
    )
    axes.set_xlim(-0.5, len(sizes) - 0.5)
    axes.set_ylim(-0.02, 1.03)
    axes.yaxis.set_major_formatter(PercentFormatter(1.0))
    axes.set_ylabel("share of verdicts that call it slower", color=INK, fontsize=9.5)
    plain_axes(axes, grid="y")
    axes.tick_params(axis="x", length=0, colors=FAINT, labelcolor=INK)
    handles = [Line2D([], [], label=line.label, **line.style) for line in lines]
    axes.legend(
        handles=handles,
        loc="lower left",
        bbox_to_anchor=(0, 1.01),
        ncols=2,
        fontsize=9,
        frameon=False,
        labelcolor=INK,
        handlelength=4,
    )
    title(fig, finding(selftest), columns=95)
    caption(fig, _caption(selftest, lines[0].groups), columns=150)
    return fig


def _lines(selftest: Selftest) -> list[_Line]:
    """Ours first; the others by the processes of the first half that there is."""
    plain = [each for each in selftest.checks if not each.recorded]
    fine = [each for each in selftest.checks if each.recorded]
    found: list[tuple[str, str, Sequence[Group]]] = []
    if plain:
        found.append((f"pcbench ab, nothing on record: beyond {selftest.delta:.1%}", OURS, plain))
    if fine:
        found.append((f"pcbench ab, {RECORD} pairs on record: beyond {selftest.fine_delta:.0%}", OURS, fine))
    shown = plain or fine
    found += [(name, name, shown) for name in (shown[0].moved if shown else ()) if name != OURS]
    others = tuple(label for label, rule, _ in found if rule != OURS)
    return [
        _Line(label, rule, groups, _OURS[groups[0].recorded] if rule == OURS else _style(label, others))
        for label, rule, groups in found
    ]


def _style(label: str, others: tuple[str, ...]) -> dict[str, Any]:
    colour, marker, dash = look(label, others)
    return {
        "color": colour,
        "marker": marker,
        "linestyle": dash,
        "linewidth": 1.2,
        "markersize": 7,
        "markerfacecolor": "white",
    }


def _draw_line(axes: Axes, line: _Line, sizes: Sequence[float], aside: float) -> None:
    known = [each for each in line.groups if line.rule in each.moved]
    shares = [each.moved[line.rule] for each in known]
    errors = [[one.share - one.low for one in shares], [one.high - one.share for one in shares]]
    places = [sizes.index(each.planted) + aside for each in known]
    axes.errorbar(places, [one.share for one in shares], yerr=errors, capsize=2.5, elinewidth=0.9, **line.style)


def _caption(selftest: Selftest, groups: Sequence[Group]) -> str:
    numbers = sorted({each.of for each in selftest.checks})
    n = counted(numbers[0], "verdict") if len(numbers) == 1 else f"{numbers[0]} to {counted(numbers[-1], 'verdict')}"
    by_count = ", ".join(f"{each.counted:.2%}" for each in groups if each.counted is not None and each.planted)
    sizes = f"By callgrind the planted sizes are {by_count}." if by_count else "The planted sizes are nominal."
    return (
        f"n = {n} a point; bars are 95 % intervals (Clopper and Pearson). All rules saw the same processes; at left "
        f"a call in either direction counts. {sizes} Small checks, 0.3 to 150 us a call, in fresh processes with warm "
        f"file caches; {selftest.machine}."
    )
