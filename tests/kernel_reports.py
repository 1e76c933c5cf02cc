"""What the report on kernels says of runs, as tests look at it."""

from __future__ import annotations

from matplotlib.figure import Figure

from pcbench.analysis.records import Run
from pcbench.analysis.shown import Shown
from pcbench.reports import kernels


def figure_of(*runs: Run) -> Figure:
    figure = kernels.REPORT.draw(Shown(runs))
    assert figure is not None
    return figure


def title_of(*runs: Run) -> str:
    return " ".join(figure_of(*runs).get_suptitle().split())


def caption_of(*runs: Run) -> str:
    return " ".join(figure_of(*runs).get_supxlabel().split())


def heading_of(*runs: Run) -> str:
    return " ".join(figure_of(*runs).axes[1].get_title("left").split())


def table_of(*runs: Run) -> list[dict[str, str]]:
    table = kernels.REPORT.table(Shown(runs))
    assert table is not None
    return [dict(zip(table.header, row, strict=True)) for row in table.rows]


def key_of(*runs: Run) -> list[str]:
    legend = figure_of(*runs).axes[0].get_legend()
    assert legend is not None
    return [text.get_text() for text in legend.get_texts()]


def marks_of(*runs: Run) -> dict[str, tuple[float, float]]:
    lines = figure_of(*runs).axes[1].lines
    return {
        str(line.get_label()): (float(line.get_xdata()[0]), float(line.get_ydata()[0]))
        for line in lines
        if not str(line.get_label()).startswith("_")
    }
