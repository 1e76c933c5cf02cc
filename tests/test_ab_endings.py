"""How ``pcbench ab`` ends early, with what it would have measured by then."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import paired_sides
import pytest
from git_history import Repository

from pcbench.commands import ab, main
from pcbench.paired import Look, Paired
from pcbench.sides import Ready

SLOWER, SAME = "bench_toy.Time.time_it(slower)", "bench_toy.Time.time_it(same)"


@pytest.fixture
def repository(tmp_path: Path, small_python: Path, monkeypatch: pytest.MonkeyPatch) -> Repository:
    made = paired_sides.repository(tmp_path, small_python)
    monkeypatch.chdir(made.root)
    monkeypatch.setenv("HOME", str(made.home))
    return made


def look(ratio: float, pairs: int = 20) -> Look:
    return Look(((1e-3, 1e-3 * ratio),) * pairs, ((1e-4, 1e-4),) * pairs)


@pytest.mark.usefixtures("repository")
@pytest.mark.parametrize(("ratio", "code"), [(1.2, 1), (1.0, 2)])
def test_an_interrupt_does_not_take_back_what_was_found_slower(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], ratio: float, code: int
) -> None:
    def measure(one: Ready, other: Ready, *_: Any, **__: Any) -> Iterator[Paired]:
        yield Paired(SLOWER, "seconds", one.side, other.side, (look(ratio), look(ratio)), "", delta=math.log1p(0.02))
        raise KeyboardInterrupt

    monkeypatch.setattr(ab, "measure", measure)

    assert main(["ab", "HEAD~1", "HEAD", "*time_it*", "--no-save"]) == code
    assert capsys.readouterr().out.splitlines()[-1] == f"interrupted; exit {code}"


@pytest.mark.usefixtures("repository")
def test_a_case_that_the_budget_never_reached_does_not_pass(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def measure(one: Ready, other: Ready, *_: Any, **__: Any) -> Iterator[Paired]:
        yield Paired(SLOWER, "seconds", one.side, other.side, (look(1.0),), "")
        yield Paired(SAME, "seconds", one.side, other.side, (), "", settled=False)

    monkeypatch.setattr(ab, "measure", measure)

    assert main(["ab", "HEAD~1", "HEAD", "*time_it*", "--no-save", "--budget", "1"]) == 2
    assert "the comparison ended before its first pair" in capsys.readouterr().out
