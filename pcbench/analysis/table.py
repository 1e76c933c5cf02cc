"""A comparison as a table for people, and as lines of a terminal."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import asdict

from pcbench.analysis.breakeven import Gain, break_even, gain, pays_back
from pcbench.analysis.comparison import Comparison, Row, with_calls
from pcbench.analysis.quantities import counted, seconds, size, with_spread
from pcbench.analysis.recommendation import CALLS_PER_START, MEANING, eager_call
from pcbench.analysis.spread import spread
from pcbench.samples import EAGER, LoadSample
from pcbench.status import Status

UNKNOWN = "-"

_WIDEST = 165
_OPTIONAL = ("weights", "longest phase")

PHASE_LABELS = {
    "interpreter_s": "interpreter",
    "import_torch_s": "import torch",
    "import_other_s": "other imports",
    "model_s": "model",
    "load_s": "load",
    "first_call_s": "first call",
}
"""The phases of a start in their order, as people read them."""


def table(comparison: Comparison, *, calls_per_start: int = CALLS_PER_START) -> list[tuple[str, ...]]:
    """The header, then a line per row in order of temperature and time; ``-`` is what was not measured.

    The last column is the reason of a row whose numbers do not count, empty otherwise.
    """
    comparison = with_calls(comparison)
    header = (
        "strategy",
        "temperature",
        "status",
        "weights",
        "start to first output",
        "longest phase",
        "call",
        "break-even",
        "capture",
        "paid back in",
        "artifact",
        "peak RSS",
        "compiler runs",
        "reason",
    )
    ordered = [row for t in comparison.temperatures for row in by_start(comparison, t)]
    eager_call_s = eager_call(comparison)
    lines = (_line(row, comparison.eager(row.temperature), eager_call_s, calls_per_start) for row in ordered)
    return [header, *lines]


def by_start(comparison: Comparison, temperature: str) -> list[Row]:
    """A temperature's rows: eager, then the strategies that count, fastest start first, then the others by name."""
    rows = [row for row in comparison.rows if row.temperature == temperature]
    return sorted(
        rows,
        key=lambda row: (
            row.strategy != EAGER,
            not row.counts,
            statistics.median(row.start_s) if row.counts else 0.0,
            row.strategy,
        ),
    )


def phase_medians(samples: Sequence[LoadSample]) -> dict[str, float]:
    """The median seconds of each phase, in their order; there must be a sample."""
    return {
        phase: statistics.median(getattr(sample.phases, phase) for sample in samples)
        for phase in asdict(samples[0].phases)
    }


def text_lines(comparison: Comparison, *, calls_per_start: int = CALLS_PER_START) -> list[str]:
    """The table for a terminal, a block per temperature; a row whose numbers do not count has its status and reason.

    Where the lines would be wider than 165 characters the weights are left out, and then the longest phase.
    """
    header, *lines = table(comparison, calls_per_start=calls_per_start)
    hidden = {"temperature", "status", "reason"}
    status, reason, temperature = (header.index(name) for name in ("status", "reason", "temperature"))
    counting = [line for line in (header, *lines) if line is header or line[status] == Status.OK]
    widths = [max(len(line[i]) for line in counting) for i in range(len(header))]
    widths[0] = max(len(line[0]) for line in (header, *lines))
    for optional in _OPTIONAL:
        shown = [i for i, column in enumerate(header) if column not in hidden]
        if sum(widths[i] + 2 for i in shown) - 2 <= _WIDEST:
            break
        hidden.add(optional)
    shown = [i for i, column in enumerate(header) if column not in hidden]
    out = ["  ".join(header[i].ljust(widths[i]) for i in shown).rstrip()]
    for measured in comparison.temperatures:
        out.append(f"{measured}: {MEANING[measured]}")
        for line in (line for line in lines if line[temperature] == measured):
            if line[status] == Status.OK:
                out.append("  ".join(line[i].ljust(widths[i]) for i in shown).rstrip())
            else:
                out.append(f"{line[0].ljust(widths[0])}  {line[status]}: {line[reason]}")
    return out


def _line(row: Row, eager: Row | None, eager_call_s: float, calls_per_start: int) -> tuple[str, ...]:
    start, saved = spread(row.start_s), gain(row)
    is_eager = row.strategy == EAGER
    even = break_even(row, eager)
    captured = statistics.median(row.capture_s) + statistics.median(row.save_s or (0.0,)) if row.capture_s else None
    peaks = [sample.peak_rss_bytes for sample in row.samples if sample.peak_rss_bytes is not None]
    return (
        row.strategy,
        row.temperature,
        row.status.value,
        row.weights or UNKNOWN,
        UNKNOWN if start is None else with_spread(start, "seconds"),
        _longest_phase(row.samples),
        _call(row, saved, eager_call_s),
        UNKNOWN if even is None or is_eager else str(even),
        UNKNOWN if captured is None else seconds(captured),
        UNKNOWN if is_eager else _starts(pays_back(row, eager, calls_per_start)),
        UNKNOWN if row.artifact_bytes is None else size(row.artifact_bytes),
        size(statistics.median(peaks)) if peaks else UNKNOWN,
        f"{max(s.compiler_processes for s in row.samples)}" if row.samples else UNKNOWN,
        row.reason or "",
    )


def _call(row: Row, saved: Gain | None, eager_call_s: float) -> str:
    """Seconds per later call, beside eager's calls that were timed in turn with it."""
    if row.strategy == EAGER:
        return seconds(eager_call_s) if row.counts and eager_call_s else UNKNOWN
    if saved is None:
        return UNKNOWN
    spread = "" if saved.n == 1 else f" ({saved.ratio_low:.2f}-{saved.ratio_high:.2f})"
    return f"{seconds(statistics.median(row.call_s))}, {saved.ratio:.2f} x eager{spread}"


def _longest_phase(samples: Sequence[LoadSample]) -> str:
    if not samples:
        return UNKNOWN
    phase, value = max(phase_medians(samples).items(), key=lambda item: item[1])
    return f"{PHASE_LABELS[phase]} {seconds(value)}"


def _starts(starts: float | None) -> str:
    if starts is None:
        return UNKNOWN
    if math.isinf(starts):
        return "never"
    return counted(math.ceil(starts), "start")
