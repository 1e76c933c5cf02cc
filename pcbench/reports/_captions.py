"""Runs described in a sentence: what they ran on, and what of that is unknown."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from pcbench.analysis.neighbours import UNKNOWN
from pcbench.analysis.records import Measurement, Run


def ran_on(run: Run) -> str:
    """Machine, torch, triton and threads of a run; ``unknown`` where it has no sidecar."""
    return f"{_hardware(run)}; {_build(run)}"


def _hardware(run: Run) -> str:
    machine = run.machine
    parts = [machine.name, machine.cpu, None if machine.num_cpu is None else f"{machine.num_cpu} CPUs", machine.gpu]
    return ", ".join(part for part in parts if part)


def _build(run: Run) -> str:
    context = run.context
    if context is None:
        return f"torch {UNKNOWN}: the result has no readable sidecar"
    threads = UNKNOWN if context.threads is None else str(context.threads)
    return f"torch {context.torch or UNKNOWN}, triton {context.triton or 'none'}, threads {threads}"


def all_ran_on(runs: Sequence[Run]) -> str:
    """What the runs ran on, newest first: each machine once, and under it each build once."""
    builds: dict[str, dict[str, None]] = {}
    for run in reversed(runs):
        builds.setdefault(_hardware(run), {})[_build(run)] = None
    return ". ".join(f"{hardware}; {'; '.join(found)}" for hardware, found in builds.items()) + "."


def sample_counts(
    measurements: Iterable[Measurement], one: str = "sample", several: str = "samples", which: str = "median"
) -> str:
    """``median of n = 3 to 7 samples``, over the measurements that have samples; ``plain numbers`` where none has."""
    counts = sorted({m.n for m in measurements if m.n is not None})
    return f"{which} of {counts_of(counts, one, several)}" if counts else "plain numbers"


def counts_of(counts: Sequence[int], one: str, several: str) -> str:
    """``n = 1 sample``, ``n = 3 to 7 samples``; counts in order, at least one."""
    span = f"{counts[0]}" if counts[0] == counts[-1] else f"{counts[0]} to {counts[-1]}"
    return f"n = {span} {one if counts[-1] == 1 else several}"
