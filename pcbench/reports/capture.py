"""Where the seconds of a capture go at the newest commit: by phase, strategy and temperature; counts in the table."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass, field

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from pcbench.analysis.capture_table import OTHER_IS, PHASE_LABELS
from pcbench.analysis.quantities import counted, digits, quantity, seconds
from pcbench.analysis.records import Absence, Case, Measurement, Run
from pcbench.analysis.series import Place, newest_runs
from pcbench.analysis.shown import Shown
from pcbench.reports import Report, Table
from pcbench.reports._captions import all_ran_on, sample_counts
from pcbench.reports._drawing import INK, caption, figure, plain_axes, title
from pcbench.samples import CAPTURE_COUNTS

_LOOKS = {
    "dynamo_s": ("#0072B2", ""),
    "aot_autograd_s": ("#56B4E9", "///"),
    "inductor_s": ("#009E73", "..."),
    "compile_s": ("#D55E00", ""),
    "serialise_s": ("#CC79A7", "xxx"),
    "other_s": ("#cccccc", ""),
}
_BAR_INCHES = 0.3
_MOST_PANELS = 12


@dataclass
class _Bar:
    """One strategy at one temperature."""

    strategy: str
    temperature: str
    phases: dict[str, Measurement] = field(default_factory=dict)
    counts: dict[str, Measurement] = field(default_factory=dict)
    absences: dict[str, Absence] = field(default_factory=dict)

    @property
    def total_s(self) -> float:
        """Seconds of the phases that are known."""
        return sum(measured.value for measured in self.phases.values())


_Panels = dict[tuple[Place, str], dict[tuple[str, str], _Bar]]


def _panels(runs: Sequence[Run]) -> _Panels:
    """Bars by place and model: slowest strategy first, cold before warm; models without any phase are left out."""
    panels: _Panels = {}
    for run in newest_runs(runs):
        place = Place(run.machine.name, run.environment)
        outcomes: list[tuple[Case, Measurement | Absence]] = [*run.measurements.items(), *run.absences.items()]
        for case, outcome in outcomes:
            model, strategy, temperature = (case.param(name) for name in ("model", "strategy", "temperature"))
            phase, count = case.param("phase"), case.param("count")
            if model is None or strategy is None or temperature is None or (phase is None and count is None):
                continue
            bars = panels.setdefault((place, model), {})
            bar = bars.setdefault((strategy, temperature), _Bar(strategy, temperature))
            if isinstance(outcome, Absence):
                bar.absences[phase or count or ""] = outcome
            elif phase in _LOOKS and outcome.unit == "seconds":
                bar.phases[phase] = outcome
            elif count is not None:
                bar.counts[count] = outcome
    return {where: _ordered(bars) for where, bars in panels.items() if any(bar.phases for bar in bars.values())}


def _ordered(bars: dict[tuple[str, str], _Bar]) -> dict[tuple[str, str], _Bar]:
    slowest: dict[str, float] = {}
    for bar in bars.values():
        slowest[bar.strategy] = max(slowest.get(bar.strategy, 0.0), bar.total_s)
    return dict(sorted(bars.items(), key=lambda item: (-slowest[item[0][0]], item[0])))


def _draw(shown: Shown) -> Figure | None:
    found = _panels(shown.runs)
    if not found:
        return None
    panels = dict(list(found.items())[:_MOST_PANELS])
    drawn = {place for place, _ in panels}
    heights = [0.3, *(_BAR_INCHES * len(bars) + 0.1 for bars in panels.values())]
    fig = figure(10, sum(heights) + 0.6 * len(panels) + 1.4)
    legend, *axes = fig.subplots(len(heights), 1, gridspec_kw={"height_ratios": heights}, squeeze=False)[:, 0]
    legend.axis("off")
    handles = [
        Patch(facecolor=colour, hatch=hatch, edgecolor="white", label=PHASE_LABELS[phase])
        for phase, (colour, hatch) in _LOOKS.items()
    ]
    legend.legend(handles=handles, loc="center left", ncols=len(handles), fontsize=9.5, frameon=False, borderpad=0)
    several = len({place for place, _ in panels}) > 1
    for one, ((place, model), bars) in zip(axes, panels.items(), strict=True):
        _draw_panel(one, list(bars.values()))
        one.set_title(f"{model} ({place})" if several else model, loc="left", fontsize=10.5, color=INK)
    axes[-1].set_xlabel("seconds of capture and save", fontsize=9.5)
    title(fig, _finding(found))
    newest = [run for run in newest_runs(shown.runs) if Place(run.machine.name, run.environment) in drawn]
    hidden = f"{len(panels)} of {len(found)} panels are drawn; the table has all. " * (len(panels) < len(found))
    measured = [m for bars in panels.values() for bar in bars.values() for m in bar.phases.values()]
    caption(
        fig,
        f"Commit {', '.join(dict.fromkeys(run.commit[:8] for run in newest))} on {all_ran_on(newest)} Cold: from empty "
        f"compiler caches; warm: from those that a capture left. {_first_upper(OTHER_IS)}. "
        f"Each part: {sample_counts(measured, 'capture', 'captures')}. {hidden}",
        columns=150,
    )
    return fig


def _draw_panel(axes: Axes, bars: Sequence[_Bar]) -> None:
    longest = max(bar.total_s for bar in bars)
    for place, bar in enumerate(bars):
        left = 0.0
        for phase, (colour, hatch) in _LOOKS.items():
            measured = bar.phases.get(phase)
            if measured is not None:
                axes.barh(place, measured.value, left=left, color=colour, hatch=hatch, edgecolor="white", height=0.75)
                left += measured.value
        axes.text(left + longest * 0.008, place, _beside(bar), va="center", fontsize=8.5, color=INK)
    axes.set_xlim(0, longest * 1.18)
    axes.set_ylim(len(bars) - 0.45, -0.55)
    axes.set_yticks(range(len(bars)), [f"{bar.strategy}, {bar.temperature}" for bar in bars])
    plain_axes(axes, grid="x")
    axes.tick_params(axis="y", length=0)


def _beside(bar: _Bar) -> str:
    """The sum, and which phases are not in it; or why there are none."""
    unknown = [PHASE_LABELS[phase] for phase in _LOOKS if phase in bar.absences]
    if not bar.phases:
        said = dict.fromkeys(f"{a.status}: {a.reason}" if a.reason else a.status for a in bar.absences.values())
        return textwrap.shorten("; ".join(said), 110, placeholder=" ...")
    return seconds(bar.total_s) + (f", without {', '.join(unknown)}: unknown" if unknown else "")


def _finding(panels: _Panels) -> str:
    """Which phase is the longest of most captures, coldest temperature first."""
    for temperature in ("cold", "warm"):
        bars = [bar for found in panels.values() for bar in found.values() if bar.temperature == temperature]
        longest = [max(bar.phases.items(), key=lambda item: item[1].value)[0] for bar in bars if bar.phases]
        if longest:
            most = max(dict.fromkeys(longest), key=longest.count)
            of = counted(len(longest), f"{temperature} capture")
            return f"{_first_upper(PHASE_LABELS[most])}: the longest phase of {longest.count(most)} of {of}"
    return "No capture is split into phases in the newest results"


def _first_upper(words: str) -> str:
    return words[0].upper() + words[1:]


def _table(shown: Shown) -> Table | None:
    rows = []
    panels = _panels(shown.runs)
    for (place, model), bars in panels.items():
        for bar in bars.values():
            cells = [_cell(bar, bar.phases, phase) for phase in _LOOKS]
            counts = [_cell(bar, bar.counts, count) for count in CAPTURE_COUNTS]
            rows.append((model, bar.strategy, bar.temperature, *cells, *counts, str(place)))
    header = ("model", "strategy", "capture", *PHASE_LABELS.values(), *CAPTURE_COUNTS, "environment")
    return Table(header, tuple(rows)) if rows else None


def _cell(bar: _Bar, measured: dict[str, Measurement], name: str) -> str:
    found = measured.get(name)
    if found is not None:
        return quantity(found.value, found.unit) if found.unit else digits(found.value)
    return bar.absences[name].status if name in bar.absences else "-"


REPORT = Report("Capture by phase, newest commit", _draw, _table)
