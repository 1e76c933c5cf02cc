"""What one guard of each family costs, as lines of a terminal."""

from __future__ import annotations

from collections.abc import Sequence

from pcbench.analysis.columns import aligned
from pcbench.analysis.guard_report import GuardReport
from pcbench.analysis.guard_slopes import range_words, slopes
from pcbench.analysis.quantities import digits, with_spread
from pcbench.slopes import guards_per_item

_UNKNOWN = "-"


def slope_lines(reports: Sequence[GuardReport]) -> list[str]:
    """A line per family, the dearest guard first."""
    by_family = {report.target: report for report in reports if report.sweeps}
    found = slopes([sweep for report in by_family.values() for sweep in report.sweeps])
    counted = any(report.instructions for report in by_family.values())
    rows = []
    for line in found:
        report = by_family[line.family]
        cells = [with_spread(s, "seconds") for s in (line.per_guard_s, line.per_item_s, line.intercept_s)]
        per_item = digits(guards_per_item(report.sweeps[0]))
        rows.append((line.family, per_item, *cells, *([_instructions(report)] if counted else [])))
    header = ("family", "guards per item", "one guard more", "one item more", "at size 0")
    sizes = ", ".join(str(size) for size in found and by_family[found[0].family].sweeps[0].samples)
    n = max((line.per_guard_s.n for line in found), default=1)
    return [
        *aligned([(*header, *(["instructions, one guard more"] if counted else [])), *rows]),
        f"slopes and intercepts of a check's time over sizes {sizes}: "
        + ("one process, no range" if n == 1 else f"median and {range_words(n)}"),
    ]


def instructions_per_guard(report: GuardReport) -> float | None:
    """The slope of a check's instructions over the guards of the largest and the smallest size that was counted."""
    by_size = report.instructions
    if len(by_size) < 2 or not report.sweeps:
        return None
    small, large = min(by_size), max(by_size)
    more = min(by_size[large]) - min(by_size[small])
    return more / (guards_per_item(report.sweeps[0]) * (large - small))


def _instructions(report: GuardReport) -> str:
    found = instructions_per_guard(report)
    return _UNKNOWN if found is None else digits(found)
