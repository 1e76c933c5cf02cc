"""What ``pcbench compare --shapes`` measured: the first call with each extra shape that the model names."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

from pcbench.analysis.columns import aligned, grouped
from pcbench.analysis.quantities import with_spread
from pcbench.analysis.spread import spread
from pcbench.samples import ShapeCall
from pcbench.status import Status


@dataclass(frozen=True)
class ShapeRow:
    """The calls of one strategy with one shape, a call per process."""

    strategy: str
    shape: str
    calls: tuple[ShapeCall, ...]

    @property
    def failed(self) -> ShapeCall | None:
        """The first call that gave no right answer, if there is one."""
        return next((call for call in self.calls if call.status is not Status.OK), None)


def shape_lines(rows: tuple[ShapeRow, ...]) -> list[str]:
    """A line per strategy and shape: its first call's time, and what was traced or compiled again in it."""
    table: list[tuple[str, ...]] = [("strategy", "shape", "first call with it", "recompiles", "compiler runs")]
    table += [_line(row) for row in rows]
    failed = [
        (f"{row.strategy} {row.shape}", f"{row.failed.status}: {row.failed.reason}")
        for row in rows
        if row.failed is not None
    ]
    return ["other shapes, each called once after the load", *aligned(table), *grouped(failed)]


def shape_json(rows: tuple[ShapeRow, ...]) -> list[dict[str, Any]]:
    """The rows, for ``json.dumps``."""
    return [asdict(row) for row in rows]


def _line(row: ShapeRow) -> tuple[str, ...]:
    if row.failed is not None:
        return row.strategy, row.shape, row.failed.status.value, "-", "-"
    found = spread([call.call_s for call in row.calls if call.call_s is not None])
    return (
        row.strategy,
        row.shape,
        "-" if found is None else with_spread(found, "seconds"),
        _most(call.recompiles for call in row.calls),
        _most(call.compiler_processes for call in row.calls),
    )


def _most(counts: Iterable[int | None]) -> str:
    known = [count for count in counts if count is not None]
    return str(max(known)) if known else "-"
