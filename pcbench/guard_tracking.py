"""The asv benchmarks of guards: census, cost, slopes of families, instructions. Needs no torch.

Every process gives what several cases need. A whole census goes into the result's sidecar.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from typing import Any

from pcbench import checkout, discovery, guard_families, guard_sampling, instruction_counting
from pcbench.asking import Setting
from pcbench.errors import PcbenchError
from pcbench.guard_samples import DIFFERENCES, MEASURES, Cost, Sweep, read_census, read_cost, read_sweep, seconds_of
from pcbench.sample_store import Absent
from pcbench.slopes import slope
from pcbench.status import Status
from pcbench.taken_once import taken_once
from pcbench.tracked import AsvValue, one_number, samples_of, tell

SLOPES = {"per guard": "per_guard_s", "per item": "per_item_s", "intercept": "intercept_s"}
"""What is tracked of a family's line, and the field of :class:`pcbench.slopes.Slope` that has it."""

_SIZED = " at "
_LIMIT_S = 1200.0  # a family is compiled at several hundred of its guards

SEEDED_BY_PAIR = True
"""With PCBENCH_ONE_SAMPLE, a process of a pair has the pair's hash seed; the suite asks whether a commit knows this."""


def guard_count(target: str, entry: str) -> float:
    """An entry of the census of a target's guards, such as ``guards in Python``; 0 where the census has none.

    Two processes with different hash seeds take the census, once for all of its entries; an entry in which they differ
    fails.
    """

    def measure() -> list[float]:
        kept = taken_once(f"guards-census-{target}", entry, lambda: _agreed(target, entry))
        if entry in kept["differing"]:
            raise PcbenchError(kept["differing"][entry])
        census = read_census(kept["census"])
        if entry in census.unknown:
            raise Absent(Status.UNAVAILABLE, census.unknown[entry])
        return [float(census.counts.get(entry, 0))]

    return one_number((target, entry), measure)


def guard_seconds(target: str, measure: str, count: int = 5) -> AsvValue:
    """Seconds per call of a measure, or of a difference of two; one sample a process, of ``count``.

    Of a measure it is the least of the process's blocks, of a difference the median over its pairs.
    """

    def measured() -> list[float]:
        _refuse_unknown("measure of guards", measure, (*MEASURES, *DIFFERENCES))
        _refuse_unknown_target(target)
        kept = taken_once(f"guards-cost-{target}", measure, lambda: _of_processes(guard_sampling.cost, target, count))
        return [_statistic(read_cost(stored), measure) for stored in kept]

    return samples_of((target, measure), measured)


def guard_slope_seconds(family: str, part: str, sizes: Sequence[int], count: int = 5) -> AsvValue:
    """Seconds that one guard of a family adds to a check (``per guard``), or one size (``per item``), or ``intercept``.

    One sample a process, of ``count``; each times all sizes.
    """

    def measure() -> list[float]:
        discovery.check_name("part of a slope", part, tuple(SLOPES))
        _refuse_unknown("guard family", family, guard_families.names())
        sweep = functools.partial(guard_sampling.sweep, sizes=sizes)
        kept = taken_once(f"guards-sweep-{family}", part, lambda: _of_processes(sweep, family, count))
        return [float(getattr(slope(read_sweep(stored)), SLOPES[part])) for stored in kept]

    return samples_of((family, part), measure)


def guard_instructions(target: str, targets: Sequence[str]) -> float:
    """Instructions per check of a target, the least of its compilations; one process counts those of all ``targets``.

    Args:
        target: One of them: a model, or a family with its size, as ``tensors at 64``.
    """

    def measure() -> list[float]:
        discovery.check_name("counted target", target, tuple(targets))
        _refuse_unknown_target(target.partition(_SIZED)[0])
        kept = taken_once("guards-instructions", target, lambda: _instructions(targets))
        if target in kept["unavailable"]:
            raise Absent(Status.UNAVAILABLE, kept["unavailable"][target])
        if target in kept["failed"]:
            raise Absent("FAILED", kept["failed"][target])
        return [float(min(kept["values"][target]))]

    return one_number((target,), measure)


def _agreed(target: str, entry: str) -> dict[str, Any]:
    """The census that two processes agree on, also for the sidecar; entries in which they differ are unknown there."""
    _refuse_unknown_target(target)
    counted = guard_sampling.census(_setting(target))
    differing = {
        name: f"two processes with different hash seeds do not agree on {name!r}: {one} and {other}"
        for name, (one, other) in counted.differing.items()
        if name not in counted.census.places
    }
    agreed = {name: count for name, count in counted.census.counts.items() if name not in differing}
    census = asdict(replace(counted.census, counts=agreed, unknown={**counted.census.unknown, **differing}))
    tell((target, entry), "census", {"target": target, **census})
    return {"census": census, "differing": differing}


def _instructions(targets: Sequence[str]) -> dict[str, Any]:
    sized = {}
    for target in targets:
        name, _, size = target.partition(_SIZED)
        if guard_families.is_target(name):
            sized[target] = (name, int(size or 1))
    setting = replace(_setting(""), timeout_s=instruction_counting.limit_s(len(sized)))
    counted = instruction_counting.counted(tuple(sized.values()), setting)
    told = {"values": counted.values, "unavailable": counted.unavailable, "failed": counted.failed}
    return {kind: {t: by[key] for t, key in sized.items() if key in by} for kind, by in told.items()}


def _statistic(cost: Cost, measure: str) -> float:
    """A process's number, as :func:`pcbench.guard_samples.seconds_of` takes it.

    Raises:
        Absent: The process says why it has none.
    """
    for part in DIFFERENCES.get(measure, (measure,)):
        if part in cost.unavailable:
            raise Absent(Status.UNAVAILABLE, cost.unavailable[part])
    found = seconds_of(cost, measure)
    if found is None:
        raise PcbenchError(f"the process says nothing of {measure!r}")
    return found


def _setting(target: str, seed: int | None = None) -> Setting:
    env = {} if seed is None else {"PYTHONHASHSEED": f"{seed}"}
    return Setting(target, timeout_s=_LIMIT_S, cwd=checkout.root(), env=env)


def _of_processes(take: Callable[[Setting], Cost | Sweep], target: str, count: int) -> list[dict[str, Any]]:
    """What so many processes give; the n-th always has the same hash seed, or all have this process's, in a pair."""
    if os.environ.get("PCBENCH_ONE_SAMPLE"):
        return [asdict(take(_setting(target))) for _ in range(count)]
    return [asdict(take(_setting(target, seed))) for seed in range(1, count + 1)]


def _refuse_unknown_target(target: str) -> None:
    if not guard_families.is_target(target):
        raise Absent(Status.UNAVAILABLE, f"this commit has neither a model nor a guard family {target}")


def _refuse_unknown(kind: str, name: str, known: Sequence[str]) -> None:
    if name not in known:
        raise Absent(Status.UNAVAILABLE, f"this commit has no {kind} {name!r}")
