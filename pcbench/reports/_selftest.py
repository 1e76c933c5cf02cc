"""The figure of a selftest of rules for long series: what they catch beside how often they cry wolf."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from pcbench.analysis.selftest_history import RuleResult
from pcbench.reports._drawing import FAINT, INK, caption, figure, plain_axes, title

SIZE = 0.05
GOALS = {"base": (0.5, 0.7), "real": (1.5, 0.9)}
"""Scenario to the most false alarms per 1,000 nights and the least share of steps of 5 % caught within 5 nights."""

_HEADINGS = {"base": "Synthetic: t(4) noise and outliers", "real": "Real: published timings"}
_FAMILIES = ("pcbench", "asv", "z-score", "rustc-perf")
_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7")
_MARKERS = ("o", "s", "D", "^", "v", "P", "X", "*")
_LEAST = 0.05
"""False alarms are drawn on a logarithmic axis; fewer than this stand at its left end."""


def draw(results: Sequence[RuleResult], seed: int) -> Figure:
    """A panel per scenario, a mark per rule; results of at least one of the scenarios in ``GOALS``."""
    scenarios = [scenario for scenario in GOALS if any(one.scenario == scenario for one in results)]
    names = tuple(dict.fromkeys(one.rule for one in results))
    fig = figure(10, 5.6)
    grid = fig.add_gridspec(2, len(scenarios), height_ratios=[4, 1])
    panels = [fig.add_subplot(grid[0, place]) for place in range(len(scenarios))]
    for axes, scenario in zip(panels, scenarios, strict=True):
        _panel(axes, [one for one in results if one.scenario == scenario], names, scenario)
    panels[0].set_ylabel(f"share of {SIZE:.0%} steps caught within 5 nights", fontsize=9.5)
    key = fig.add_subplot(grid[1, :])
    key.axis("off")
    handles, labels = panels[0].get_legend_handles_labels()
    key.legend(handles, labels, loc="upper left", ncols=3, fontsize=9, frameon=False, borderpad=0)
    title(fig, _finding(results))
    series = results[0].of(SIZE).series
    caption(
        fig,
        "Up and to the left is better; the shaded corner is the goal. 100 nights per series, judged each night from "
        f"the 22nd; a step at night 40 to 69; {series} series per step, bars: one standard error; fewer false alarms "
        f"than {_LEAST} per 1,000 nights are drawn at {_LEAST}. Seed {seed}.",
    )
    return fig


def _panel(axes: Axes, results: Sequence[RuleResult], names: tuple[str, ...], scenario: str) -> None:
    most, least = GOALS[scenario]
    axes.add_patch(Rectangle((_LEAST / 2, least), most - _LEAST / 2, 1.05 - least, color="#e8e8e8", zorder=0))
    for one in results:
        colour, marker = _look(one.rule, names)
        caught, alarms = one.of(SIZE).soon, one.false_alarms
        x = max(alarms.value, _LEAST)
        axes.errorbar(
            x,
            caught.value,
            xerr=[[min(alarms.error, x - _LEAST)], [alarms.error]],
            yerr=caught.error,
            color=colour,
            marker=marker,
            # A ring, through which the rule that it is made of can be seen.
            markersize=15 if one.rule == names[0] else 7,
            markerfacecolor="none" if one.rule == names[0] else colour,
            markeredgewidth=1.8 if one.rule == names[0] else 1,
            linestyle="none",
            elinewidth=1,
            label=one.rule,
            zorder=4 if one.rule == names[0] else 3,
        )
    axes.set_xscale("log")
    axes.set_xlim(_LEAST / 2, 60)
    axes.set_ylim(-0.03, 1.05)
    axes.set_xticks([0.05, 0.1, 0.5, 1, 5, 10, 50], ["0.05", "0.1", "0.5", "1", "5", "10", "50"])
    axes.minorticks_off()
    axes.set_xlabel("false alarms per 1,000 nights", fontsize=9.5)
    axes.set_title(_HEADINGS[scenario], loc="left", fontsize=10, color=INK)
    axes.annotate("goal", (_LEAST / 2 * 1.15, 1.0), fontsize=8.5, color=FAINT, va="center")
    plain_axes(axes, grid="y")


def _look(rule: str, names: tuple[str, ...]) -> tuple[str, str]:
    """A colour for whose rule it is, and a marker of its own, which tells them apart in grey."""
    family = next(place for place, word in enumerate(_FAMILIES) if rule.startswith(word))
    return _COLOURS[family], _MARKERS[names.index(rule) % len(_MARKERS)]


def _finding(results: Sequence[RuleResult]) -> str:
    told = []
    for scenario, word in (("base", "synthetic"), ("real", "real")):
        own = next((one for one in results if one.scenario == scenario), None)
        if own is not None:
            share = own.of(SIZE).soon.value
            told.append(f"{share:.0%} on {word} series ({own.false_alarms.value:.2f} false alarms per 1,000 nights)")
    return f"Steps of {SIZE:.0%} that pcbench's alert catches within 5 nights: {', '.join(told)}"
