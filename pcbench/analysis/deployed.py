"""What ``pcbench compare --deploy`` measured: strategies by the condition in which the artifact is loaded."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from pcbench.analysis.columns import aligned, grouped
from pcbench.analysis.quantities import with_spread
from pcbench.analysis.spread import spread
from pcbench.conditions import CONDITIONS, MEANING
from pcbench.samples import LoadSample
from pcbench.status import Status


@dataclass(frozen=True)
class DeployedRow:
    """One strategy's loads with empty caches in one condition.

    Attributes:
        condition: One of :data:`pcbench.conditions.CONDITIONS`.
        status: UNAVAILABLE, too, where the condition itself cannot be made here.
        temperature: ``cold``, or ``bundled`` where the artifact carries what its capture compiled.
        wrote: Files of the artifact that a load made, changed or removed.
    """

    strategy: str
    condition: str
    status: Status
    reason: str | None = None
    samples: tuple[LoadSample, ...] = ()
    wrote: tuple[str, ...] = ()
    temperature: str = "cold"

    @property
    def name(self) -> str:
        """The strategy, and where its artifact carries caches, that it does."""
        return self.strategy if self.temperature == "cold" else f"{self.strategy} {self.temperature}"

    @property
    def start_s(self) -> tuple[float, ...]:
        """Seconds from the start of the process to the first output, one per sample."""
        return tuple(sample.phases.total_s for sample in self.samples)


def deployed_lines(rows: tuple[DeployedRow, ...], as_captured_s: Mapping[str, Sequence[float]]) -> list[str]:
    """A line per strategy with a column per condition; below it why something failed, and what the conditions are.

    Args:
        rows: What was measured.
        as_captured_s: Cold starts of the same, by name, in the same run, with the artifact where it was saved.
    """
    by = {(row.name, row.condition): row for row in rows}
    names = list(dict.fromkeys(row.name for row in rows))
    shown = [condition for condition in CONDITIONS if any(row.condition == condition for row in rows)]
    table = [("strategy", "as captured", *shown)]
    for name in names:
        here = spread(as_captured_s.get(name, ()))
        cells = (_cell(by.get((name, condition))) for condition in shown)
        table.append((name, "-" if here is None else with_spread(here, "seconds"), *cells))
    by_reason: dict[tuple[str, str], list[str]] = {}
    for row in rows:
        if row.status is not Status.OK:
            by_reason.setdefault((row.name, f"{row.status}: {row.reason}"), []).append(row.condition)
        if row.wrote:
            by_reason.setdefault((row.name, f"wrote {', '.join(row.wrote)}"), []).append(row.condition)
    said = [(name, f"{', '.join(conditions)}: {what}") for (name, what), conditions in by_reason.items()]
    return [
        "deployed: cold start to first output, the artifact as another machine has it",
        *aligned(table),
        *grouped(said),
        "; ".join(f"{condition}: {MEANING[condition]}" for condition in shown),
    ]


def deployed_json(rows: tuple[DeployedRow, ...]) -> list[dict[str, Any]]:
    """The rows, for ``json.dumps``."""
    return [asdict(row) | {"start_s": list(row.start_s)} for row in rows]


def _cell(row: DeployedRow | None) -> str:
    if row is None:
        return "-"
    found = spread(row.start_s)
    if row.status is not Status.OK or found is None:
        return row.status.value
    return with_spread(found, "seconds") + (", writes" if row.wrote else "")
