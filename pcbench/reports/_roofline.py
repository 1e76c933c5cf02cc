"""The roofline of one card, drawn: roofs, and below them one launch of each kernel, predicted and measured apart."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from pcbench.analysis.cards import Card
from pcbench.analysis.kernel_launches import Launch
from pcbench.analysis.quantities import digits
from pcbench.analysis.roofline import Measured, Prediction, Roofs, intensity
from pcbench.reports._drawing import FAINT, INK, log_axis, plain_axes

PANEL_INCHES = 4.7
_MEASURED = "#0072B2"
_UNCACHED = "#E69F00"
_SLOT_INCHES = 0.175
_LEFT_NAMES, _RIGHT_NAMES = 0.13, 0.87
_LEFT_MARKS, _RIGHT_MARKS = 0.2, 0.8
"""Where names end, start, and marks lie, as shares of the width."""


@dataclass(frozen=True)
class Drawn:
    """What a roofline shows.

    Attributes:
        card: Whose documented peaks are the dashed roofs; None where they are not known.
        roofs: The session's own; None where nothing was measured.
        launches: One of each kernel, each with work that moves and computes something.
    """

    card: Card | None
    roofs: Roofs | None
    launches: tuple[Launch, ...]

    @property
    def dtypes(self) -> list[str]:
        """Whose ceilings are drawn: those of the launches that computing bounds, or of all where it bounds none."""
        bound = [one for one in self.launches if one.work is not None and one.work.bound == "compute"]
        return list(dict.fromkeys(launch.dtype for launch in bound or self.launches))


def can_be_drawn(launch: Launch) -> bool:
    """Whether a launch has a place on logarithmic axes, and something to mark there."""
    work = launch.work
    marked = isinstance(launch.predicted, Prediction) or isinstance(launch.measured, Measured)
    return work is not None and work.flops > 0 and work.bytes_moved > 0 and marked


def draw_roofline(axes: Axes, drawn: Drawn) -> None:
    """Roofs, marks and names; at least one launch."""
    places = [_intensity(launch) for launch in drawn.launches]
    ceilings = _ceilings(drawn)
    corners = [rate / roof for roof, dashed in _memory_roofs(drawn) for rate in ceilings[0 if dashed else 1].values()]
    left, right = _around(min(places), max(*places, *corners, 0), _LEFT_MARKS, _RIGHT_MARKS)
    marked = [rate for launch in drawn.launches for rate in _rates(launch)]
    low, high = min(marked) / 4, max([*marked, *(rate for rates in ceilings for rate in rates.values())]) * 3
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlim(left, right)
    axes.set_ylim(low, high)
    for roof, dashed in _memory_roofs(drawn):
        _draw_roof(axes, roof, ceilings[0 if dashed else 1], dashed, (left, right))
    _name_ceilings(axes, ceilings)
    for launch in drawn.launches:
        _draw_marks(axes, launch)
    _draw_names(axes, drawn)
    log_axis(axes.xaxis, left, right, lambda value: f"{value:g}", most=9)
    log_axis(axes.yaxis, low, high, lambda rate: f"{rate / 1e12:g}", most=7)
    axes.set_xlabel("operations per byte that has to be moved (logarithmic)", fontsize=9)
    axes.set_ylabel("TFLOP/s (logarithmic)", fontsize=9)
    plain_axes(axes, grid="x")


def draw_key(axes: Axes, drawn: Drawn) -> None:
    """What lines and marks are; a kind that is not drawn is not named."""
    axes.axis("off")
    documented, own = _ceilings(drawn)
    handles = []
    for roof, dashed in _memory_roofs(drawn):
        who = "data sheet" if dashed else "measured in this session: copy and matmul"
        words = f"roof, {who}: {_peaks_words(roof, documented if dashed else own)}"
        handles.append(Line2D([], [], color=FAINT, linestyle="--" if dashed else "-", linewidth=1.4, label=words))
    if any(isinstance(launch.predicted, Prediction) for launch in drawn.launches):
        handles += [
            Line2D([], [], label="predicted: the most that the data sheet allows", **_hollow()),
            Line2D([], [], color=_UNCACHED, linewidth=2.5, label="down to the same if nothing is cached"),
        ]
    if any(isinstance(launch.measured, Measured) for launch in drawn.launches):
        handles.append(Line2D([], [], label="measured median", **_filled()))
    axes.legend(handles=handles, loc="lower left", fontsize=8.5, frameon=False, borderpad=0, labelspacing=0.35)


def _peaks_words(bytes_per_s: float, ceilings: dict[str, float]) -> str:
    said = [f"{digits(rate / 1e12)} TFLOP/s {'/'.join(dtypes)}" for rate, dtypes in sorted(_by_rate(ceilings).items())]
    return ", ".join([f"{bytes_per_s / 1e12:.3g} TB/s", *said])


def _by_rate(ceilings: dict[str, float]) -> dict[float, list[str]]:
    found: dict[float, list[str]] = {}
    for dtype, rate in ceilings.items():
        found.setdefault(rate, []).append(dtype)
    return found


def _hollow() -> dict[str, Any]:
    return {"color": INK, "marker": "o", "linestyle": "none", "markersize": 7, "markerfacecolor": "white"}


def _filled() -> dict[str, Any]:
    return {"color": _MEASURED, "marker": "D", "linestyle": "none", "markersize": 6.5, "markeredgecolor": INK}


def _intensity(launch: Launch) -> float:
    assert launch.work is not None
    return intensity(launch.work)


def _rates(launch: Launch) -> list[float]:
    """Every rate that is marked of a launch, the highest first."""
    predicted, measured = launch.predicted, launch.measured
    found = [predicted.flops_per_s, predicted.uncached_flops_per_s] if isinstance(predicted, Prediction) else []
    return [*found, measured.flops_per_s] if isinstance(measured, Measured) else found


def _around(low: float, high: float, left: float, right: float) -> tuple[float, float]:
    """Limits of a logarithmic axis on which low and high lie at two shares of its length; a decade at least."""
    middle = math.log10(low * high) / 2
    half = max(math.log10(high / low), 1.0) / 2
    step = 2 * half / (right - left)
    return 10 ** (middle - half - left * step), 10 ** (middle + half + (1 - right) * step)


def _memory_roofs(drawn: Drawn) -> list[tuple[float, bool]]:
    """Bytes per second, and whether it is the documented one."""
    documented = [] if drawn.card is None else [(drawn.card.memory_bytes_per_s, True)]
    return documented + ([(drawn.roofs.bytes_per_s, False)] if drawn.roofs and drawn.roofs.bytes_per_s > 0 else [])


def _ceilings(drawn: Drawn) -> tuple[dict[str, float], dict[str, float]]:
    """By dtype: the documented, and the session's own."""
    documented = {} if drawn.card is None else drawn.card.flops_per_s
    own = {} if drawn.roofs is None else drawn.roofs.flops_per_s
    return (
        {dtype: documented[dtype] for dtype in drawn.dtypes if dtype in documented},
        {dtype: own[dtype] for dtype in drawn.dtypes if dtype in own},
    )


