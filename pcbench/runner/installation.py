"""What this installation is and can do, tried for real."""

from __future__ import annotations

from pcbench import hardware_counter, timing, torch_api, torch_facts
from pcbench.errors import UnavailableError
from pcbench.runner.stages import Emit, Request


def describe(request: Request, clock: timing.PhaseClock, emit: Emit) -> None:  # noqa: ARG001  # one signature for all requests
    """Emit versions and machine facts, what the hardware counters gave, and the torch names that are missing."""
    emit({"stage": "describe"})
    emit({"facts": torch_facts.facts(), "counters": _counters(), "missing": torch_api.missing()})


def _counters() -> str | None:
    """None when the CPU's instructions can be counted, else the reason why they cannot."""
    try:
        hardware_counter.require()
    except UnavailableError as error:
        return error.problem
    return None
