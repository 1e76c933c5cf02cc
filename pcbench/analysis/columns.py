"""Rows of words as lines of a terminal."""

from __future__ import annotations

from collections.abc import Sequence


def aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    """Each row as a line, its words under those of the rows above; rows have the same number of words."""
    widths = [max(len(row[place]) for row in rows) for place in range(len(rows[0]))] if rows else []
    return ["  ".join(word.ljust(width) for word, width in zip(row, widths, strict=True)).rstrip() for row in rows]


def piped(rows: Sequence[Sequence[str]]) -> list[str]:
    """Rows, the first of which is the header, as a table in Markdown."""
    lines = [f"| {' | '.join(row)} |" for row in rows]
    return [lines[0], "|" + " --- |" * len(rows[0]), *lines[1:]]


def grouped(said: Sequence[tuple[str, str]]) -> list[str]:
    """``(who, what)`` as lines ``who, who: what``, in order of first mention: the same thing is said once."""
    by_what: dict[str, list[str]] = {}
    for who, what in said:
        by_what.setdefault(what, []).append(who)
    return [f"{', '.join(who)}: {what}" for what, who in by_what.items()]
