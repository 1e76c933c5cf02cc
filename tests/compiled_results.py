"""Results folders with what the compiler made of a kernel, written for a test, and the gate's verdicts on them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from gated import PLACE, accept, judged
from results_folder import Folder, commit_of

from pcbench.analysis.baseline import Baseline, accept_all
from pcbench.analysis.findings import Finding, Judgement
from pcbench.analysis.policy import read_policy
from pcbench.analysis.records import Verdict
from pcbench.codegen_numbers import QUANTITIES, number_of

BENCHMARKS = {what: f"kernels.track_{what.replace(' ', '_')}" for what in QUANTITIES}
SECONDS = "kernels.track_seconds"
WORSE = {"registers": "any", "instructions": "any"}  # of the others more is worse
SUITE = {
    name: {
        "unit": "" if what == "inverse occupancy" else what,
        "worse": WORSE.get(what, "up"),
        "kind": "count",
        "codegen": what,
    }
    for what, name in BENCHMARKS.items()
} | {SECONDS: {"unit": "seconds"}}
PARAMS = "(softmax, sm_90)"
Told = Sequence[Mapping[str, Any]]


class Gate:
    """Results of commits that compiled a kernel, and the verdicts on the last beside the first."""

    def __init__(self, root: Path, suite: Mapping[str, Mapping[str, str]] = SUITE) -> None:
        usual = {"param_names": ["kernel", "target"], "type": "track"}
        self.folder = Folder(root / "results", {name: {**usual, **fields} for name, fields in suite.items()})
        self.folder.begin()
        accept(self.folder, accept_all(Baseline(), PLACE, commit_of(1), "2026-11-01", "first"))

    def add(self, number: int, rows: Told, *, sidecar: bool = True, seconds: float = 1.0, **context: Any) -> None:
        """A result whose numbers are those of its rows; None where one did not compile."""
        metrics = [row["metrics"] for row in rows]
        values: dict[str, Any] = {SECONDS + PARAMS: [seconds, 1.01 * seconds, 1.02 * seconds]}
        reasons = [row["reason"] for row in rows if row["reason"]]
        lines: list[dict[str, Any]] = []
        for what, name in BENCHMARKS.items():
            value = None if reasons else number_of(what, metrics)
            values[name + PARAMS] = None if value == float("inf") else value
            if values[name + PARAMS] is None:
                why = reasons[0] if reasons else "it fits no multiprocessor"
                lines.append(
                    {"case": name + PARAMS, "status": "COMPILE_FAILED" if reasons else "FAILED", "reason": why}
                )
        if sidecar:
            about = {"kernel": "softmax", "target": "sm_90", "rows": list(rows)}
            lines.append({"case": BENCHMARKS["registers"] + PARAMS, "codegen": about})
        self.folder.add(number, values, sidecar=lines, **context)

    def after(self, before: Told, now: Told, **table: Any) -> Judgement:
        """The verdicts on a second commit; ``table`` is of the policy."""
        self.add(1, before)
        self.add(2, now)
        return judged(self.folder, read_policy(table))


def of(judgement: Judgement, what: str) -> Finding:
    """The verdict on a number, or on the ``seconds``."""
    name = SECONDS if what == "seconds" else BENCHMARKS[what]
    (found,) = [finding for finding in judgement.findings if finding.case.benchmark == name]
    return found


def others(judgement: Judgement, what: str) -> set[Verdict]:
    """The verdicts on the numbers but one, and on the seconds."""
    return {one.verdict for one in judgement.findings if one.case.benchmark != BENCHMARKS[what]}