def _draw_roof(
    axes: Axes, bytes_per_s: float, ceilings: dict[str, float], dashed: bool, limits: tuple[float, float]
) -> None:
    """The slope up to the highest ceiling, and each ceiling from where it meets the slope."""
    left, right = limits
    dashes = "--" if dashed else "-"
    end = min(right, max(ceilings.values(), default=math.inf) / bytes_per_s)
    axes.plot([left, end], [left * bytes_per_s, end * bytes_per_s], dashes, color=FAINT, linewidth=1.4, zorder=1)
    for rate in set(ceilings.values()):
        meets = max(left, rate / bytes_per_s)
        if meets < right:
            axes.plot([meets, right], [rate, rate], dashes, color=FAINT, linewidth=1.4, zorder=1)


def _name_ceilings(axes: Axes, ceilings: tuple[dict[str, float], dict[str, float]]) -> None:
    """The dtypes of each ceiling, to the right of it: of the documented one, else of the session's own."""
    documented, own = ceilings
    for rate, dtypes in _by_rate({**own, **documented}).items():
        axes.annotate(
            "\n".join(dtypes),
            (1, rate),
            (4, 0),
            xycoords=("axes fraction", "data"),
            textcoords="offset points",
            va="center",
            fontsize=8,
            color=FAINT,
            annotation_clip=False,
        )


def _draw_marks(axes: Axes, launch: Launch) -> None:
    at, predicted, measured = _intensity(launch), launch.predicted, launch.measured
    if isinstance(predicted, Prediction):
        bar = [predicted.flops_per_s, predicted.uncached_flops_per_s]
        axes.plot([at, at], bar, color=_UNCACHED, linewidth=2.5, solid_capstyle="butt", zorder=2)
        axes.plot(at, predicted.flops_per_s, label=f"{launch.kernel} predicted", zorder=3, **_hollow())
    if isinstance(measured, Measured):
        axes.plot(at, measured.flops_per_s, label=f"{launch.kernel} measured", zorder=4, **_filled())


def _draw_names(axes: Axes, drawn: Drawn) -> None:
    """Names in two columns that nothing else is in, each with a line to its mark; no two lines cross.

    What memory limits goes above the slope, the highest intensity on top; the rest below the ceilings, likewise.
    """
    ordered = sorted(drawn.launches, key=lambda launch: -_intensity(launch))
    slot = _SLOT_INCHES / PANEL_INCHES
    above = [launch for launch in ordered if _is_moving(launch, drawn)]
    below = [launch for launch in ordered if not _is_moving(launch, drawn)]
    for side, top, column, align in ((above, 0.96, _LEFT_NAMES, "right"), (below, 0.4, _RIGHT_NAMES, "left")):
        for place, launch in enumerate(side):
            away = 4 if align == "left" else -4
            y = top - place * slot
            axes.annotate(
                "",
                (_intensity(launch), _rates(launch)[0]),
                (column, y),
                textcoords="axes fraction",
                arrowprops={"arrowstyle": "-", "color": FAINT, "linewidth": 0.7, "shrinkA": 0, "shrinkB": 4},
                zorder=1,
            )
            axes.annotate(
                launch.kernel,
                (column, y),
                (away, 0),
                xycoords="axes fraction",
                textcoords="offset points",
                ha=align,
                va="center",
                fontsize=8.5,
                color=INK,
            )


def _is_moving(launch: Launch, drawn: Drawn) -> bool:
    if isinstance(launch.predicted, Prediction):
        return launch.predicted.limit == "memory"
    assert launch.work is not None
    return launch.work.bound == "memory" or drawn.roofs is None
