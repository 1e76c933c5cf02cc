"""How a guard check grows with the size of a family: a line through the times of one process. For both halves."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from pcbench.errors import PcbenchError
from pcbench.guard_samples import Sweep


@dataclass(frozen=True)
class Slope:
    """A family's line in one process, in seconds per check.

    Attributes:
        per_item_s: What one size more adds.
        per_guard_s: What one guard more adds: the same, by the guards that one size more has.
        intercept_s: What the line says of size 0: a check's other guards, and the way to them.
    """

    per_item_s: float
    per_guard_s: float
    intercept_s: float


def slope(sweep: Sweep) -> Slope:
    """The line through a process's times, the least of its blocks at each size.

    Raises:
        PcbenchError: The sweep holds no line: times at one size alone, or guards that do not grow.
    """
    least = {size: min(taken) for size, taken in sweep.samples.items() if taken}
    if len(least) < 2:
        raise PcbenchError(f"family {sweep.family} was timed at {len(least)} size: a slope takes two")
    intercept_s, per_item_s = fitted(least)
    return Slope(per_item_s, per_item_s / guards_per_item(sweep), intercept_s)


def guards_per_item(sweep: Sweep) -> float:
    """Guards that one size more has.

    Raises:
        PcbenchError: They do not grow.
    """
    smallest, largest = min(sweep.guards), max(sweep.guards)
    more = sweep.guards[largest] - sweep.guards[smallest]
    if more <= 0:
        raise PcbenchError(f"family {sweep.family} has no more guards at size {largest} than at size {smallest}")
    return more / (largest - smallest)


def fitted(points: Mapping[int, float]) -> tuple[float, float]:
    """Intercept and slope of the line through at least two points whose relative error is the same at all.

    Weighted least squares: each point weighs as much as the square of its value divides.
    """
    weights = {x: 1 / y**2 for x, y in points.items()}
    total = sum(weights.values())
    mean_x = sum(weight * x for x, weight in weights.items()) / total
    mean_y = sum(weight * points[x] for x, weight in weights.items()) / total
    covariance = sum(weight * (x - mean_x) * (points[x] - mean_y) for x, weight in weights.items())
    rising = covariance / sum(weight * (x - mean_x) ** 2 for x, weight in weights.items())
    return mean_y - rising * mean_x, rising
