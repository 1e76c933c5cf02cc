"""Figures as tests look at them."""

from __future__ import annotations

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.text import Text


def drawn(figure: Figure | None) -> Figure:
    assert figure is not None
    FigureCanvasAgg(figure).draw()
    return figure


def texts(figure: Figure) -> list[str]:
    return [text.get_text() for text in figure.findobj(Text) if text.get_visible() and text.get_text()]
