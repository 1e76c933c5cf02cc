"""What ``pcbench compare`` measured of one model, and its JSON, schema 1."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

from pcbench.analysis.capture_table import CaptureRow, capture_json
from pcbench.analysis.deployed import DeployedRow, deployed_json
from pcbench.analysis.shape_calls import ShapeRow, shape_json
from pcbench.analysis.workers import WorkersRow, workers_json
from pcbench.samples import EAGER, TEMPERATURES, LoadSample
from pcbench.status import Status

SCHEMA = 1

MachineFacts = Mapping[str, str | int | None]
"""What the machine is, by name, such as ``cpu``, ``num_cpu``, ``isa``, ``gpu``."""


@dataclass(frozen=True)
class Row:
    """One strategy at one temperature.

    Attributes:
        weights: ``baked`` or ``passed``; None for eager and where nothing was captured.
        capture_s, save_s: Seconds, one per capture.
        call_s: Seconds per later call; ``eager_call_s`` was taken in turn with it, pair by pair.
        pairs_by_process: How many of those pairs each process took, in order; pairs of one process are not independent.
    """

    strategy: str
    temperature: str
    status: Status
    reason: str | None = None
    weights: str | None = None
    capture_s: tuple[float, ...] = ()
    save_s: tuple[float, ...] = ()
    artifact_bytes: int | None = None
    samples: tuple[LoadSample, ...] = ()
    call_s: tuple[float, ...] = ()
    eager_call_s: tuple[float, ...] = ()
    pairs_by_process: tuple[int, ...] = ()

    @property
    def start_s(self) -> tuple[float, ...]:
        """Seconds from the start of the process (hot: of the load) to the first output, one per sample."""
        return tuple(sample.phases.total_s for sample in self.samples)

    @property
    def counts(self) -> bool:
        """Whether its numbers count: it is OK and has samples."""
        return self.status is Status.OK and bool(self.samples)


@dataclass(frozen=True)
class Comparison:
    """The rows of one model on one machine; rows of the strategy ``eager`` are the baseline.

    Attributes:
        captures: Every capture, also those of strategies that then failed to load.
        shapes, deployed, workers: What was asked for beyond the ladder; empty where it was not.
    """

    model: str
    torch: str | None
    triton: str | None
    python: str
    machine: MachineFacts
    threads: int
    rows: tuple[Row, ...]
    captures: tuple[CaptureRow, ...] = ()
    shapes: tuple[ShapeRow, ...] = ()
    deployed: tuple[DeployedRow, ...] = ()
    workers: tuple[WorkersRow, ...] = ()

    def eager(self, temperature: str) -> Row | None:
        """Eager's row at a temperature, if there is one."""
        return self.row(EAGER, temperature)

    def row(self, strategy: str, temperature: str) -> Row | None:
        """A strategy's row at a temperature, if there is one."""
        found = (row for row in self.rows if (row.strategy, row.temperature) == (strategy, temperature))
        return next(found, None)

    @property
    def temperatures(self) -> tuple[str, ...]:
        """The temperatures that were asked for, coldest first."""
        return tuple(t for t in TEMPERATURES if any(row.temperature == t for row in self.rows))


def with_calls(comparison: Comparison) -> Comparison:
    """The comparison with later calls in every row: a later call is the same whatever the temperature of the load was.

    A row without pairs takes those of the same strategy's first row that has some and counts.
    """
    pairs = {row.strategy: row for row in reversed(comparison.rows) if row.counts and row.call_s}

    def filled(row: Row) -> Row:
        if row.call_s or not row.counts or row.strategy not in pairs:
            return row
        source = pairs[row.strategy]
        return replace(
            row,
            call_s=source.call_s,
            eager_call_s=source.eager_call_s,
            pairs_by_process=source.pairs_by_process,
        )

    return replace(comparison, rows=tuple(filled(row) for row in comparison.rows))


def to_json(comparison: Comparison, recommendation: Mapping[str, object] | None = None) -> dict[str, Any]:
    """The comparison in schema 1, for ``json.dumps``; times in seconds, sizes in bytes."""
    return {
        "schema": SCHEMA,
        "model": comparison.model,
        "torch": comparison.torch,
        "triton": comparison.triton,
        "python": comparison.python,
        "machine": dict(comparison.machine),
        "threads": comparison.threads,
        "recommendation": None if recommendation is None else dict(recommendation),
        "results": [_row_to_json(row) for row in comparison.rows],
        "captures": capture_json(comparison.captures),
        "shapes": shape_json(comparison.shapes),
        "deployed": deployed_json(comparison.deployed),
        "workers": workers_json(comparison.workers),
    }


def _row_to_json(row: Row) -> dict[str, Any]:
    return {
        "strategy": row.strategy,
        "temperature": row.temperature,
        "status": row.status.value,
        "reason": row.reason,
        "weights": row.weights,
        "capture_s": list(row.capture_s),
        "save_s": list(row.save_s),
        "artifact_bytes": row.artifact_bytes,
        "samples": [
            {
                "phases": asdict(sample.phases),
                "total_s": sample.phases.total_s,
                "cpu_s": sample.cpu_s,
                "peak_rss_bytes": sample.peak_rss_bytes,
                "compiler_processes": sample.compiler_processes,
            }
            for sample in row.samples
        ],
        "call_s": list(row.call_s),
        "eager_call_s": list(row.eager_call_s),
        "pairs_by_process": list(row.pairs_by_process),
    }
