"""What ``pcbench compare`` tells of captures: seconds by phase and counts, as a table and as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from pcbench.analysis.columns import aligned, grouped
from pcbench.analysis.quantities import counted, digits, seconds, size
from pcbench.samples import CAPTURE_COUNTS, CAPTURE_PHASES, WORSE_BY_COUNT, Capture, CaptureCounts
from pcbench.status import Status

UNKNOWN = "?"

PHASE_LABELS = {
    "dynamo_s": "Dynamo",
    "aot_autograd_s": "AOTAutograd",
    "inductor_s": "Inductor",
    "compile_s": "compilers",
    "serialise_s": "serialise",
    "other_s": "other",
}
"""The phases of a capture in their order, as people read them."""

OTHER_IS = "other is what torch does not time: make_fx, torch.export, imports on the way"

_COUNT_LABELS = {
    "graphs": "graphs",
    "graph_breaks": "breaks",
    "recompiles": "recompiles",
    "fx_nodes": "FX nodes",
    "generated_kernels": "kernels",
    "compiler_builds": "builds",
}
_WHAT = {"hits": ("hit", "hits"), "misses": ("miss", "misses"), "bypasses": ("bypass", "bypasses")}


@dataclass(frozen=True)
class CaptureRow:
    """One capture: ``cold``, from empty compiler caches, or ``warm``, from those that the cold one left."""

    strategy: str
    temperature: str
    capture: Capture

    @property
    def told(self) -> bool:
        """Whether it has phases and counts to show."""
        return self.capture.status is Status.OK and None not in (self.capture.phases, self.capture.counts)


def capture_lines(rows: Sequence[CaptureRow]) -> list[str]:
    """A line per capture that succeeded; ``?`` is what this torch does not tell, with the reason below."""
    told = [row for row in rows if row.told]
    header = ("strategy", "capture", "in all", *PHASE_LABELS.values(), "peak RSS", *_COUNT_LABELS.values(), "caches")
    why = [(row.strategy, f"{name}: {reason}") for row in told for name, reason in _unknown(row.capture)]
    why += [
        (f"{row.strategy} {row.temperature}", f"{row.capture.status}: {row.capture.reason}")
        for row in rows
        if row.capture.status is not Status.OK and row.temperature == "warm"  # the ladder tells of a cold one
    ]
    return [
        f"captures by phase, with save, by torch's own timers, one capture each; {OTHER_IS}",
        *aligned([header, *map(_line, told)]),
        *grouped(list(dict.fromkeys(why))),
    ]


def capture_json(rows: Sequence[CaptureRow]) -> list[dict[str, Any]]:
    """The rows, for ``json.dumps``; times in seconds, and beside the counts the direction in which each is worse."""
    found = []
    for row in rows:
        capture = asdict(row.capture)
        if capture["counts"] is not None:
            capture["counts"]["worse"] = dict(WORSE_BY_COUNT)
        kept = ("status", "reason", "capture_s", "save_s", "cpu_s", "peak_rss_bytes", "phases", "counts")
        found.append({"strategy": row.strategy, "temperature": row.temperature} | {key: capture[key] for key in kept})
    return found


def _unknown(capture: Capture) -> list[tuple[str, str]]:
    parts = (capture.phases, capture.counts)
    return [pair for part in parts if part is not None for pair in part.unknown.items()]


def _line(row: CaptureRow) -> tuple[str, ...]:
    capture = row.capture
    phases = [getattr(capture.phases, phase) for phase in CAPTURE_PHASES]
    counts = [getattr(capture.counts, count) for count in _COUNT_LABELS]
    return (
        row.strategy,
        row.temperature,
        seconds(capture.total_s),
        *(UNKNOWN if value is None else seconds(value) if value else "0" for value in phases),
        UNKNOWN if capture.peak_rss_bytes is None else size(capture.peak_rss_bytes),
        *(UNKNOWN if value is None else digits(value) for value in counts),
        "" if capture.counts is None else _caches(capture.counts),
    )


def _caches(counts: CaptureCounts) -> str:
    """What each cache was asked, such as ``fxgraph 1 miss``; ``not asked`` where none was."""
    said = []
    for name in CAPTURE_COUNTS:
        cache, _, what = name.rpartition("_")
        if what not in _WHAT:
            continue
        one, several = _WHAT[what]
        value = getattr(counts, name)
        if value is None:
            said.append(f"{cache} {several} {UNKNOWN}")
        elif value:
            said.append(f"{cache} {counted(value, one, several)}")
    return ", ".join(said) or "not asked"
