"""Torch builds as the axis: every case with each build, as a ratio to the oldest; those that changed most on top."""

from __future__ import annotations

import itertools
import math
import textwrap
from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap, Normalize
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from pcbench.analysis.quantities import counted, digits, quantity
from pcbench.analysis.records import Case
from pcbench.analysis.releases_table import Releases, releases
from pcbench.analysis.series import Place
from pcbench.analysis.shown import Shown
from pcbench.reports import Report, Table
from pcbench.reports._captions import all_ran_on, sample_counts
from pcbench.reports._drawing import FAINT, INK, caption, figure, title
from pcbench.reports._words import case_words

_MOST_ROWS = 40
_MOST_MACHINES = 2
_ROW_INCHES = 0.27
_SAME = 0.005
"""A cell that moved less, as |ln ratio|, has no colour and no arrow: it is written as 1.00 or nearly."""
_FULL = math.log(2.0)

# Both ends are dark, so that grey shows how far; the arrow in a cell shows which way.
_COLOURS = LinearSegmentedColormap.from_list("ratio", ["#0072B2", "#ffffff", "#D55E00"])


def _draw(shown: Shown) -> Figure | None:
    groups = releases(shown.runs, shown.against)[:_MOST_MACHINES]
    if not groups:
        return None
    rows = [_grouped(group) for group in groups]
    heights = [_ROW_INCHES * (len(cases) + 2) for cases in rows]
    fig = figure(10, sum(heights) + 0.5 * len(groups) + 1.5)
    panels = fig.subplots(len(groups), 1, gridspec_kw={"height_ratios": heights}, squeeze=False)[:, 0]
    for axes, group, cases in zip(panels, groups, rows, strict=True):
        _draw_panel(axes, group, cases)
        if len(groups) > 1:
            where = next(iter(group.builds.values())).machine.name
            axes.set_title(where, loc="left", fontsize=9.5, color=INK)
    title(fig, _finding(groups[0], shown.policy.stored_delta), columns=92)
    runs = list(groups[0].builds.values())
    measured = [m for case in rows[0] for build in groups[0].builds if (m := groups[0].measured(case, build))]
    hidden = (
        f"{len(rows[0])} of {len(groups[0].rows)} cases are drawn, those that changed most; the table has all. "
        * (len(rows[0]) < len(groups[0].rows))
    )
    caption(
        fig,
        f"Ratios to torch {_short(groups[0].against)}; its own column has the numbers. Up and orange: more; down and "
        f"blue: less; the darker the further, full at a factor of 2. Hatched: no number. Each: "
        f"{sample_counts(measured)}; the spread is in the table. {hidden}{_commits(groups[0])} "
        f"{all_ran_on(runs)}",
        columns=150,
    )
    return fig


def _grouped(group: Releases) -> list[Case]:
    """The cases that changed most, together by benchmark and model."""
    first = group.rows[:_MOST_ROWS]
    order = list(dict.fromkeys((case.benchmark, case.param("model")) for case in first))
    return sorted(first, key=lambda case: order.index((case.benchmark, case.param("model"))))


def _draw_panel(axes: Axes, group: Releases, cases: Sequence[Case]) -> None:
    colour = Normalize(-_FULL, _FULL, clip=True)
    for row, case in enumerate(cases):
        for column, build in enumerate(group.builds):
            ratio, text = group.ratio(case, build), _cell(group, case, build)
            absent = group.measured(case, build) is None
            moved = math.log(ratio) if ratio else 0.0
            face = _COLOURS(colour(moved)) if abs(moved) >= _SAME else (1.0, 1.0, 1.0, 1.0)
            axes.add_patch(
                Rectangle(
                    (column - 0.5, row - 0.5),
                    1,
                    1,
                    facecolor=face,
                    edgecolor="#bbbbbb",
                    linewidth=0.6,
                    hatch="////" if absent else None,
                )
            )
            dark = 0.3 * face[0] + 0.59 * face[1] + 0.11 * face[2] < 0.55
            box = {"facecolor": "white", "edgecolor": "none", "pad": 1.2} if absent else None
            axes.text(
                column,
                row,
                text,
                ha="center",
                va="center",
                fontsize=8.5,
                color="white" if dark and not absent else INK,
                bbox=box,
            )
    axes.set_xlim(-0.5, len(group.builds) - 0.5)
    axes.set_ylim(len(cases) - 0.5, -0.5)
    axes.set_xticks(
        range(len(group.builds)),
        [f"torch\n{_short(build)}".replace(".dev", "\ndev") for build in group.builds],
        fontsize=9,
    )
    labels = [textwrap.shorten(case_words(case), 68, placeholder=" ...") for case in cases]
    axes.set_yticks(range(len(cases)), labels, fontsize=8.5)
    axes.xaxis.tick_top()
    axes.tick_params(length=0, labelcolor=INK)
    axes.spines[:].set_color(FAINT)
    for row, (one, other) in enumerate(itertools.pairwise(cases)):
        if (one.benchmark, one.param("model")) != (other.benchmark, other.param("model")):
            axes.axhline(row + 0.5, color=INK, linewidth=1)


