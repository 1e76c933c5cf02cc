"""The stages of a night: what the end of the budget means, and what asv and the sidecars are told."""

from __future__ import annotations

import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from results_folder import ENVIRONMENT, Folder, commit_of

from pcbench.analysis.findings import Finding, Judgement
from pcbench.analysis.policy import Policy
from pcbench.analysis.records import Case, Verdict
from pcbench.analysis.series import Place
from pcbench.commands import _night_locating, _night_stages
from pcbench.commands._asv_process import Ending
from pcbench.commands._night_ground import Ground
from pcbench.commands._night_stages import Working
from pcbench.commands._night_state import Night, begin
from pcbench.errors import PcbenchError

ASKED = {"profile": "quick"}
DONE, CUT = Ending(0, False, 1, 1), Ending(0, True, 1, 2, out_of_time=True)


@pytest.fixture
def working(tmp_path: Path) -> Working:
    """A night that has planned three commits, of which the newest has a result."""
    folder = Folder(tmp_path / "results")
    folder.begin()
    folder.add(3, {"capture.track_breaks": 1})
    conf = SimpleNamespace(env_dir=".asv/env", shared_pythons={})
    ground = Ground(tmp_path, folder.root, tmp_path / ".asv", "lab", "quick", Policy(), conf)
    night = Night(ASKED, tuple(map(commit_of, (3, 2, 1))), ("plan",), ("load.track_first",), ("load.track_peak",))
    return Working(ground, night, 3600.0, time.monotonic() + 3600.0, lambda line: None, [])


def ending(monkeypatch: pytest.MonkeyPatch, **endings: Ending) -> list[dict[str, Any]]:
    """Have asv end so, by commit; what it is told."""
    told: list[dict[str, Any]] = []

    def measure(ground: Ground, commit: str, **how: Any) -> Ending:  # noqa: ARG001
        told.append(how)
        return endings[f"c{commit[7]}"]

    monkeypatch.setattr(_night_stages, "measure", measure)
    return told


def test_older_commits_that_the_budget_ends_in_are_left_out_and_that_is_said(
    working: Working, monkeypatch: pytest.MonkeyPatch
) -> None:
    ending(monkeypatch, c3=DONE, c2=CUT)
    working.measure()
    working.finish()

    assert working.notes == ["budget: left out 2 older commits, as it ended while 00000002 was measured"]
    assert working.night.finished


def test_the_newest_commit_is_gone_on_with(working: Working, monkeypatch: pytest.MonkeyPatch) -> None:
    ending(monkeypatch, c3=CUT)
    working.measure()
    working.finish()

    assert working.notes == ["the budget ended while 00000003 was measured; the same command goes on with it"]
    assert begin(working.ground.folder, ASKED)[0].commits == working.night.commits


def test_asv_is_told_what_the_plan_repeats_less_and_the_sidecar_what_it_left_out(
    working: Working, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = ending(monkeypatch, c3=DONE, c2=DONE, c1=DONE)
    working.measure()

    assert [(how["few"], how["without"]) for how in told] == [(("load.track_first",), ("load.track_peak",))] * 3
    text = (working.ground.results / "lab" / f"{commit_of(3)[:8]}-{ENVIRONMENT}.context").read_text()
    assert '"load.track_peak", "status": "LEFT_OUT"' in text


def test_a_commit_that_cannot_be_looked_for_leaves_the_verdicts_as_they_are(
    working: Working, monkeypatch: pytest.MonkeyPatch
) -> None:
    def failing(*_: object) -> str:
        raise PcbenchError("commit 00000002 cannot be checked out")

    monkeypatch.setattr(_night_locating, "_where", failing)
    monkeypatch.setattr(_night_locating, "resolve", lambda root, name: commit_of(1))
    finding = Finding(Case("a"), Verdict.SLOWER, "1 -> 2", Place("lab", ENVIRONMENT), against="accepted 00000001")
    found = _night_locating.locate(working.ground, Judgement((finding,)), commit_of(3), working.ends, working.say)

    assert found.exit_code == 1
    assert found.findings[0].reason.endswith("which commit is not known: commit 00000002 cannot be checked out")
