"""``pcbench contract``: what it prints, what it writes, and when it fails."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any

import pytest

from pcbench import asking, claim_checking
from pcbench.analysis.contract_table import contract_lines, list_lines
from pcbench.asking import Setting
from pcbench.claims import Checked, Claim, ClaimOutcome, ClaimResult
from pcbench.commands import contract, main
from pcbench.commands._builds import Build
from pcbench.errors import UnavailableError

CLAIMS = (
    Claim("first.adds", "sums", 1, "One and one is two.", "toys.first.adds"),
    Claim("first.divides", "sums", 2, "Two by two is one.", "toys.first.divides"),
    Claim("second.cooks", "meals", 1, "Soup is hot.", "toys.second.cooks"),
)
HOLDS, DIFFERS, UNAVAILABLE, CRASHED = ClaimOutcome
Outcomes = dict[str, tuple[ClaimOutcome, str]]


def result(claim: Claim, outcome: ClaimOutcome, evidence: str = "seen") -> ClaimResult:
    return ClaimResult(claim.id, claim.document, claim.text, outcome, evidence)


def build(name: str, *outcomes: tuple[ClaimOutcome, str]) -> Checked:
    results = tuple(result(claim, *outcome) for claim, outcome in zip(CLAIMS, outcomes, strict=True))
    return Checked(name, "2.15.0+cpu", "abc", results)


@pytest.fixture
def answering(monkeypatch: pytest.MonkeyPatch) -> Callable[[Outcomes], list[str]]:
    """Replaces processes: claims that are not named hold; gives the ids that were checked."""

    def install(outcomes: Outcomes) -> list[str]:
        asked: list[str] = []

        def check(claim: Claim, setting: Setting, caches: Path) -> ClaimResult:  # noqa: ARG001  # as the real one
            asked.append(claim.id)
            return result(claim, *outcomes.get(claim.id, (HOLDS, "seen")))

        def ask(setting: Setting, request: dict[str, Any]) -> list[dict[str, Any]]:
            assert request["do"] == "describe"
            if "no-torch" in setting.python:
                raise UnavailableError("it has no torch")
            return [{"stage": "describe"}, {"facts": {"torch": "2.15.0+cpu", "torch_git": "abc"}}]

        monkeypatch.setattr(claim_checking, "check", check)
        monkeypatch.setattr(asking, "ask", ask)
        monkeypatch.setattr(contract, "claims", lambda: CLAIMS)
        return asked

    return install


@pytest.fixture
def two_builds(monkeypatch: pytest.MonkeyPatch) -> None:
    @contextmanager
    def builds(args: object) -> Iterator[tuple[Build, ...]]:  # noqa: ARG001  # as the real one
        yield Build("good", "python"), Build("bad", "no-torch/python")

    monkeypatch.setattr(contract, "builds", builds)


def test_it_ends_with_0_where_every_claim_ran_although_one_differs_or_is_unavailable(
    answering: Callable[[Outcomes], list[str]], capsys: pytest.CaptureFixture[str]
) -> None:
    asked = answering({"first.adds": (DIFFERS, "it is three"), "second.cooks": (UNAVAILABLE, "no stove")})

    assert main(["contract"]) == 0
    said = capsys.readouterr()
    assert asked == ["first.adds", "first.divides", "second.cooks"]
    assert "sums 1: One and one is two." in said.out
    assert "this: it is three" in said.out
    assert "this (torch 2.15.0+cpu): 3 claims: 1 hold, 1 differ, 1 unavailable, 0 crashed" in said.out
    assert "[4/4]" in said.err


def test_it_ends_with_2_where_a_claim_crashed(answering: Callable[[Outcomes], list[str]]) -> None:
    answering({"first.adds": (CRASHED, "killed by SIGSEGV")})

    assert main(["contract"]) == 2


@pytest.mark.usefixtures("two_builds")
def test_a_build_without_torch_fails_the_command_and_leaves_the_others_their_columns(
    answering: Callable[[Outcomes], list[str]], capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    answering({})

    assert main(["contract", "--json", str(tmp_path / "told.json")]) == 2
    said = capsys.readouterr()
    assert "bad: it has no torch" in said.out
    assert "pcbench: bad: it has no torch\n" in said.err
    told = json.loads((tmp_path / "told.json").read_text())
    assert told["schema"] == 1
    assert [(one["name"], one["torch"], len(one["claims"]), one["problem"]) for one in told["builds"]] == [
        ("good", "2.15.0+cpu", 3, None),
        ("bad", None, 0, "it has no torch"),
    ]


def test_the_json_of_one_build_has_exactly_the_promised_fields(
    answering: Callable[[Outcomes], list[str]], capsys: pytest.CaptureFixture[str]
) -> None:
    answering({"first.adds": (DIFFERS, "it is three")})

    assert main(["contract", "--json", "-"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert set(told) == {"schema", "torch", "torch_git", "claims"}
    assert (told["schema"], told["torch"], told["torch_git"]) == (1, "2.15.0+cpu", "abc")
    assert told["claims"][0] == {
        "id": "first.adds",
        "document": "sums",
        "claim": "One and one is two.",
        "outcome": "differs",
        "evidence": "it is three",
    }


def test_the_json_of_one_build_without_torch_has_the_reason_and_so_has_stderr(
    answering: Callable[[Outcomes], list[str]], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    answering({})
    monkeypatch.setattr(contract, "builds", lambda args: nullcontext((Build("bad", "no-torch/python"),)))

    assert main(["contract", "--json", "-"]) == 2
    said = capsys.readouterr()
    told = json.loads(said.out)
    assert (told["torch"], told["claims"], told["problem"]) == (None, [], "it has no torch")
    assert "pcbench: bad: it has no torch\n" in said.err


@pytest.mark.parametrize(
    ("words", "chosen"),
    [
        (["--document", "meals"], ["second.cooks"]),
        (["--claim", "div"], ["first.divides"]),
        (["--claim", "first.*"], ["first.adds", "first.divides"]),
        (["--document", "sums", "--claim", "*s", "--jobs", "2"], ["first.adds", "first.divides"]),
    ],
)
def test_a_document_and_a_pattern_choose_the_claims(
    answering: Callable[[Outcomes], list[str]], words: list[str], chosen: list[str]
) -> None:
    asked = answering({})

    assert main(["contract", *words]) == 0
    assert sorted(asked) == chosen


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (["--document", "meal"], "did you mean 'meals'?"),
        (["--claim", "flies"], "no claim has 'flies' in its id"),
        (["--json", "no/such/folder.json"], "cannot write no/such/folder.json"),
    ],
)
def test_what_it_cannot_do_is_told_before_anything_is_checked(
    answering: Callable[[Outcomes], list[str]], capsys: pytest.CaptureFixture[str], words: list[str], problem: str
) -> None:
    asked = answering({})

    assert main(["contract", *words]) == 2
    assert problem in capsys.readouterr().err
    assert asked == []


def test_list_checks_nothing(answering: Callable[[Outcomes], list[str]], capsys: pytest.CaptureFixture[str]) -> None:
    asked = answering({})

    assert main(["contract", "--list"]) == 0
    assert capsys.readouterr().out.splitlines() == list_lines(CLAIMS)
    assert asked == []


def test_several_builds_have_a_column_each_and_the_same_evidence_is_said_once() -> None:
    old = build("2.14.1", (DIFFERS, "it is three"), (HOLDS, "seen"), (UNAVAILABLE, "no stove"))
    new = build("2.15.0", (DIFFERS, "it is three"), (CRASHED, "killed by SIGSEGV"), (HOLDS, "seen"))
    lines = contract_lines(CLAIMS, (old, new))

    assert lines[0].split() == ["sums", "2.14.1", "2.15.0"]
    assert lines[1].split() == ["1", "first.adds", "differs", "differs"]
    assert lines[2].split() == ["2", "first.divides", "holds", "crashed"]
    differing = lines.index("differs:")
    assert lines[differing + 1 : differing + 3] == ["sums 1: One and one is two.", "     2.14.1, 2.15.0: it is three"]
    assert "     2.15.0: killed by SIGSEGV" in lines
    assert "     2.14.1: meals 1: no stove" in lines
    assert lines[-2:] == [
        "2.14.1 (torch 2.15.0+cpu): 3 claims: 1 hold, 1 differ, 1 unavailable, 0 crashed",
        "2.15.0 (torch 2.15.0+cpu): 3 claims: 1 hold, 1 differ, 0 unavailable, 1 crashed",
    ]


def test_where_all_hold_there_are_the_table_and_the_counts_alone() -> None:
    lines = contract_lines(CLAIMS[:2], (build("this", (HOLDS, ""), (HOLDS, ""), (HOLDS, "")),))

    assert [line for line in lines if line] == [
        "     sums           this",
        "  1  first.adds     holds",
        "  2  first.divides  holds",
        "this (torch 2.15.0+cpu): 3 claims: 3 hold, 0 differ, 0 unavailable, 0 crashed",
    ]
