"""Figures and tables out of records: a report a file, ending in ``REPORT = Report(...)``. Nothing here opens a file."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from matplotlib.figure import Figure

from pcbench.analysis.shown import Shown


@dataclass(frozen=True)
class Table:
    """The numbers of a report: a header, and rows of as many cells."""

    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class Report:
    """One way to look at runs.

    Attributes:
        title: What it shows, in a few words.
        draw: Its figure; None where the runs hold nothing that it shows.
        table: Its numbers; None likewise.
        said: Sentences beside them, such as how much stayed as it was.
    """

    title: str
    draw: Callable[[Shown], Figure | None]
    table: Callable[[Shown], Table | None]
    said: Callable[[Shown], Sequence[str]] = lambda shown: ()
