"""What ``pcbench compare --workers N`` measured: N processes that load at once, beside one alone."""

from __future__ import annotations

import statistics
from dataclasses import asdict, dataclass
from typing import Any

from pcbench.analysis.columns import aligned, grouped
from pcbench.analysis.quantities import digits, seconds, with_spread
from pcbench.analysis.spread import spread
from pcbench.samples import LoadSample
from pcbench.status import Status


@dataclass(frozen=True)
class WorkersRow:
    """One strategy at one temperature, by rounds of as many processes as there are workers.

    Attributes:
        workers: Processes that load at once, over one folder of compiler caches.
        rounds: The samples of each round, one per worker.
        alone_s: Starts of single processes, from the ladder of the same run.
    """

    strategy: str
    temperature: str
    workers: int
    status: Status
    reason: str | None = None
    rounds: tuple[tuple[LoadSample, ...], ...] = ()
    alone_s: tuple[float, ...] = ()

    @property
    def slowest_s(self) -> tuple[float, ...]:
        """Seconds of the slowest worker of a round, from its start to its first output, by phases as a single one's."""
        return tuple(max(sample.phases.total_s for sample in samples) for samples in self.rounds)

    @property
    def all_up_s(self) -> tuple[float, ...]:
        """Wall seconds until the last worker of a round has its first output, pcbench's own checks included.

        A round whose samples do not say is left out.
        """
        known = [[s.elapsed_s for s in samples if s.elapsed_s is not None] for samples in self.rounds]
        return tuple(max(elapsed) for elapsed in known if elapsed)

    @property
    def cpu_s(self) -> tuple[float, ...]:
        """CPU seconds of all workers of a round, until their first outputs."""
        return tuple(sum(sample.cpu_s for sample in samples) for samples in self.rounds)


def workers_lines(rows: tuple[WorkersRow, ...]) -> list[str]:
    """A line per strategy and temperature: one process alone, the slowest of the workers, and all of them."""
    workers = rows[0].workers if rows else 0
    header = ("strategy", "temperature", "one alone", f"slowest of {workers}", "ratio", "all up", "CPU of all")
    table: list[tuple[str, ...]] = [header]
    table += [_line(row) for row in rows if row.status is Status.OK and row.rounds]
    failed = [
        (f"{row.strategy} {row.temperature}", f"{row.status}: {row.reason}")
        for row in rows
        if row.status is not Status.OK
    ]
    return [
        f"{workers} processes at once, over one folder of compiler caches: start to first output",
        *aligned(table),
        *grouped(failed),
        "all up: wall time until the last has its first output, pcbench's own checks of the artifact included",
    ]


def workers_json(rows: tuple[WorkersRow, ...]) -> list[dict[str, Any]]:
    """The rows, for ``json.dumps``."""
    return [
        asdict(row) | {"slowest_s": list(row.slowest_s), "all_up_s": list(row.all_up_s), "cpu_s": list(row.cpu_s)}
        for row in rows
    ]


def _line(row: WorkersRow) -> tuple[str, ...]:
    alone, slowest = spread(row.alone_s), spread(row.slowest_s)
    assert slowest is not None
    return (
        row.strategy,
        row.temperature,
        "-" if alone is None else with_spread(alone, "seconds"),
        with_spread(slowest, "seconds"),
        "-" if alone is None else f"{digits(slowest.median / alone.median)} x",
        seconds(statistics.median(row.all_up_s)) if row.all_up_s else "-",
        seconds(statistics.median(row.cpu_s)),
    )
