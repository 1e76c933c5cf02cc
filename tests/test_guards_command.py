"""``pcbench guards``: what it takes, prints and writes, and its exit codes."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from guard_reports import cost, counted, remedies, subtrees, sweep
from kept_envs import Kept

from pcbench import guard_families, guard_sampling
from pcbench.asking import Setting
from pcbench.commands import _guard_rounds, main
from pcbench.errors import PcbenchError, UnavailableError
from pcbench.guard_samples import Census, Counted
from pcbench.instruction_counting import Counted as Instructions


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, str]]:
    """Replaces processes by made-up answers; gives the parts that were asked for, with their target."""
    said: list[tuple[str, str]] = []

    def answering(part: str, answer: Callable[[Setting], Any]) -> Callable[..., Any]:
        def ask(setting: Setting, *more: Any) -> Any:  # noqa: ARG001  # as the real ones
            said.append((part, setting.target))
            return answer(setting)

        return ask

    for part, answer in {
        "census": lambda setting: counted(),
        "cost": lambda setting: cost(2.01),
        "sweep": lambda setting: sweep(setting.target, 20.1),
        "subtrees": lambda setting: subtrees(2.01),
        "remedies": lambda setting: remedies(0.5),
    }.items():
        monkeypatch.setattr(guard_sampling, part, answering(part, answer))
    return said


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        ([], "guards of what?"),
        (["encodr"], "there is no model or guard family 'encodr'"),
        (["mlp", "--census", "--instructions"], "--census is the census alone"),
        (["mlp", "--json", "/nowhere/at/all.json"], "/nowhere/at/all.json cannot be written"),
        (["mlp", "--json", "/usr"], "/usr cannot be written"),
        (["mlp", "--figure", "slopes.png"], "--figure draws families"),
        (["tensors", "--figure", "slopes.word"], "no ending that a figure can have"),
        (["mlp", "--json", "mine.py"], "mine.py would be written over"),
        (["--census", "--json", "mlp"], "--json took mlp for its FILE"),
        (["mlp", "--env", "nowhere"], "nowhere"),
    ],
)
def test_what_cannot_be_asked_is_refused_before_anything_is_measured(
    words: list[str], problem: str, asked: list[tuple[str, str]], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["guards", *words]) == 2
    assert problem in capsys.readouterr().err
    assert asked == []


def test_the_families_are_listed_with_what_they_are(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["guards", "--list"]) == 0

    shown = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in shown] == list(guard_families.names())
    assert "Tensor inputs" in next(line for line in shown if line.startswith("tensors "))


def test_a_model_is_counted_once_and_timed_in_as_many_processes_as_asked(
    asked: list[tuple[str, str]], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["guards", "mlp", "--processes", "2"]) == 0

    parts = [part for part, _ in asked]
    assert parts == ["census", *["cost", "subtrees", "remedies"] * 2]
    out = capsys.readouterr()
    assert "[6/8]" in out.err
    for section in ("census: ", "time per call", "where a check's", "most expensive subtrees", "what would help"):
        assert section in out.out


def test_the_census_alone_counts_and_gives_json_under_its_name(
    asked: list[tuple[str, str]], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["guards", "mlp", "--census", "--json"]) == 0

    told = json.loads(capsys.readouterr().out)
    assert [part for part, _ in asked] == ["census"]
    assert told["census"]["guards"] == 3
    assert "cost" not in told


@pytest.mark.usefixtures("asked")
def test_what_was_measured_is_shown_where_it_cannot_be_written(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["guards", "mlp", "--census", "--json", "/dev/full"]) == 2

    out = capsys.readouterr()
    assert "census: counts of guards" in out.out
    assert "/dev/full could not be written" in out.err


@pytest.mark.usefixtures("asked")
def test_a_census_that_is_not_exact_cannot_be_judged_by(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(guard_sampling, "census", lambda *words: counted(guards=("3", "4")))

    assert main(["guards", "mlp", "--census"]) == 2
    assert "not exact: guards is 3 in one process and 4 in another" in capsys.readouterr().out


def test_several_families_are_swept_and_become_one_table(
    asked: list[tuple[str, str]], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["guards", "tensors", "lists", "--processes", "1"]) == 0

    assert asked == [("census", "tensors"), ("census", "lists"), ("sweep", "tensors"), ("sweep", "lists")]
    shown = capsys.readouterr().out.splitlines()
    assert shown[0].startswith("family ")
    assert {line.split()[0] for line in shown[1:3]} == {"tensors", "lists"}


@pytest.mark.usefixtures("asked")
def test_the_slopes_of_families_are_drawn(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "slopes.png"

    assert main(["guards", "tensors", "lists", "mlp", "--processes", "2", "--figure", str(file)]) == 0
    assert file.read_bytes().startswith(b"\x89PNG")
    assert f"figure: {file}" in capsys.readouterr().err


@pytest.mark.usefixtures("asked")
def test_instructions_are_counted_in_one_process_and_those_that_cannot_be_are_told(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    calls = []

    def count(targets: list[tuple[str, int]], setting: Setting, **more: Any) -> Instructions:  # noqa: ARG001  # as the real one
        calls.append((targets, setting.timeout_s))
        values = {("tensors", 8): (1000.0,), ("tensors", 64): (17800.0,)}
        return Instructions("callgrind", values, failed={("mlp", 8): "it crashed"})

    monkeypatch.setattr(_guard_rounds, "counted", count)
    assert main(["guards", "tensors", "mlp", "--processes", "1", "--instructions", "--timeout", "1"]) == 2

    ((targets, timeout_s),) = calls
    assert targets == [("tensors", 8), ("tensors", 64), ("mlp", 8)]
    assert timeout_s > 300
    out = capsys.readouterr()
    assert "mlp on this: instructions: it crashed" in out.err
    assert next(line for line in out.out.splitlines() if line.startswith("tensors ")).endswith(" 100")


@pytest.mark.usefixtures("asked")
def test_where_instructions_cannot_be_counted_the_reason_is_told_and_the_rest_is_shown(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def refuse(*words: Any, **more: Any) -> Instructions:  # noqa: ARG001  # as the real one
        raise UnavailableError("there is no valgrind")

    monkeypatch.setattr(_guard_rounds, "counted", refuse)

    assert main(["guards", "mlp", "--processes", "1", "--instructions"]) == 2
    out = capsys.readouterr()
    assert "mlp on this: instructions: there is no valgrind" in out.err
    assert "time per call" in out.out


def test_a_part_that_fails_is_told_and_is_not_tried_again_while_the_others_go_on(
    asked: list[tuple[str, str]], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(setting: Setting) -> None:
        asked.append(("subtrees", setting.target))
        raise PcbenchError("a copy refused")

    monkeypatch.setattr(guard_sampling, "subtrees", fail)

    assert main(["guards", "mlp", "--processes", "3"]) == 2
    parts = [part for part, _ in asked]
    assert (parts.count("subtrees"), parts.count("cost"), parts.count("remedies")) == (1, 3, 3)
    assert "pcbench: mlp on this: subtrees: a copy refused" in capsys.readouterr().err


@pytest.mark.usefixtures("asked")
def test_what_was_measured_before_an_interruption_is_shown_and_written(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    def interrupted(setting: Setting) -> None:  # noqa: ARG001  # as the real one
        raise KeyboardInterrupt

    monkeypatch.setattr(guard_sampling, "remedies", interrupted)
    file = tmp_path / "guards.json"

    assert main(["guards", "mlp", "--json", str(file)]) == 2
    out = capsys.readouterr()
    assert "interrupted; what was measured until then follows" in out.err
    assert "time per call" in out.out
    assert len(json.loads(file.read_text())["cost"]) == 1


@pytest.mark.usefixtures("asked")
def test_an_interruption_before_anything_is_known_says_so(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted(*words: Any) -> Counted:  # noqa: ARG001  # as the real one
        raise KeyboardInterrupt

    monkeypatch.setattr(guard_sampling, "census", interrupted)

    assert main(["guards", "mlp"]) == 2
    out = capsys.readouterr()
    assert "interrupted; nothing was measured" in out.err
    assert out.out == ""


@pytest.mark.usefixtures("asked")
def test_a_build_whose_census_differs_is_told_in_words(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    kept = Kept(tmp_path / "envs", ())
    kept.env("add", "--python", sys.executable, "--name", "twin")
    monkeypatch.setenv("PCBENCH_ENVS", str(kept.root))

    def census(setting: Setting, *more: Any) -> Counted:  # noqa: ARG001  # as the real one
        usual = counted()
        if not setting.env:  # the running interpreter's processes need nothing more
            return usual
        counts = dict(usual.census.counts) | {"guards: TENSOR_MATCH": 2, "guards": 4}
        return replace(usual, census=Census(counts, usual.census.places, usual.census.unknown))

    monkeypatch.setattr(guard_sampling, "census", census)

    assert main(["guards", "mlp", "--env", "this", "--env", "twin", "--processes", "1"]) == 0
    out = capsys.readouterr().out
    assert "from this to twin" in out
    assert "guards: TENSOR_MATCH" in out
    assert "+1" in out
