"""A night's suspects and canary: what is measured in pairs, what is kept of it, and what is said of the rest."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from results_folder import ENVIRONMENT, Folder, commit_of

from pcbench.analysis.findings import Judgement
from pcbench.analysis.policy import Policy
from pcbench.analysis.records import Verdict
from pcbench.analysis.suspects import suspects
from pcbench.commands import _night_confirming, _night_locating, main
from pcbench.commands._night_ground import Ground
from pcbench.commands._night_stages import Working
from pcbench.commands._night_state import Night, begin
from pcbench.errors import PcbenchError
from pcbench.paired import Look, Paired, Side, read

ONE, OTHER = "load.track_first(one)", "load.track_first(other)"
OURS = Policy(pairs=6, delta=0.3, slow_delta=0.3, slow_pairs=6)
BEFORE, SUSPECT = [1.0, 1.01, 1.02], [1.5, 1.51, 1.52]
ASKED = {"profile": "quick"}


@dataclass
class Pairs:
    """What stands for pairs of processes.

    Attributes:
        ratio: The candidate's number in each.
        count: How many there are before they end.
        failing: Cases that stop the comparison, and what with.
        asked: The cases of each comparison, and the record that they had.
    """

    ratio: float = 1.5
    count: int = 12
    failing: dict[str, BaseException] = field(default_factory=dict)
    asked: list[list[str]] = field(default_factory=list)
    records: list[Any] = field(default_factory=list)

    @contextmanager
    def ready(self, root: Path, suite: Any, one: Any, other: Any, variables: Any = None) -> Iterator[Any]:  # noqa: ARG002
        sides = [Side(at.commit, at.commit, at.env or "this", "2.15.0") for at in (one, other)]
        yield [SimpleNamespace(side=side) for side in sides]

    def compare(self, pair: Any, names: Sequence[str], policy: Policy, **how: Any) -> list[Paired]:
        self.asked.append(list(names))
        self.records.append(how["same_code"])
        found = []
        for name in names:
            if name in self.failing:
                raise self.failing[name]
            half = tuple((1.0, self.ratio) for _ in range(self.count // 2))
            looks = (Look(half, ()), Look(half, ())) if half else ()
            told = Paired(name, "seconds", pair[0].side, pair[1].side, looks, "2026-11-30", version="1")
            told = replace(told, delta=math.log1p(policy.of(name).delta), settled=self.count >= 2 * policy.pairs)
            how["keep"](told)
            found.append(told)
        return found


@pytest.fixture
def pairs(monkeypatch: pytest.MonkeyPatch) -> Pairs:
    found = Pairs()
    monkeypatch.setattr(_night_confirming, "ready", found.ready)
    monkeypatch.setattr(_night_confirming, "compare", found.compare)
    monkeypatch.setattr(_night_confirming, "suite_of", lambda root: (None, root / "results"))
    monkeypatch.setattr(_night_locating, "resolve", lambda root, name: commit_of(int(name[:8], 16)))
    return found


@pytest.fixture
def working(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Working:
    """A night that has measured: commit 1 is accepted, and in commit 2 two times are suspects."""
    folder = Folder(tmp_path / "results")
    folder.begin()
    folder.add(1, {ONE: BEFORE, OTHER: BEFORE})
    monkeypatch.chdir(tmp_path)
    assert main(["accept", "--reason", "first"]) == 0
    folder.add(2, {ONE: SUSPECT, OTHER: SUSPECT})
    conf = SimpleNamespace(env_dir=".asv/env", shared_pythons={})
    ground = Ground(tmp_path, tmp_path / "results", tmp_path / ".asv", "lab", "quick", OURS, conf)
    night = Night(ASKED, (commit_of(2),), ("plan", f"measured {commit_of(2)}"), started="2026-11-30T02:00:00+00:00")
    return Working(ground, night, 3600.0, time.monotonic() + 3600.0, lambda line: None, [])


def verdicts(judgement: Judgement) -> dict[str, Verdict]:
    return {str(one.case): one.verdict for one in judgement.findings}


def kept(working: Working) -> dict[str, Paired]:
    path = working.ground.results / "lab" / f"{commit_of(2)[:8]}-{ENVIRONMENT}.pairs"
    return {one.case: one for one in read(path)} if path.is_file() else {}


def test_suspects_that_pairs_confirm_are_slower(working: Working, pairs: Pairs) -> None:
    working.confirm()

    assert verdicts(working.judged()) == {ONE: Verdict.SLOWER, OTHER: Verdict.SLOWER}
    assert pairs.asked == [[ONE, OTHER]]
    assert "confirmed" in working.night.done


def test_what_was_decided_before_a_night_was_interrupted_is_not_measured_again(working: Working, pairs: Pairs) -> None:
    pairs.failing[OTHER] = KeyboardInterrupt()
    with pytest.raises(KeyboardInterrupt):
        working.confirm()
    pairs.failing.clear()

    working.confirm()

    # Settled by the project's 6 pairs of a look: the default's 20 would call them open.
    assert pairs.asked == [[ONE, OTHER], [OTHER]]
    assert verdicts(working.judged()) == {ONE: Verdict.SLOWER, OTHER: Verdict.SLOWER}


def test_pairs_that_the_budget_ended_decide_nothing_are_said_and_taken_again(working: Working, pairs: Pairs) -> None:
    pairs.count = 4
    working.confirm()

    assert not any(one.settled for one in kept(working).values())
    assert verdicts(working.judged()) == {ONE: Verdict.INCONCLUSIVE, OTHER: Verdict.INCONCLUSIVE}
    assert working.notes == [f"budget: the suspect {case} was not decided in pairs" for case in (ONE, OTHER)]
    pairs.count = 12
    working.night = replace(working.night, done=())
    working.confirm()
    assert verdicts(working.judged()) == {ONE: Verdict.SLOWER, OTHER: Verdict.SLOWER}


def test_unsettled_pairs_beside_a_stored_slower_do_not_hide_it(working: Working, pairs: Pairs, tmp_path: Path) -> None:
    Folder(tmp_path / "results").add(2, {ONE: [3.0, 3.1, 3.2], OTHER: BEFORE})
    pairs.count = 4
    working.confirm()

    assert not kept(working)[ONE].settled
    assert verdicts(working.judged()) == {ONE: Verdict.SLOWER, OTHER: Verdict.SAME}


def test_suspects_without_a_pair_are_not_kept(working: Working, pairs: Pairs) -> None:
    pairs.count = 0
    working.confirm()

    assert kept(working) == {}
    assert len(working.notes) == 2


def test_suspects_for_which_no_time_is_left_are_said(working: Working, pairs: Pairs) -> None:
    working.ends = time.monotonic() - 1
    working.confirm()

    found = suspects(working.judged().findings, OURS)
    said = _night_confirming.confirm(working.ground, working.candidate, found, working.ends, working.say)
    assert pairs.asked == []
    assert said == working.notes
    assert working.notes == [f"budget: the suspect {case} was not decided in pairs" for case in (ONE, OTHER)]


def test_a_comparison_that_cannot_be_made_takes_no_other_and_no_judgement_with_it(
    working: Working, pairs: Pairs, monkeypatch: pytest.MonkeyPatch
) -> None:
    base_of = _night_confirming.base_of

    def differing(ground: Ground, finding: Any) -> Any:
        base = base_of(ground, finding)
        return replace(base, env="gone") if base is not None and str(finding.case) == ONE else base

    monkeypatch.setattr(_night_confirming, "base_of", differing)
    pairs.failing[ONE] = PcbenchError("it cannot be checked out")
    working.confirm()

    assert working.notes == [f"{ONE} could not be confirmed: it cannot be checked out"]
    assert verdicts(working.judged()) == {ONE: Verdict.INCONCLUSIVE, OTHER: Verdict.SLOWER}
    pairs.failing[OTHER] = pairs.failing[ONE]
    working.canary()
    assert working.notes[1:] == ["no canary: it cannot be checked out"]


def test_a_suspect_that_gives_no_pairs_is_said(working: Working, pairs: Pairs, monkeypatch: pytest.MonkeyPatch) -> None:
    compare = pairs.compare

    def failing(*words: Any, **how: Any) -> list[Paired]:
        return [
            replace(one, looks=(), failed="failed on candidate: so", settled=False) for one in compare(*words, **how)
        ]

    monkeypatch.setattr(_night_confirming, "compare", failing)
    working.confirm()

    assert working.notes[0] == f"the suspect {ONE} gave no pairs: failed on candidate: so"


def test_a_canary_is_judged_by_what_others_have_on_record_and_counts_where_it_settled(
    working: Working, pairs: Pairs
) -> None:
    pairs.ratio = 1.0
    working.canary()
    working.night = replace(working.night, done=(), started="2026-12-01T02:00:00+00:00", number=2)
    working.canary()
    assert pairs.asked == [[ONE, OTHER]] * 2
    assert [len(record) for record in pairs.records] == [0, 2]
    rate = _night_confirming.measured_rate(working.ground)
    assert (rate.verdicts, rate.slower, rate.without) == (4, 0, 0)
    pairs.count = 2
    working.night = replace(working.night, done=(), started="2026-12-02T02:00:00+00:00", number=4)
    working.canary()
    rate = _night_confirming.measured_rate(working.ground)
    assert (rate.verdicts, rate.without) == (4, 2)
    # An interrupted canary is taken again, by the same night.
    pairs.count = 12
    working.night = replace(working.night, done=())
    working.canary()
    rate = _night_confirming.measured_rate(working.ground)
    assert (rate.verdicts, rate.without) == (6, 0)


def test_a_night_that_is_gone_on_with_has_its_done_stages_behind_it(working: Working, pairs: Pairs) -> None:
    working.confirm()
    night, said = begin(working.ground.folder, ASKED)

    assert night == working.night
    assert "confirmed" in said
    working.confirm()
    assert len(pairs.asked) == 1
