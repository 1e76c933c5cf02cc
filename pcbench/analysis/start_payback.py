"""After how many starts of a process a capture has paid for itself by the start alone, out of stored numbers."""

from __future__ import annotations

import math

from pcbench.analysis.quantities import counted
from pcbench.analysis.records import Case, Measurement, Run
from pcbench.samples import EAGER

_CAPTURE, _LOAD = "Capture.track_seconds", "Load.track_first_output"


def starts_to_pay(run: Run, model: str, strategy: str) -> float | None:
    """Seconds of the cold capture / seconds by which a cold start is shorter than eager's; infinite for never.

    Calls are not part of it: asv's benchmarks do not track them. None where one of the three was not measured.
    """
    capture = _measured(run, _CAPTURE, model, strategy)
    start, eager = (_measured(run, _LOAD, model, name) for name in (strategy, EAGER))
    if capture is None or start is None or eager is None:
        return None
    gain = eager.value - start.value
    return capture.value / gain if gain > 0 else math.inf


def payback_words(starts: float | None) -> str:
    """``after 12 cold starts``, ``not by its start``, or ``-`` where it is unknown."""
    if starts is None:
        return "-"
    return "not by its start" if math.isinf(starts) else f"after {counted(math.ceil(starts), 'cold start')}"


def _measured(run: Run, benchmark: str, model: str, strategy: str) -> Measurement | None:
    module = {_CAPTURE: "bench_capture", _LOAD: "bench_load"}[benchmark]
    params = (("model", model), ("strategy", strategy), ("temperature", "cold"))
    return run.measurements.get(Case(f"{module}.{benchmark}", params))
