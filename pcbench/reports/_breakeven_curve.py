"""Total time over the number of calls: where each strategy's start is paid for."""

from __future__ import annotations

import math
import statistics
from dataclasses import dataclass

from matplotlib.axes import Axes

from pcbench.analysis.breakeven import BreakEven, break_even, gain
from pcbench.analysis.comparison import Comparison, with_calls
from pcbench.analysis.quantities import digits
from pcbench.analysis.recommendation import eager_call
from pcbench.reports._drawing import INK, log_axis, look, plain_axes, write_quantity
from pcbench.samples import EAGER

LEGEND_COLUMNS = 2
_POINTS = 120


@dataclass(frozen=True)
class Curve:
    """One strategy's total: ``start_s`` and ``call_s`` for each call after the first; ``even`` None for eager."""

    strategy: str
    start_s: float
    call_s: float
    even: BreakEven | None

    def total_s(self, calls: float) -> float:
        return self.start_s + calls * self.call_s


def curves(comparison: Comparison, temperature: str) -> list[Curve]:
    """The curves of a temperature, eager's first; empty where eager or the later calls were not measured."""
    comparison = with_calls(comparison)
    eager = comparison.eager(temperature)
    eager_call_s = eager_call(comparison)
    if eager is None or not eager.counts or not eager_call_s:
        return []
    found = [Curve(EAGER, statistics.median(eager.start_s), eager_call_s, None)]
    for row in comparison.rows:
        saved = gain(row)
        if row.temperature == temperature and row.strategy != EAGER and row.counts and saved is not None:
            call_s = eager_call_s - saved.real_s
            found.append(Curve(row.strategy, statistics.median(row.start_s), call_s, break_even(row, eager)))
    found[1:] = sorted(found[1:], key=lambda curve: curve.start_s)
    return found if len(found) > 1 else []


def draw_curves(axes: Axes, legend: Axes, shown: list[Curve], temperature: str) -> None:
    """Draw the curves on logarithmic axes, crossings marked, and the key in axes of its own."""
    names = tuple(curve.strategy for curve in shown)
    # Beyond the last label there is room for its right half.
    last = max(_last_call(curve) for curve in shown) * 1.4
    calls = [last ** (i / (_POINTS - 1)) for i in range(_POINTS)]
    eager = shown[0]
    for curve in shown:
        colour, marker, dash = look(curve.strategy, names)
        label = curve.strategy if curve.even is None else f"{curve.strategy} (cheaper: {curve.even})"
        totals = [curve.total_s(n) for n in calls]
        thick = 2.6 if curve is eager else 1.6
        axes.plot(calls, totals, color=colour, linestyle=dash, linewidth=thick, label=label, zorder=3)
        for crossing in _crossings(curve.even):
            axes.plot(
                crossing, eager.total_s(crossing), marker, color=colour, markersize=9, markeredgecolor=INK, zorder=5
            )
    axes.set_xscale("log")
    axes.set_yscale("log")
    every = [curve.total_s(n) for curve in shown for n in (1, last)]
    axes.set_xlim(1, last)
    log_axis(axes.xaxis, 1, last, digits)
    log_axis(axes.yaxis, min(every), max(every), write_quantity("seconds"), most=8)
    axes.set_ylim(min(every) * 0.8, max(every) * 1.25)
    axes.set_xlabel("calls per process start", fontsize=9.5)
    axes.set_ylabel("total time", fontsize=9.5)
    marked = any(_crossings(curve.even) for curve in shown)
    promise = ": a mark where a strategy and eager cost the same" * marked
    axes.set_title(f"{temperature} start and its calls{promise}", loc="left", fontsize=10.5, color=INK)
    plain_axes(axes, grid="y")
    handles, labels = axes.get_legend_handles_labels()
    legend.axis("off")
    key = legend.legend(
        handles, labels, loc="upper left", ncols=LEGEND_COLUMNS, fontsize=9, frameon=False, handlelength=3, borderpad=0
    )
    # The columns of the key must not widen the margins of every axes above it.
    key.set_in_layout(False)


def _crossings(even: BreakEven | None) -> list[float]:
    if even is None:
        return []
    return [calls for calls in (even.calls, even.until) if math.isfinite(calls) and calls >= 1]


def _last_call(curve: Curve) -> float:
    """A round number of calls far enough to see the curve's crossing, and its calls outweigh its start."""
    reach = [100.0, 3 * curve.start_s / curve.call_s if curve.call_s > 0 else 0.0]
    reach += [3 * crossing for crossing in _crossings(curve.even)]
    return float(10 ** math.ceil(math.log10(max(reach))))
