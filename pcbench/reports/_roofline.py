"""The roofline of one card, drawn: roofs, and below them one launch of each kernel, predicted and measured apart."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal

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
    def below_ceilings(self) -> list[Launch]:
        """The launches whose dtypes have ceilings: those that computing bounds, or all where it bounds none."""
        bound = [one for one in self.launches if one.work is not None and one.work.bound == "compute"]
        return bound or list(self.launches)


@dataclass(frozen=True)
class _Roof:
    """A slope, and ceilings by dtype; the slope is None where memory's rate could not be had."""

    bytes_per_s: float | None
    flops_per_s: dict[str, float]
    documented: bool

    @property
    def dashes(self) -> Literal["-", "--"]:
        """The style of its lines."""
        return "--" if self.documented else "-"

    def meets(self, rate: float) -> float:
        """The intensity at which a ceiling meets the slope; 0 where there is no slope."""
        return 0.0 if self.bytes_per_s is None else rate / self.bytes_per_s


def can_be_drawn(launch: Launch) -> bool:
    """Whether a launch has a place on logarithmic axes, and something to mark there."""
    work = launch.work
    marked = isinstance(launch.predicted, Prediction) or isinstance(launch.measured, Measured)
    return work is not None and work.flops > 0 and work.bytes_moved > 0 and marked


def draw_roofline(axes: Axes, drawn: Drawn) -> None:
    """Roofs, marks and names; at least one launch."""
    places = [_intensity(launch) for launch in drawn.launches]
    roofs = _roofs(drawn)
    ceilings = [(rate, roof.meets(rate)) for roof in roofs for rate in roof.flops_per_s.values()]
    left, right = _around(min(places), max([*places, *(at for _, at in ceilings)]), _LEFT_MARKS, _RIGHT_MARKS)
    marked = [rate for launch in drawn.launches for rate in _rates(launch)]
    low, high = min(marked) / 4, max([*marked, *(rate for rate, _ in ceilings)]) * 3
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlim(left, right)
    axes.set_ylim(low, high)
    for roof in roofs:
        _draw_roof(axes, roof, (left, right))
    _name_ceilings(axes, roofs)
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
    roofs = [(roof.dashes, _roof_words(roof)) for roof in _roofs(drawn)]
    handles = [Line2D([], [], color=FAINT, linestyle=style, linewidth=1.4, label=words) for style, words in roofs]
    if any(isinstance(launch.predicted, Prediction) for launch in drawn.launches):
        handles += [
            Line2D([], [], label="predicted: the most that the data sheet allows", **_hollow()),
            Line2D([], [], color=_UNCACHED, linewidth=2.5, label="down to the same if nothing is cached"),
        ]
    if any(isinstance(launch.measured, Measured) for launch in drawn.launches):
        handles.append(Line2D([], [], label="measured median", **_filled()))
    axes.legend(handles=handles, loc="lower left", fontsize=8.5, frameon=False, borderpad=0, labelspacing=0.35)


def _roof_words(roof: _Roof) -> str:
    memory = [] if roof.bytes_per_s is None else [f"{roof.bytes_per_s / 1e12:.3g} TB/s"]
    rates = sorted(_by_rate(roof.flops_per_s).items())
    said = ", ".join([*memory, *(f"{digits(rate / 1e12)} TFLOP/s {'/'.join(dtypes)}" for rate, dtypes in rates)])
    beside = " and ".join(["copy"] * bool(memory) + ["matmul"] * bool(rates))
    return f"roof, {'data sheet' if roof.documented else f'measured in this session: {beside}'}: {said}"


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


def _roofs(drawn: Drawn) -> list[_Roof]:
    """The documented one, with the ceilings that something is predicted by, then the session's own."""
    dtypes = dict.fromkeys(launch.dtype for launch in drawn.below_ceilings)
    predicted = {launch.dtype for launch in drawn.below_ceilings if isinstance(launch.predicted, Prediction)}
    found = []
    if drawn.card is not None:
        peaks = {dtype: drawn.card.flops_per_s[dtype] for dtype in dtypes if dtype in predicted}
        found.append(_Roof(drawn.card.memory_bytes_per_s, peaks, documented=True))
    if drawn.roofs is not None:
        own = {dtype: drawn.roofs.flops_per_s[dtype] for dtype in dtypes if dtype in drawn.roofs.flops_per_s}
        found.append(_Roof(drawn.roofs.bytes_per_s, own, documented=False))
    return [roof for roof in found if roof.bytes_per_s is not None or roof.flops_per_s]


def _draw_roof(axes: Axes, roof: _Roof, limits: tuple[float, float]) -> None:
    """The slope up to the highest ceiling, and each ceiling from where it meets the slope."""
    left, right = limits
    ceilings = set(roof.flops_per_s.values())
    if roof.bytes_per_s is not None:
        ends = [left, min(right, max(ceilings, default=math.inf) / roof.bytes_per_s)]
        axes.plot(ends, [end * roof.bytes_per_s for end in ends], roof.dashes, color=FAINT, linewidth=1.4, zorder=1)
    for rate in ceilings:
        meets = max(left, roof.meets(rate))
        if meets < right:
            axes.plot([meets, right], [rate, rate], roof.dashes, color=FAINT, linewidth=1.4, zorder=1)


def _name_ceilings(axes: Axes, roofs: list[_Roof]) -> None:
    """The dtypes of each ceiling, to the right of it: of the documented one, else of the session's own."""
    named = {dtype: rate for roof in reversed(roofs) for dtype, rate in roof.flops_per_s.items()}
    for rate, dtypes in _by_rate(named).items():
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
    above = [launch for launch in ordered if _is_moving(launch)]
    below = [launch for launch in ordered if not _is_moving(launch)]
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


def _is_moving(launch: Launch) -> bool:
    if isinstance(launch.predicted, Prediction):
        return launch.predicted.limit == "memory"
    assert launch.work is not None
    return launch.work.bound == "memory"
