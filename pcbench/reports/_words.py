"""Cases in words: what was measured, then the values of its parameters."""

from __future__ import annotations

from pcbench.analysis.records import Case

_QUANTITIES = {
    "Load.track_first_output": "time to the first output",
    "Load.track_peak_rss": "peak memory",
    "Artifact.track_bytes": "artifact size",
    "Capture.track_seconds": "capture time",
    "Memory.track_peak_rss": "peak memory of the capture",
    "Phases.track_seconds": "capture time by phase",
    "Counts.track_count": "capture count",
    "Census.track_count": "guard census",
    "Cost.track_seconds": "guard cost",
    "Slope.track_seconds": "guard family",
    "Instructions.track_count": "instructions of a guard check",
}

_SUBJECTS = {"bench_capture": "capture"}


def case_words(case: Case) -> str:
    """``peak memory, mlp, hot load``; a benchmark that has no words of its own is named as asv names it."""
    module, _, name = case.benchmark.partition(".")
    subject = _SUBJECTS.get(module, name.partition(".")[0].lower())
    values = [f"{value} {subject}" if key == "temperature" else value for key, value in case.params]
    return ", ".join([_QUANTITIES.get(name, name or case.benchmark), *values])
