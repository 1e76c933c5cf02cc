"""What ``pcbench compare`` prints below the ladder: a block of lines for each further thing that was measured."""

from __future__ import annotations

from pcbench.analysis.capture_table import capture_lines
from pcbench.analysis.comparison import Comparison
from pcbench.analysis.deployed import deployed_lines
from pcbench.analysis.shape_calls import shape_lines
from pcbench.analysis.workers import workers_lines


def sections(comparison: Comparison) -> list[list[str]]:
    """The blocks, in the order in which they were measured; none for what was not asked for."""
    found = []
    if any(row.told for row in comparison.captures):
        found.append(capture_lines(comparison.captures))
    if comparison.shapes:
        found.append(shape_lines(comparison.shapes))
    if comparison.deployed:
        here = {(row.strategy, row.temperature): row.start_s for row in comparison.rows if row.counts}
        as_captured = {row.name: here.get((row.strategy, row.temperature), ()) for row in comparison.deployed}
        found.append(deployed_lines(comparison.deployed, as_captured))
    if comparison.workers:
        found.append(workers_lines(comparison.workers))
    return found
