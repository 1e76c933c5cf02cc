"""The numbers that are tracked of what the compiler made of a kernel for a target. Shared by both halves; no torch."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence

Metrics = Mapping[str, float]

_NUMBERS: Mapping[str, tuple[str, Callable[[Metrics], float], Callable[[Iterable[float]], float]]] = {
    "registers": ("registers", lambda row: row["registers"], max),
    "spills": ("spill_stores", lambda row: row["spill_stores"] + row.get("spill_loads", 0), sum),
    "inverse occupancy": ("occupancy", lambda row: 1 / row["occupancy"] if row["occupancy"] else math.inf, max),
    "instructions": ("sass", lambda row: row["sass"], sum),
}
"""By name: the metric that tells it, the number of one compilation, and what is made of those of several."""

QUANTITIES = tuple(_NUMBERS)
"""What there is a number of; a benchmark names one of them in its attribute ``codegen``."""


def number_of(quantity: str, compiled: Sequence[Metrics]) -> float | None:
    """The number of a kernel for a target, over the metrics of its compilations.

    Of registers the most, of spills and instructions all together; of occupancy 1 / the least, infinite where a
    compilation fits no multiprocessor.

    Returns:
        None where a compilation does not tell it, or there is none.
    """
    metric, one, over = _NUMBERS[quantity]
    if not compiled or not all(metric in row for row in compiled):
        return None
    return float(over(map(one, compiled)))
