"""The load ladder of the newest commit: time to the first output by strategy and temperature, eager beside."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from pcbench.analysis.quantities import quantity
from pcbench.analysis.recommendation import MEANING
from pcbench.analysis.records import Absence, Case, Measurement, Run
from pcbench.analysis.series import Place, newest_runs
from pcbench.analysis.shown import Shown
from pcbench.analysis.start_payback import payback_words, starts_to_pay
from pcbench.reports import Report, Table
from pcbench.reports._captions import all_ran_on, sample_counts
from pcbench.reports._drawing import INK, caption, figure, log_axis, plain_axes, title, write_quantity
from pcbench.reports._fastest import Standing, Start, standing
from pcbench.samples import EAGER, USUAL_TEMPERATURES

_LOOKS = {"cold": ("#0072B2", "s", -0.22), "warm": ("#E69F00", "D", 0.0), "hot": ("#D55E00", "o", 0.22)}
_ROW_INCHES = 0.36
_MOST_PANELS = 12


@dataclass(frozen=True)
class _Panel:
    """One benchmark and model of a place's newest run."""

    place: Place
    run: Run
    shared: Case
    measurements: dict[tuple[str, str], Measurement]
    absences: dict[tuple[str, str], Absence]

    @property
    def strategies(self) -> list[str]:
        """Eager, then by time at the coldest temperature, then those without a number."""
        names = dict.fromkeys(strategy for strategy, _ in (*self.measurements, *self.absences))
        return sorted(names, key=lambda name: (name != EAGER, self.coldest(name), name))

    def coldest(self, strategy: str) -> tuple[int, float]:
        """The rank of the coldest temperature with a number, and that number."""
        for rank, temperature in enumerate(USUAL_TEMPERATURES):
            found = self.measurements.get((strategy, temperature))
            if found is not None:
                return rank, found.value
        return len(USUAL_TEMPERATURES), 0.0

    @property
    def starts(self) -> dict[str, list[Start]]:
        """The numbers by temperature, with the range of their samples, or the quartiles where those were not kept."""
        found: dict[str, list[Start]] = {}
        for (strategy, temperature), m in self.measurements.items():
            low, high = (min(m.samples), max(m.samples)) if m.samples else (m.low, m.high)
            spread = (m.value, m.value, 1) if low is None or high is None else (low, high, m.n or 1)
            found.setdefault(temperature, []).append(Start(strategy, m.value, *spread))
        return found


def _panels(runs: Sequence[Run]) -> list[_Panel]:
    panels: dict[tuple[Place, Case], _Panel] = {}
    for run in newest_runs(runs):
        place = Place(run.machine.name, run.environment)
        outcomes: list[tuple[Case, Measurement | Absence]] = [*run.measurements.items(), *run.absences.items()]
        for case, outcome in outcomes:
            strategy, temperature = case.param("strategy"), case.param("temperature")
            if strategy is None or temperature not in _LOOKS or "load" not in case.benchmark.lower():
                continue
            shared = case.without("strategy").without("temperature")
            panel = panels.setdefault((place, shared), _Panel(place, run, shared, {}, {}))
            if isinstance(outcome, Absence):
                panel.absences[strategy, temperature] = outcome
            elif outcome.unit == "seconds":
                panel.measurements[strategy, temperature] = outcome
    return [panel for panel in panels.values() if panel.measurements]


def _draw(shown: Shown) -> Figure | None:
    found = _panels(shown.runs)
    if not found:
        return None
    panels = found[:_MOST_PANELS]
    drawn = {panel.place for panel in panels}
    heights = [0.25, *(_ROW_INCHES * len(panel.strategies) + 0.1 for panel in panels)]
    fig = figure(10, sum(heights) + 0.6 * len(panels) + 1.3)
    legend, *axes = fig.subplots(len(heights), 1, gridspec_kw={"height_ratios": heights}, squeeze=False)[:, 0]
    legend.axis("off")
    present = {temperature for panel in panels for _, temperature in panel.measurements}
    temperatures = [temperature for temperature in USUAL_TEMPERATURES if temperature in present]
    handles = [
        Line2D([], [], color=colour, marker=marker, markeredgecolor=INK, markersize=8, linewidth=2, label=temperature)
        for temperature, (colour, marker, _) in _LOOKS.items()
        if temperature in temperatures
    ]
    legend.legend(handles=handles, loc="center left", ncols=len(handles), fontsize=9.5, frameon=False, borderpad=0)
    values = [m.value for panel in panels for m in panel.measurements.values()]
    several = len({panel.place for panel in panels}) > 1
    for one, panel in zip(axes, panels, strict=True):
        _draw_panel(one, panel, min(values), max(values), several)
    axes[-1].set_xlabel("time to the first output (logarithmic)", fontsize=9.5)
    title(fig, _finding(found))
    hidden = f" {len(panels)} of {len(found)} panels are drawn; the table has all." * (len(panels) < len(found))
    newest = [run for run in newest_runs(shown.runs) if Place(run.machine.name, run.environment) in drawn]
    commits = ", ".join(dict.fromkeys(run.commit[:8] for run in newest))
    measured = [m for panel in panels for m in panel.measurements.values()]
    caption(
        fig,
        f"Commit {commits} on {all_ran_on(newest)} "
        + "; ".join(f"{temperature}: {MEANING[temperature]}" for temperature in temperatures)
        + f". Marks: {sample_counts(measured, 'process', 'processes')}; "
        f"lines: quartiles, none for a single sample.{hidden}",
    )
    return fig


