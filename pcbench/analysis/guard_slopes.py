"""What one more guard of a family costs, over processes; from sweeps, or from what asv stored of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from pcbench.analysis.records import Case, Measurement, Run
from pcbench.analysis.spread import Spread, kind_of, spread
from pcbench.guard_samples import Sweep
from pcbench.slopes import slope

_BENCHMARK = "bench_guards.Slope.track_seconds"


@dataclass(frozen=True)
class FamilySlope:
    """A guard family's line, in seconds per check, over the processes that gave one each.

    Attributes:
        per_guard_s: What one guard more adds.
        per_item_s: What one size more adds, with all of its guards.
        intercept_s: What the line says of size 0.
    """

    family: str
    per_guard_s: Spread
    per_item_s: Spread
    intercept_s: Spread


def slopes(sweeps: Sequence[Sweep]) -> tuple[FamilySlope, ...]:
    """The families' lines, the dearest guard first; a sweep is one process's.

    Raises:
        PcbenchError: A sweep holds no line.
    """
    found = []
    for family in dict.fromkeys(sweep.family for sweep in sweeps):
        lines = [slope(sweep) for sweep in sweeps if sweep.family == family]
        per_guard = spread([line.per_guard_s for line in lines])
        per_item = spread([line.per_item_s for line in lines])
        intercept = spread([line.intercept_s for line in lines])
        if per_guard and per_item and intercept:
            found.append(FamilySlope(family, per_guard, per_item, intercept))
    return _dearest_first(found)


def slopes_of(run: Run) -> tuple[FamilySlope, ...]:
    """The lines that a run holds whole, the dearest guard first."""
    families = {case.param("family"): None for case in run.measurements if case.benchmark == _BENCHMARK}
    found = []
    for family in filter(None, families):
        parts = [
            run.measurements.get(Case(_BENCHMARK, (("family", family), ("part", part))))
            for part in ("per guard", "per item", "intercept")
        ]
        whole = [_spread(part) for part in parts if part is not None]
        if len(whole) == len(parts):
            found.append(FamilySlope(family, *whole))
    return _dearest_first(found)


def range_words(n: int) -> str:
    """What the spread around a median of ``n`` independent processes is, and how far it is to be trusted."""
    if n == 1:
        return "one process has no spread"
    if kind_of(n) != "min-max":
        return kind_of(n)
    # The median lies outside where all n fall on one side of it.
    confidence = 100 * (1 - 2 * 0.5**n)
    return f"min-max, which holds the median with {confidence:.0f} % confidence, whatever the distribution"


def _dearest_first(found: Iterable[FamilySlope]) -> tuple[FamilySlope, ...]:
    return tuple(sorted(found, key=lambda line: (-line.per_guard_s.median, line.family)))


def _spread(measurement: Measurement) -> Spread:
    """That of its samples; its quartiles where asv kept none."""
    of_samples = spread(measurement.samples or ())
    if of_samples is not None:
        return of_samples
    value = measurement.value
    low, high = (value if end is None else end for end in (measurement.low, measurement.high))
    return Spread(value, low, high, measurement.n or 1)
