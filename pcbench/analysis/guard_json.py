"""What ``pcbench guards`` found out, as JSON: samples and counts, no medians."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from pcbench.analysis.guard_report import SCHEMA, GuardReport


def to_json(reports: Sequence[GuardReport]) -> Mapping[str, object]:
    """One report as an object; several as a list of such objects under ``reports``."""
    if len(reports) == 1:
        return {"schema": SCHEMA, **_told(reports[0])}
    return {"schema": SCHEMA, "reports": [_told(report) for report in reports]}


def _told(report: GuardReport) -> dict[str, object]:
    """A report; ``census`` is the entries with their counts, and what was not measured is left out."""
    told: dict[str, object] = {"target": report.target, "build": report.build}
    counted = report.counted
    if counted is not None:
        told |= {
            "torch": counted.torch,
            "torch_git": counted.torch_git,
            "census": dict(counted.census.counts),
            "unknown": dict(counted.census.unknown),
            "differing": dict(counted.differing),
            "places": {source: asdict(place) for source, place in counted.census.places.items()},
        }
    parts: dict[str, Sequence[Any]] = {
        "cost": report.costs,
        "sweep": report.sweeps,
        "subtrees": report.subtrees,
        "remedies": report.remedies,
    }
    told |= {name: [asdict(process) for process in taken] for name, taken in parts.items() if taken}
    if report.instructions:
        told["instructions"] = {"by": report.counted_by, "per check": dict(report.instructions)}
    return told | ({"problems": dict(report.problems)} if report.problems else {})
