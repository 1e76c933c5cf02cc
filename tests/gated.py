"""A results folder with an accepted baseline, and its verdicts."""

from __future__ import annotations

from pathlib import Path

from results_folder import ENVIRONMENT, Folder, commit_of

from pcbench.analysis.baseline import Baseline, accept_all, written
from pcbench.analysis.findings import Finding, Judgement
from pcbench.analysis.gating import Wanted, gate
from pcbench.analysis.policy import Policy

PLACE = f"{ENVIRONMENT} on lab"
TIMES = [1.00, 1.01, 1.02]
GOOD = {
    "guards.Census.track_count(mlp, guards)": 46,
    "capture.track_breaks": 0,
    "capture.track_hits": 3,
    "load.track_bytes": 100_000,
    "load.track_peak": [1e8, 1.001e8, 1.002e8],
    "guards.track_instructions": 20_000,
    "load.track_first(mlp)": TIMES,
}


def begun(root: Path) -> Folder:
    """Results of commit 1, GOOD, which is the baseline."""
    made = Folder(root / "results")
    made.begin()
    made.add(1, GOOD)
    accept(made, accept_all(Baseline(), PLACE, commit_of(1), "2026-11-01", "first"))
    return made


def accept(folder: Folder, baseline: Baseline) -> None:
    (folder.root / "BASELINE").write_text(written(baseline))


def judged(folder: Folder, policy: Policy | None = None, **wanted: object) -> Judgement:
    return gate(Wanted(folder.root, **wanted), policy or Policy())  # type: ignore[arg-type]


def verdict_of(judgement: Judgement, case: str) -> Finding:
    (found,) = [finding for finding in judgement.findings if str(finding.case) == case]
    return found


def after(folder: Folder, changed: dict[str, object]) -> Judgement:
    folder.add(2, {**GOOD, **changed})
    return judged(folder)