def _draw_panel(axes: Axes, panel: _Panel, low: float, high: float, several: bool) -> None:
    strategies = panel.strategies
    left, right = low / 1.6, high * 1.9
    for place, strategy in enumerate(strategies):
        for temperature, (colour, marker, shift) in _LOOKS.items():
            found = panel.measurements.get((strategy, temperature))
            if found is None:
                continue
            if found.low is not None and found.high is not None:
                axes.plot([found.low, found.high], [place + shift] * 2, color=colour, linewidth=2.5, zorder=3)
            axes.plot(
                found.value,
                place + shift,
                marker,
                color=colour,
                markeredgecolor=INK,
                markersize=7,
                zorder=4,
                label=f"{strategy} {temperature}",
            )
        if not any((strategy, temperature) in panel.measurements for temperature in _LOOKS):
            axes.text(left * 1.04, place, _why(panel, strategy), va="center", fontsize=8.5, style="italic", color=INK)
    axes.set_xscale("log")
    axes.set_xlim(left, right)
    log_axis(axes.xaxis, left, right, write_quantity("seconds"))
    axes.set_ylim(len(strategies) - 0.45, -0.55)
    axes.set_yticks(range(len(strategies)), strategies)
    plain_axes(axes, grid="x")
    axes.tick_params(axis="y", length=0)
    heading = ", ".join(value for _, value in panel.shared.params) or panel.shared.benchmark
    axes.set_title(f"{heading} ({panel.place})" if several else heading, loc="left", fontsize=10.5, color=INK)


def _why(panel: _Panel, strategy: str) -> str:
    absences = [panel.absences[key] for key in panel.absences if key[0] == strategy]
    if all(absence.not_measured for absence in absences):
        return "not measured in this run"
    said = dict.fromkeys(f"{a.status}: {a.reason}" if a.reason else a.status for a in absences if not a.not_measured)
    return textwrap.shorten("; ".join(said), 110, placeholder=" ...")


def _finding(panels: Sequence[_Panel]) -> str:
    """Which strategy loads fastest at the coldest temperature that can be judged, and for how many models."""
    found = [(panel, one) for panel in panels if (one := standing(panel.starts)) is not None]
    if not found:
        return "No strategy has a load time in the newest results"
    judged = [(panel, one) for panel, one in found if one.judged]
    if len(panels) == 1:
        panel, only = found[0]
        where = f"{', '.join(v for _, v in panel.shared.params)}, {only.temperature}"
        return f"{where}: {_beside_eager(only) if only.judged else only.not_judged()}"
    several = len({panel.place for panel in panels}) > 1
    noun = f"{len(panels)} models" + (" by environment" if several else "")
    if not judged:
        return f"n=1, not judged: {noun}"
    said = [f"{one.leader()}, {one.temperature}" for _, one in judged]
    most = max(dict.fromkeys(said), key=said.count)
    rest = f"; n=1, not judged, for {len(found) - len(judged)}" if len(judged) < len(found) else ""
    return f"{most}, for {said.count(most)} of {noun}{rest}"


def _beside_eager(found: Standing) -> str:
    first, eager = found.saved[0], found.eager
    said = f"{found.leader()}, {quantity(first.median_s, 'seconds')} to the first output"
    if eager is None:
        return f"{said}; eager was not measured"
    time = quantity(eager.median_s, "seconds")
    if first.overlaps(eager):
        return f"{said}; eager {time}, a difference within the spread"
    return f"{said}, {'faster' if first.median_s < eager.median_s else 'slower'} than eager ({time})"


def _table(shown: Shown) -> Table | None:
    rows = []
    for panel in _panels(shown.runs):
        heading = ", ".join(value for _, value in panel.shared.params) or panel.shared.benchmark
        for strategy in panel.strategies:
            cells = [_cell(panel, (strategy, temperature)) for temperature in USUAL_TEMPERATURES]
            paid = payback_words(starts_to_pay(panel.run, panel.shared.param("model") or "", strategy))
            rows.append((heading, strategy, *cells, paid, str(panel.place)))
    header = ("model", "strategy", *USUAL_TEMPERATURES, "capture paid back", "environment")
    return Table(header, tuple(rows)) if rows else None


def _cell(panel: _Panel, key: tuple[str, str]) -> str:
    found = panel.measurements.get(key)
    if found is None:
        return panel.absences[key].status if key in panel.absences else "-"
    value = quantity(found.value, found.unit)
    if found.low is None or found.high is None:
        return f"{value} (n={found.n})" if found.n else value
    return f"{value} ({quantity(found.low, found.unit)} to {quantity(found.high, found.unit)}, n={found.n})"


def _said(shown: Shown) -> list[str]:
    """What the table says of break-even, and where the other one is."""
    if not _panels(shown.runs):
        return []
    return [
        "Capture paid back: seconds of the cold capture / seconds by which a cold start is shorter than eager's. The "
        "break-even over calls needs timed calls, which asv's benchmarks do not keep: pcbench compare MODEL draws it."
    ]


REPORT = Report("Load to first output, newest commit", _draw, _table, _said)
