"""Which way of counting is taken, what is kept of a process that dies, and what is said of the way there."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from pcbench import callgrind, processes
from pcbench.asking import Setting
from pcbench.errors import UnavailableError, UsageError
from pcbench.instruction_counting import Counted, counted
from pcbench.status import Status


class Process:
    """Stands in for measured processes: each in its turn says what was given, and ends."""

    def __init__(self, *said: list[dict[str, Any]], returncode: int = 0) -> None:
        self.said, self.returncode = list(said), returncode
        self.commands: list[Sequence[str]] = []
        self.envs: list[dict[str, str]] = []

    def __call__(
        self, command: Sequence[str], *, env: dict[str, str], on_message: Callable[[Any], None], **_: Any
    ) -> processes.Ending:
        self.commands.append(command)
        self.envs.append(env)
        for message in self.said.pop(0):
            on_message(message)
        return processes.Ending(self.returncode, False, "Killed by the test")


NONE_HERE = [{"failed": {"status": Status.UNAVAILABLE, "reason": "no counter here"}}, {"done": True}]


def counts(target: str, *values: float) -> list[dict[str, Any]]:
    named = {"target": target, "size": 8}
    return [{"stage": f"counting {target}", "counting": named}, {"instructions": named | {"per_check": values}}]


def asked(*names: str, step: Callable[[str], None] = lambda what: None) -> Counted:
    return counted([(name, 8) for name in names], Setting("", timeout_s=60), step=step)


def test_hardware_is_asked_first_and_its_values_are_by_target(monkeypatch: pytest.MonkeyPatch) -> None:
    uncounted = {"target": "c", "size": 8, "unavailable": True, "reason": "it lacks"}
    process = Process([*counts("a", 1.5, 2.5), *counts("b", 3), {"uncounted": uncounted}, {"done": True}])
    monkeypatch.setattr(processes, "run", process)
    steps: list[str] = []

    found = asked("a", "b", "c", step=steps.append)

    assert found == Counted("hardware", {("a", 8): (1.5, 2.5), ("b", 8): (3,)}, {("c", 8): "it lacks"})
    assert steps == ["counting instructions: a (1 of 3)", "counting instructions: b (2 of 3, about 0 s left)"]
    assert process.envs[0]["PYTHONHASHSEED"] == "0"
    assert process.envs[0]["OMP_NUM_THREADS"] == "1"
    assert callgrind.FOLDER not in process.envs[0]


def test_where_no_hardware_counts_callgrind_does(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(callgrind, "prepare", lambda folder: ("valgrind", str(folder)))
    process = Process(NONE_HERE, [*counts("a", 1), {"done": True}])
    monkeypatch.setattr(processes, "run", process)

    assert asked("a") == Counted("callgrind", {("a", 8): (1,)})
    words = process.commands[1]
    assert words[0] == "valgrind"
    assert process.envs[1][callgrind.FOLDER] == words[1]
    assert list(map(len, words[2:])) == list(map(len, process.commands[0]))


def test_where_neither_counts_both_reasons_are_said(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(processes, "run", Process(NONE_HERE))

    with pytest.raises(UnavailableError, match="no counter here, and there is no valgrind here"):
        asked("a")


def test_what_was_counted_before_the_process_died_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processes, "run", Process([*counts("a", 1), *counts("b", 2)[:1]], returncode=-9))

    found = asked("a", "b", "c")

    assert found.values == {("a", 8): (1,)}
    assert set(found.failed) == {("b", 8), ("c", 8)}
    assert found.failed["c", 8].startswith("at counting b: killed by SIGKILL")


def test_a_process_that_must_not_run_this_code_ends_it_all(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processes, "run", Process([{"error": {"problem": "other code", "hint": None}}, {"done": True}]))

    with pytest.raises(UsageError, match="other code"):
        asked("a")
