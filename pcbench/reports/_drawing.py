"""What all figures share: colours that differ in grey too, type, captions, and logarithmic axes in plain units."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Callable
from typing import Literal

import matplotlib
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from pcbench.analysis.quantities import quantity
from pcbench.samples import EAGER

INK = "#222222"
FAINT = "#767676"
GRID = "#dddddd"

# Okabe and Ito's colours without yellow, which is lost on white; eager is black everywhere.
_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#7F5539")
_MARKERS = ("s", "^", "D", "v", "P", "X", "*")
Dash = Literal["-", "--", "-."] | tuple[float, tuple[int, ...]]
_DASHES: tuple[Dash, ...] = ("-", "--", "-.", (0, (1, 1)), (0, (5, 1, 1, 1, 1, 1)), (0, (3, 1)), (0, (8, 2)))


def look(name: str, names: tuple[str, ...]) -> tuple[str, str, Dash]:
    """Colour, marker and line of a strategy: its place among ``names`` decides, eager's is always the same."""
    if name == EAGER:
        return INK, "o", "-"
    place = sorted(set(names) - {EAGER}).index(name)
    turn = place // len(_COLOURS)  # once the colours are used up, each comes again with another mark and line
    return (
        _COLOURS[place % len(_COLOURS)],
        _MARKERS[(place + 3 * turn) % len(_MARKERS)],
        _DASHES[(place + 3 * turn) % len(_DASHES)],
    )


def figure(width: float, height: float) -> Figure:
    """An empty figure, in inches, laid out so that nothing is cut."""
    matplotlib.rcParams["text.parse_math"] = False  # people's names and an assembler's warnings have dollars in them
    layout = ConstrainedLayoutEngine(w_pad=0.1, h_pad=0.07)
    return Figure(figsize=(width, height), dpi=100, layout=layout, facecolor="white")


def title(fig: Figure, text: str, *, columns: int = 92) -> None:
    """The finding, above everything."""
    fig.suptitle(textwrap.fill(text, columns), x=0.01, ha="left", fontsize=12, fontweight="bold", color=INK)


def caption(fig: Figure, text: str, *, columns: int = 160) -> None:
    """What it was measured on and what is shown, below everything."""
    fig.supxlabel(textwrap.fill(text, columns), x=0.01, ha="left", fontsize=8.5, color=FAINT)


def plain_axes(axes: Axes, *, grid: str) -> None:
    """A frame of two sides, and a grid along ``x`` or ``y`` behind the data."""
    axes.spines[["top", "right"]].set_visible(False)
    axes.spines[["left", "bottom"]].set_color(FAINT)
    axes.tick_params(labelsize=9, color=FAINT, labelcolor=INK)
    axes.grid(axis="x" if grid == "x" else "y", color=GRID, linewidth=0.7)
    axes.set_axisbelow(True)


def log_axis(axis: Axis, low: float, high: float, write: Callable[[float], str], *, most: int = 12) -> None:
    """Ticks of a logarithmic axis, about ``most`` of them.

    1, 2, 3, 5 within a decade; over more 1, 2, 5 where they fit, else 1, 3, else decades.
    """
    decades = math.log10(high / low) if high > low else 1.0
    fitting = (subs for subs in ((1.0, 2.0, 5.0), (1.0, 3.0)) if decades * len(subs) <= most)
    subs = (1.0, 2.0, 3.0, 5.0) if decades < 1 else next(fitting, (1.0,))
    axis.set_major_locator(LogLocator(base=10.0, subs=subs, numticks=most + 2))
    axis.set_minor_formatter(NullFormatter())
    axis.set_major_formatter(FuncFormatter(lambda value, _: write(value)))


def write_quantity(unit: str) -> Callable[[float], str]:
    """Writes ticks of a unit that asv knows."""
    return lambda value: quantity(value, unit)
