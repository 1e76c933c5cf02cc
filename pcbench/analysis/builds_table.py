"""Comparisons of one model on several torch builds, side by side."""

from __future__ import annotations

from collections.abc import Mapping

from pcbench.analysis.columns import aligned, grouped
from pcbench.analysis.comparison import Comparison
from pcbench.analysis.quantities import with_spread
from pcbench.analysis.recommendation import MEANING
from pcbench.analysis.spread import spread
from pcbench.samples import TEMPERATURES

UNKNOWN = "-"


def build_lines(comparisons: Mapping[str, Comparison]) -> list[str]:
    """Start to first output by strategy and build, a block per temperature; then why a row's numbers do not count.

    A row that does not count shows its status; ``-`` is what was not reached.
    """
    lines: list[str] = []
    builds = tuple(comparisons)
    for temperature in (t for t in TEMPERATURES if any(t in c.temperatures for c in comparisons.values())):
        ladder = [row for c in comparisons.values() for row in c.rows if row.temperature == temperature]
        strategies = dict.fromkeys(row.strategy for row in ladder)
        table = [(strategy, *(_cell(comparisons[b], strategy, temperature) for b in builds)) for strategy in strategies]
        lines += [f"{temperature}: {MEANING[temperature]}", *aligned([("strategy", *builds), *table])]
    failed = [
        (f"{row.strategy} on {build}", f"{row.status}: {row.reason}")
        for build, comparison in comparisons.items()
        for row in comparison.rows
        if not row.counts
    ]
    return [*lines, *grouped(list(dict.fromkeys(failed)))]


def _cell(comparison: Comparison, strategy: str, temperature: str) -> str:
    row = comparison.row(strategy, temperature)
    if row is None:
        return UNKNOWN
    start = spread(row.start_s) if row.counts else None
    return row.status.value if start is None else with_spread(start, "seconds")
