"""Halves a range of commits, or of torch builds, until one is named, or the evidence names none. Pure."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

_NEIGHBOURS = 2


@dataclass(frozen=True)
class Narrowed:
    """What is left of a range.

    Attributes:
        unchanged: The last step that is like the first of the range.
        changed: The first step that is known to differ; the one that is named where it follows ``unchanged``.
        stopped: Why no single step is named; empty where one is.
    """

    unchanged: int
    changed: int
    stopped: str = ""

    @property
    def named(self) -> bool:
        """Whether a single step is left."""
        return self.changed == self.unchanged + 1


def narrow(steps: int, differs: Callable[[int], bool | None]) -> Narrowed:
    """Find the first of ``steps`` that differs from step 0, where the last is known to.

    Args:
        steps: At least two.
        differs: Whether a step differs from step 0 as the last does; None where the evidence tells neither. Two
            neighbours are then tried in its place.
    """
    low, high = 0, steps - 1
    while high - low > 1:
        found = _ask(low, high, differs)
        if found is None:
            return Narrowed(low, high, "what lies between differs too little from both ends to tell")
        middle, changed = found
        low, high = (low, middle) if changed else (middle, high)
    return Narrowed(low, high)


def _ask(low: int, high: int, differs: Callable[[int], bool | None]) -> tuple[int, bool] | None:
    """An answer from the middle, or from up to two neighbours of it."""
    middle = (low + high) // 2
    near = [middle, *(step for step in (middle + 1, middle - 1) if low < step < high)]
    for step in near[: 1 + _NEIGHBOURS]:
        changed = differs(step)
        if changed is not None:
            return step, changed
    return None
