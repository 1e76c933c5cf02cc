"""Claims beside asv's results: kept in the sidecar, read back, and what changed between runs and builds told."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import asdict, replace
from pathlib import Path

import pytest
from examples import run
from figures import drawn, texts

from pcbench import claim_checking, claims, sidecar, tracking
from pcbench.analysis.asv_results import read_results
from pcbench.analysis.contract_changes import changes
from pcbench.analysis.records import Run
from pcbench.analysis.shown import Shown
from pcbench.claims import ClaimOutcome, ClaimResult
from pcbench.reports import contract

HOLDS, DIFFERS, UNAVAILABLE, CRASHED = ClaimOutcome
HEAD = {"commit": "c" * 40, "environment": "shared-py3.11", "torch": "2.15.0", "torch_git": "d" * 40}
CASE = "bench_contract.Contract.track_holding(sums)"


def result(name: str, outcome: ClaimOutcome, evidence: str = "seen") -> ClaimResult:
    return ClaimResult(f"first.{name}", "sums", f"It {name}.", outcome, evidence)


def checked(number: int, *results: ClaimResult, torch: str = "2.15.0", environment: str = "shared") -> Run:
    made = run(number, {}, environment=environment)
    assert made.context is not None
    context = replace(made.context, torch=torch, torch_git=f"git of {torch}")
    return replace(made, context=context, claims={each.id: each for each in results})


def written(folder: Path, *lines: Mapping[str, object]) -> Path:
    """A results folder with one result, whose sidecar has these lines after its head."""
    machine = folder / "lab"
    machine.mkdir(parents=True)
    (folder / "benchmarks.json").write_text(json.dumps({"version": 2}))
    (machine / "machine.json").write_text(json.dumps({"machine": "lab"}))
    stored = {"version": 2, "commit_hash": HEAD["commit"], "env_name": HEAD["environment"], "date": 1_790_000_000_000}
    (machine / "cccccccc-shared-py3.11.json").write_text(json.dumps({**stored, "result_columns": [], "results": {}}))
    context = machine / "cccccccc-shared-py3.11.context"
    sidecar.begin(context, HEAD)
    with context.open("a") as stream:
        stream.writelines(json.dumps(line) + "\n" for line in lines)
    return context


def test_what_became_of_each_claim_is_read_back_from_the_results(tmp_path: Path) -> None:
    context = written(tmp_path)
    for one in (result("adds", HOLDS), result("divides", DIFFERS, "no"), result("adds", CRASHED, "killed")):
        sidecar.add_part(context, CASE, "claim", asdict(one))
    (found,) = read_results(tmp_path).runs

    assert found.claims == {
        "first.adds": result("adds", CRASHED, "killed"),
        "first.divides": result("divides", DIFFERS, "no"),
    }


def test_a_claim_of_an_outcome_that_there_is_not_is_a_problem_and_the_others_are_read(tmp_path: Path) -> None:
    good, bad = asdict(result("adds", HOLDS)), asdict(result("divides", DIFFERS)) | {"outcome": "maybe"}
    written(tmp_path, {"case": CASE, "claim": bad}, {"case": CASE, "claim": good})
    found = read_results(tmp_path)

    assert [problem.what for problem in found.problems] == ["line 2: 'maybe' is no outcome of a claim"]
    assert list(found.runs[0].claims) == ["first.adds"]


def test_claims_outlive_another_run_and_go_with_their_case_when_it_is_measured_anew(tmp_path: Path) -> None:
    context = written(tmp_path, {"case": "other", "status": "CRASHED", "reason": "last week"})
    for one in (result("adds", HOLDS), result("divides", DIFFERS)):
        sidecar.add_part(context, CASE, "claim", asdict(one))
    sidecar.begin(context, HEAD)
    before = len(context.read_text().splitlines())
    sidecar.forget(context, CASE)

    assert before == 4
    assert [json.loads(line)["case"] for line in context.read_text().splitlines()[1:]] == ["other"]


@pytest.fixture
def two_claims(monkeypatch: pytest.MonkeyPatch) -> None:
    known = [claims.Claim(f"first.{name}", "sums", 1, f"It {name}.", "toys.it") for name in ("adds", "divides")]
    monkeypatch.setattr(claims, "claims", lambda: (*known, claims.Claim("b.a", "meals", 1, "Soup.", "toys.it")))
    found = (result("adds", HOLDS), result("divides", DIFFERS, "no"))

    def check_all(asked: list[claims.Claim], *_: object, **__: object) -> tuple[ClaimResult, ...]:
        assert asked == known
        return found

    monkeypatch.setattr(claim_checking, "check_all", check_all)


@pytest.mark.usefixtures("two_claims")
def test_the_benchmark_counts_what_holds_and_leaves_each_outcome_beside_the_result(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    context = written(tmp_path)
    monkeypatch.setenv("PCBENCH_CONTEXT", str(context))
    monkeypatch.setenv("PCBENCH_BENCHMARK", "bench_contract.Contract.track_holding")

    assert tracking.claims_holding("sums") == 1.0
    lines = [json.loads(line) for line in context.read_text().splitlines()[1:]]
    assert [(line["case"], line["claim"]["outcome"]) for line in lines] == [(CASE, "holds"), (CASE, "differs")]


@pytest.mark.usefixtures("two_claims")
def test_a_document_that_there_is_not_fails_with_its_reason(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        tracking.claims_holding("sum")

    assert "there is no document 'sum' (did you mean 'sums'?" in capsys.readouterr().err
    assert not math.isnan(tracking.claims_holding("sums"))


def test_changes_over_commits_are_told_newest_first_and_a_new_claim_is_none() -> None:
    first = checked(0, result("adds", HOLDS), result("divides", HOLDS))
    second = checked(1, result("adds", DIFFERS, "it is three"), result("divides", HOLDS), result("new", DIFFERS))
    third = checked(2, result("adds", DIFFERS, "it is four"), result("divides", CRASHED, "SIGSEGV"))
    found = changes([third, first, second])

    assert [(change.new.id, change.old.outcome, change.new.outcome) for change in found] == [
        ("first.divides", HOLDS, CRASHED),
        ("first.adds", HOLDS, DIFFERS),
    ]
    assert all(change.lost for change in found)


def test_builds_are_compared_by_version_each_by_its_newest_run() -> None:
    old = checked(0, result("adds", HOLDS), torch="2.9.1", environment="shared-torch2.9.1")
    stale = checked(0, result("adds", UNAVAILABLE), torch="2.15.0", environment="shared-torch2.15.0")
    new = checked(1, result("adds", HOLDS), torch="2.15.0", environment="shared-torch2.15.0")
    middle = checked(1, result("adds", UNAVAILABLE, "gone"), torch="2.14.1", environment="shared-torch2.14.1")
    found = changes([new, middle, stale, old])

    told = [(change.before.context.torch, change.after.context.torch, change.lost) for change in found]  # type: ignore[union-attr]  # made with one
    assert sorted(told) == [("2.14.1", "2.15.0", False), ("2.15.0", "2.15.0", False), ("2.9.1", "2.14.1", True)]


def test_the_report_says_how_many_hold_and_its_table_has_each_change_with_its_evidence() -> None:
    runs = [
        checked(0, result("adds", HOLDS), result("divides", DIFFERS)),
        checked(1, result("adds", DIFFERS, "it is three"), result("divides", DIFFERS)),
    ]
    figure = drawn(contract.REPORT.draw(Shown(runs)))
    table = contract.REPORT.table(Shown(runs))

    assert figure.get_suptitle() == "0 of 2 claims hold in the newest run; 1 claim changed, of which 1 held before"
    assert {"holds", "differs", "unavailable", "crashed", " 1 hold", " 0 hold"} <= set(texts(figure))
    assert "torch 2.15.0" in " ".join(figure.get_supxlabel().split())
    assert table is not None
    assert table.rows == (
        (
            *("first.adds", "holds", "differs", "it is three"),
            *("00000000, torch 2.15.0", "00000001, torch 2.15.0", "It adds.", "shared on toybox"),
        ),
    )


def test_the_report_draws_a_bar_per_run_and_document() -> None:
    meal = ClaimResult("second.cooks", "meals", "It cooks.", HOLDS, "seen")
    runs = [checked(number, result("adds", HOLDS), meal) for number in range(3)]
    figure = drawn(contract.REPORT.draw(Shown(runs)))
    _, *panels = figure.axes

    assert [axes.get_title("left") for axes in panels] == ["meals", "sums"]
    for axes in panels:
        assert sum(bar.get_width() for bar in axes.patches) == 3  # type: ignore[attr-defined]  # bars are rectangles
