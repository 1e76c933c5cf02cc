"""What the compiler made of each kernel for each target, as a grid that can be scanned; changes beside it in words."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence

from matplotlib.axes import Axes
from matplotlib.patches import Rectangle

from pcbench.analysis.codegen_changes import Change, Weight
from pcbench.analysis.kernel_launches import Launch
from pcbench.analysis.quantities import digits
from pcbench.reports._drawing import FAINT, INK

ROW_INCHES = 0.27
HEAD_ROWS = 2.2
_WIDTH_INCHES = 9.6
_NAME_INCHES, _CELL_INCHES, _GAP_INCHES = 1.75, 0.37, 0.12
_CHARACTER_INCHES = 0.062
_SPILL = "#D55E00"
_COLUMNS = (("registers", "regs"), ("occupancy", "occ."), ("spills", "spills"))


def draw_grid(axes: Axes, rows: Mapping[str, Sequence[Launch]], targets: Sequence[str]) -> None:
    """A row for each kernel: its first launch, then what changed in any of its launches.

    Args:
        rows: By kernel, all its launches.
    """
    axes.axis("off")
    axes.set_xlim(0, _WIDTH_INCHES)
    axes.set_ylim(len(rows) - 0.5, -0.5 - HEAD_ROWS)
    words_at = _at(len(targets), 0)
    _write(axes, 0, -1.75, "What the compiler made", size=9.5)
    for number, target in enumerate(targets):
        middle = _at(number, 1) + _CELL_INCHES / 2
        _write(axes, middle, -1.75, target, align="center", weight="bold")
        for place, (_, head) in enumerate(_COLUMNS):
            _write(axes, _at(number, place) + _CELL_INCHES / 2, -0.9, head, align="center", colour=FAINT)
    _write(axes, words_at, -0.9, "since the run before", colour=FAINT)
    room = int((_WIDTH_INCHES - words_at) / _CHARACTER_INCHES)
    for y, (kernel, launches) in enumerate(rows.items()):
        first = launches[0]
        said, changed = change_words(launches)
        _write(axes, 0, y, f"{kernel} {_short(first.dtype)}", weight="bold" if changed else "normal")
        for number, target in enumerate(targets):
            own = next((one for one in launches if one.target == target and one.name == first.name), None)
            _draw_cells(axes, _at(number, 0), y, own)
        shortened = textwrap.shorten(said, room, placeholder=" ...")
        _write(axes, words_at, y, shortened, weight="bold" if changed else "normal", colour=INK if changed else FAINT)


def change_words(launches: Sequence[Launch]) -> tuple[str, bool]:
    """What changed in a kernel, the worst first, and whether anything did that costs time."""
    noted = [change for launch in launches for change in launch.since.noted]
    noted.sort(key=lambda change: change.weight is not Weight.HARD)
    if noted:
        told = list(dict.fromkeys(map(_told, noted)))
        return told[0] + (f"; and {len(told) - 1} more" if len(told) > 1 else ""), True
    known = [launch.since for launch in launches if launch.since.commit is not None]
    if not known:
        return "no run before", False
    if any(change.weight is Weight.UNKNOWN for one in known for change in one.changes):
        return "not all of it could be compared: see the table", False
    judged = [one.same for one in known if one.same is not None]
    if not judged:
        return "the policy ignores it", False
    return ("the same code" if all(judged) else "other code, no rule fired"), False


def _told(change: Change) -> str:
    return f"{change.key.target}: {change.sentence}"


def _at(number: int, place: int) -> float:
    return _NAME_INCHES + number * (len(_COLUMNS) * _CELL_INCHES + _GAP_INCHES) + place * _CELL_INCHES


def _short(dtype: str) -> str:
    """A dtype in few letters: ``fp16``."""
    return dtype.replace("bfloat", "bf").replace("float", "fp").partition("_")[0]


def _draw_cells(axes: Axes, x: float, y: float, launch: Launch | None) -> None:
    width = len(_COLUMNS) * _CELL_INCHES
    row = None if launch is None else launch.tightest
    if launch is None or row is None:
        failed = [one.status.value for one in launch.compiled] if launch is not None else []
        worst = next((status for status in failed if status != "OK"), "-")
        _write(axes, x + width / 2, y, worst.replace("_", " ").lower(), align="center", colour=FAINT)
        return
    if "occupancy" in row.metrics:
        alpha = 0.04 + 0.4 * (1 - row.metrics["occupancy"])
        axes.add_patch(Rectangle((x, y - 0.45), width, 0.9, facecolor=INK, alpha=alpha, linewidth=0))
    for place, (metric, _) in enumerate(_COLUMNS):
        value = launch.spills if metric == "spills" else row.metrics.get(metric)
        spilled = metric == "spills" and bool(value)
        middle = x + (place + 0.5) * _CELL_INCHES
        weight, colour = ("bold", _SPILL) if spilled else ("normal", INK)
        _write(axes, middle, y, _number(metric, value), align="center", weight=weight, colour=colour)


def _number(metric: str, value: float | None) -> str:
    if value is None:
        return "-"
    return f"{100 * value:.3g}%" if metric == "occupancy" else digits(value)


def _write(
    axes: Axes,
    x: float,
    y: float,
    text: str,
    *,
    align: str = "left",
    weight: str = "normal",
    colour: str = INK,
    size: float = 8,
) -> None:
    axes.text(x, y, text, ha=align, va="center", fontsize=size, fontweight=weight, color=colour).set_in_layout(False)
