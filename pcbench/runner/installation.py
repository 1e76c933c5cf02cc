"""What this installation is and can do, tried for real."""

from __future__ import annotations

from pcbench import timing, torch_api, torch_facts
from pcbench.errors import UnavailableError
from pcbench.runner.stages import Emit, Request

_UNCOUNTED = 2**64 - 1


def describe(request: Request, clock: timing.PhaseClock, emit: Emit) -> None:  # noqa: ARG001  # one signature for all requests
    """Emit versions and machine facts, what the hardware counters gave, and the torch names that are missing."""
    emit({"stage": "describe"})
    emit({"facts": torch_facts.facts(), "counters": _counters(), "missing": torch_api.missing()})


def _counters() -> str | None:
    """None when the instruction counter counts a loop, else the reason why it does not.

    torch's counter does not raise where there is none: it gives -1, and then 2**64 - 1 instructions.
    """
    try:
        counter = torch_api.get("instruction_counter")
    except UnavailableError as error:
        return error.problem
    counts = []
    for turns in (1_000, 100_000):
        started = counter.start()
        if started == -1:
            return "the kernel opens no hardware instruction counter here"
        for _ in range(turns):
            pass
        counts.append(counter.end(started))
    if _UNCOUNTED in counts or not counts[1] > 10 * counts[0] > 0:
        return f"the hardware instruction counter opens but does not count (two loops gave {counts[0]} and {counts[1]})"
    return None
