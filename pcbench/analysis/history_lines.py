"""Steps as people read them, and as JSON."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import asdict

from pcbench.analysis.columns import aligned
from pcbench.analysis.history import Change
from pcbench.analysis.kernel_cuts import Floats
from pcbench.analysis.nights import NightSeries, stretches_of
from pcbench.analysis.policy import Policy
from pcbench.analysis.quantities import counted, quantity

_BARS = "▁▂▃▄▅▆▇█"
_GAP = " "
_WIDEST = 100
_HEADER = ("date", "", "ratio (95 %)", "before", "after", "commits", "case")


def table(found: Sequence[Change], *, most: int | None) -> list[str]:
    """A header and a line per step, up to ``most``; with the place where there are several."""
    if not found:
        return []
    several = len({change.series.stretch.place for change in found}) > 1
    shown = found[:most]
    rows = [_HEADER, *(_row(change, several=several) for change in shown)]
    lines = aligned(rows)
    if len(shown) < len(found):
        lines.append(f"and {counted(len(found) - len(shown), 'more step')}: --all lists them")
    return lines


def _row(change: Change, *, several: bool) -> tuple[str, ...]:
    step, series = change.step, change.series
    if step.ratio is None:
        ratio = "-"
    elif step.low is None or step.high is None or step.low == step.high:
        ratio = f"{step.ratio:.3f}"
    else:
        ratio = f"{step.ratio:.3f} ({step.low:.3f}-{step.high:.3f})"
    return (
        f"{change.first.date:%Y-%m-%d}",
        change.way,
        ratio,
        quantity(step.before, series.unit),
        quantity(step.after, series.unit),
        f"{change.last.commit[:8]}..{change.first.commit[:8]}",
        f"{series.case} ({series.stretch.place})" if several else str(series.case),
    )


def sparkline(values: Floats) -> str:
    """The newest hundred nights, one sign each, from least to most; a space where there is no number."""
    shown = values[-_WIDEST:]
    finite = [float(value) for value in shown if math.isfinite(value)]
    if not finite:
        return ""
    low, high = min(finite), max(finite)
    scale = (len(_BARS) - 1) / (high - low) if high > low else 0.0
    return "".join(_BARS[round((value - low) * scale)] if math.isfinite(value) else _GAP for value in shown)


def overview(series: NightSeries) -> list[str]:
    """A case at a place: over how many nights, in which range, and how it ran."""
    finite = series.values[[math.isfinite(value) for value in series.values]]
    dates = f"{series.stretch.nights[0].date:%Y-%m-%d} to {series.stretch.nights[-1].date:%Y-%m-%d}"
    low, high = (quantity(float(end), series.unit) for end in (finite.min(), finite.max()))
    return [
        f"{series.case} at {series.stretch.place}: {counted(series.measured, 'night')}, {dates}, {low} to {high}",
        f"  {sparkline(series.values)}",
    ]


def cut_lines(series: Sequence[NightSeries]) -> list[str]:
    """Where series were cut, and what could not be placed."""
    lines, seen = [], set()
    for stretch in stretches_of(series):
        if stretch.why is not None:
            first = stretch.nights[0]
            lines.append(f"cut at {first.commit[:8]} ({first.date:%Y-%m-%d}, {stretch.place}): {stretch.why}")
        if stretch.unknown and stretch.place not in seen:
            seen.add(stretch.place)
            lines.append(
                f"{counted(stretch.unknown, 'run')} at {stretch.place} left out: no sidecar says what they ran on"
            )
    return lines


def as_json(
    found: Sequence[Change], series: Sequence[NightSeries], policy: Policy, problems: Sequence[str], *, alert: bool
) -> str:
    """One object: the steps, what they were looked for in, and the policy."""
    numbers = {name: value for name, value in asdict(policy).items() if name.startswith(("run_", "step_", "alert_"))}
    told = {
        "alert": alert,
        "series": len(series),
        "nights": sum(one.measured for one in series),
        "steps": [_entry(change) for change in found],
        "cuts": [
            {"place": _place(stretch.place), "commit": stretch.nights[0].commit, "why": stretch.why}
            for stretch in stretches_of(series)
            if stretch.why is not None
        ],
        "policy": numbers,
        "problems": list(problems),
    }
    return json.dumps(told, indent=2)


def _entry(change: Change) -> dict[str, object]:
    step = change.step
    return {
        "case": str(change.series.case),
        "place": _place(change.series.stretch.place),
        "unit": change.series.unit,
        "way": change.way,
        "before": step.before,
        "after": step.after,
        "ratio": step.ratio,
        "low": step.low,
        "high": step.high,
        "last_before": {"commit": change.last.commit, "date": change.last.date.isoformat()},
        "first_after": {"commit": change.first.commit, "date": change.first.date.isoformat()},
        "rule": change.rule,
    }


def _place(place: object) -> str:
    return str(place)
