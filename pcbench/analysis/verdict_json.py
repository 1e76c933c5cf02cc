"""A judgement as JSON for programs: every finding with all its numbers."""

from __future__ import annotations

import json
import math
from typing import Any

from pcbench.analysis.findings import Finding, Judgement
from pcbench.analysis.records import Case
from pcbench.analysis.verdict_groups import next_steps, outcome, tally

SCHEMA = 1


def as_json(judgement: Judgement) -> str:
    """An object of schema 1, in strict JSON: a number that is not finite is null.

    ``exit_code``, ``outcome`` and ``next`` (texts), ``baseline``, ``candidate``, ``notes``, ``counts`` (by verdict),
    ``findings`` worst first (``case``, ``benchmark``, ``params``, ``machine``, ``environment``, ``verdict``,
    ``reason``, ``rule``, ``against``, ``paired``, ``unit``, ``baseline``, ``candidate``, ``ratio``, ``confirm``) and
    ``unavailable`` (``case``, ``benchmark``, ``params``, ``reason``). Keys are added; none changes its meaning without
    another schema.
    """
    told = {
        "schema": SCHEMA,
        "exit_code": judgement.exit_code,
        "outcome": outcome(judgement),
        "next": next_steps(judgement),
        "baseline": judgement.baseline,
        "candidate": judgement.candidate,
        "notes": judgement.notes,
        "counts": tally(judgement.findings),
        "findings": [_finding(one) for one in judgement.findings],
        "unavailable": [_case(case) | {"reason": reason} for case, reason in judgement.unavailable],
    }
    return json.dumps(told, allow_nan=False)


def _case(case: Case) -> dict[str, Any]:
    return {"case": str(case), "benchmark": case.benchmark, "params": dict(case.params)}


def _finding(finding: Finding) -> dict[str, Any]:
    return _case(finding.case) | {
        "machine": finding.place.machine,
        "environment": finding.place.environment,
        "verdict": finding.verdict,
        "reason": finding.reason,
        "rule": finding.rule,
        "against": finding.against,
        "paired": finding.paired,
        "unit": finding.unit,
        "baseline": _finite(finding.baseline),
        "candidate": _finite(finding.candidate),
        "ratio": _finite(finding.ratio),
        "confirm": finding.confirm,
    }


def _finite(value: float | None) -> float | None:
    return value if value is not None and math.isfinite(value) else None