def _cell(group: Releases, case: Case, build: str) -> str:
    """The number in the column that is compared with, else the ratio; why there is none, where there is none."""
    measured = group.measured(case, build)
    if measured is None:
        return "n/a"
    if build == group.against:
        return quantity(measured.value, measured.unit) if measured.unit else digits(measured.value)
    ratio = group.ratio(case, build)
    if ratio is None:
        return quantity(measured.value, measured.unit) if measured.unit else digits(measured.value)
    if abs(math.log(ratio)) < _SAME:
        return f"{ratio:.2f}"
    return f"{'▲' if ratio > 1 else '▼'} {ratio:.2f}"


def _short(torch: str) -> str:
    return torch.split("+")[0]


def _commits(group: Releases) -> str:
    commits = {run.commit[:8] for run in group.builds.values()}
    if len(commits) == 1:
        return f"Commit {commits.pop()}."
    named = ", ".join(f"{_short(build)} at {run.commit[:8]}" for build, run in group.builds.items())
    return f"Not one commit: {named}."


def _finding(group: Releases, delta: float) -> str:
    """The newest build beside the one that is compared with: how many cases moved, and which most."""
    *_, newest = (build for build in group.builds if build != group.against)
    ratios = {case: ratio for case in group.rows if (ratio := group.ratio(case, newest))}
    beside = f"torch {_short(newest)} beside {_short(group.against)}"
    if not ratios:
        return f"{beside}: no case has a number with both"
    more, less = (sum(r > 1 + delta for r in ratios.values()), sum(r < 1 / (1 + delta) for r in ratios.values()))
    most = max(ratios, key=lambda case: abs(math.log(ratios[case])))
    return (
        f"{beside}: of {counted(len(ratios), 'case')} {more} took over {delta:.0%} more, {less} less; "
        f"furthest: {case_words(most)}, {ratios[most]:.2f} times; not a verdict"
    )


def _table(shown: Shown) -> Table | None:
    groups = releases(shown.runs, shown.against)
    if not groups:
        return None
    builds = tuple(dict.fromkeys(build for group in groups for build in group.builds))
    rows = []
    for group in groups:
        place = str(Place(group.builds[group.against].machine.name, "torch as the columns say"))
        for case in group.rows:
            cells = [_spread_cell(group, case, build) if build in group.builds else "-" for build in builds]
            rows.append((str(case), *cells, place))
    return Table(("case", *(f"torch {_short(build)}" for build in builds), "environment"), tuple(rows))


def _spread_cell(group: Releases, case: Case, build: str) -> str:
    """``1.20 s (1.18 s to 1.22 s, n=5), 1.03``: the number, its quartiles, its ratio; or why there is none."""
    measured = group.measured(case, build)
    if measured is None:
        absence = group.absence(case, build)
        if absence is None:
            return "n/a"
        return f"{absence.status}: {absence.reason}" if absence.reason else absence.status
    said = quantity(measured.value, measured.unit) if measured.unit else digits(measured.value)
    if measured.low is not None and measured.high is not None:
        low, high = quantity(measured.low, measured.unit), quantity(measured.high, measured.unit)
        said += f" ({low} to {high}, n={measured.n})"
    ratio = group.ratio(case, build)
    return said if ratio is None or build == group.against else f"{said}, {ratio:.2f} times"


REPORT = Report("Torch builds side by side", _draw, _table)
