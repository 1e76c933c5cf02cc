"""Asking about kernels: what a process that dies costs is the kernel that it was at, and nothing else."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from pcbench import asking, codegen_asking
from pcbench.asking import Setting
from pcbench.codegen.chips import CHIPS
from pcbench.codegen_asking import ENVIRONMENT
from pcbench.errors import PcbenchError, UsageError
from pcbench.processes import Ending, Message
from pcbench.status import Status

SEGFAULT = Ending(-11, False, "")
LIMIT = Ending(-9, True, "")
CLEAN = Ending(0, False, "")
SETTING = Setting("", threads=1)


class Process:
    """Stands for the processes: at a kernel and chip of ``dies`` one ends, so often as it says."""

    def __init__(self, dies: dict[tuple[str, str | None], tuple[Ending, int]]) -> None:
        self.dies = dies
        self.asked: list[tuple[tuple[str, ...], tuple[str, ...]]] = []
        self.settings: list[Setting] = []

    def __call__(
        self, setting: Setting, request: dict[str, Any], _: Path, on_message: Callable[[Message], None]
    ) -> tuple[list[Message], Ending]:
        self.asked.append((request["kernels"], request["chips"]))
        self.settings.append(setting)
        messages: list[Message] = []
        ending = self._run(request["kernels"], request["chips"], messages)
        for message in messages:
            on_message(message)
        return messages, ending

    def _run(self, kernels: Sequence[str], chips: Sequence[str], messages: list[Message]) -> Ending:
        for kernel in kernels:
            messages.append({"stage": f"load {kernel}", "at": [kernel, None]})
            if (ending := self._death(kernel, None)) is not None:
                return ending
            for chip in chips:
                messages.append({"stage": f"compile {kernel} for {chip}", "at": [kernel, chip]})
                messages.append({"row": codegen_asking.row(kernel, chip, Status.OK, None, config="first")})
                if (ending := self._death(kernel, chip)) is not None:
                    return ending
                messages.append({"row": codegen_asking.row(kernel, chip, Status.OK, None, config="second")})
        messages.append({"done": True})
        return CLEAN

    def _death(self, kernel: str, chip: str | None) -> Ending | None:
        ending, times = self.dies.get((kernel, chip), (CLEAN, 0))
        self.dies[kernel, chip] = (ending, times - 1)
        return ending if times > 0 else None


@pytest.fixture
def processes(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Process]:
    def dying(**dies: Any) -> Process:
        process = Process(dies.get("dies", {}))
        monkeypatch.setattr(asking, "ask_child", process)
        return process

    return dying


def told(rows: Sequence[dict[str, Any]]) -> list[str]:
    return [" ".join(filter(None, (r["kernel"], r["target"], r["config"], r["status"]))) for r in rows]


def both(kernel: str, chip: str) -> list[str]:
    return [f"{kernel} {chip} first OK", f"{kernel} {chip} second OK"]


def test_rows_and_stages_are_told_as_they_come_and_given_in_the_end(processes: Callable[..., Process]) -> None:
    process = processes()
    heard: list[dict[str, Any]] = []
    stages: list[str] = []

    rows = codegen_asking.collect(SETTING, ["a", "b"], ["sm_90"], "all", heard.append, stages.append)

    assert told(rows) == both("a", "sm_90") + both("b", "sm_90")
    assert rows == heard
    assert stages == ["load a", "compile a for sm_90", "load b", "compile b for sm_90"]
    assert process.asked == [(("a", "b"), ("sm_90",))]


def test_a_crash_costs_the_kernel_on_the_chip_that_it_came_at(processes: Callable[..., Process]) -> None:
    process = processes(dies={("b", "sm_80"): (SEGFAULT, 1)})

    rows = codegen_asking.collect(SETTING, ["a", "b", "c"], ["sm_80", "sm_90"])

    assert told(rows) == [
        *both("a", "sm_80"),
        *both("a", "sm_90"),
        "b sm_80 first OK",
        "b sm_80 CRASHED",
        *both("b", "sm_90"),
        *both("c", "sm_80"),
        *both("c", "sm_90"),
    ]
    assert "killed by SIGSEGV" in rows[5]["reason"]
    assert "compile b for sm_80" in rows[5]["reason"]
    assert process.asked[1:] == [(("b",), ("sm_90",)), (("c",), ("sm_80", "sm_90"))]


def test_a_kernel_that_cannot_be_loaded_without_a_crash_is_asked_for_once(processes: Callable[..., Process]) -> None:
    process = processes(dies={("a", None): (SEGFAULT, 9)})

    rows = codegen_asking.collect(SETTING, ["a", "b"], ["sm_80", "sm_90"])

    assert told(rows) == ["a CRASHED", *both("b", "sm_80"), *both("b", "sm_90")]
    assert process.asked[1:] == [(("b",), ("sm_80", "sm_90"))]


def test_a_limit_that_others_used_up_is_no_kernel_s_fault(processes: Callable[..., Process]) -> None:
    process = processes(dies={("b", "sm_90"): (LIMIT, 1)})
    heard: list[dict[str, Any]] = []

    rows = codegen_asking.collect(SETTING, ["a", "b"], ["sm_80", "sm_90"], on_row=heard.append)

    assert told(rows) == [line for kernel in "ab" for chip in ("sm_80", "sm_90") for line in both(kernel, chip)]
    assert heard == rows
    assert process.asked[1:] == [(("b",), ("sm_90",))]


@pytest.mark.parametrize("chip", [None, "sm_80"])
@pytest.mark.parametrize(("kernel", "asked"), [("a", 2), ("b", 3)])  # the first has all the time of the first process
def test_a_kernel_that_takes_all_of_a_limit_is_told_once_and_left(
    processes: Callable[..., Process], kernel: str, asked: int, chip: str | None
) -> None:
    process = processes(dies={(kernel, chip): (LIMIT, 9)})

    rows = codegen_asking.collect(SETTING, ["a", "b", "c"], ["sm_80"])

    late = [row for row in rows if row["status"] == "TIMED_OUT"]
    assert [(row["kernel"], row["target"]) for row in late] == [(kernel, chip or "")]
    assert "after 300 s" in late[0]["reason"]
    assert {row["kernel"] for row in rows if row["status"] == "OK"} >= {"a", "b", "c"} - {kernel}
    assert len(process.asked) == asked


def test_a_process_that_dies_before_any_kernel_is_an_error_with_its_last_words(monkeypatch: pytest.MonkeyPatch) -> None:
    ending = Ending(1, False, "ModuleNotFoundError: No module named 'triton'")
    monkeypatch.setattr(asking, "ask_child", lambda *words: ([{"stage": "import torch"}], ending))

    with pytest.raises(PcbenchError, match=r"no kernel could be compiled: .*No module named 'triton'"):
        codegen_asking.collect(SETTING, ["a"])


def test_what_the_child_refuses_is_a_usage_error(monkeypatch: pytest.MonkeyPatch) -> None:
    refused = {"error": {"problem": "there is no kernel 'a'", "hint": "valid names: b"}}
    monkeypatch.setattr(asking, "ask_child", lambda *words: ([refused, {"done": True}], CLEAN))

    with pytest.raises(UsageError, match="there is no kernel 'a'"):
        codegen_asking.collect(SETTING, ["a"])


def test_the_caller_s_environment_goes_before_that_of_codegen(processes: Callable[..., Process]) -> None:
    process = processes()

    codegen_asking.collect(Setting("", threads=1, env={"TRITON_DEFAULT_FP_FUSION": "0", "X": "1"}), ["a"], ["sm_90"])

    assert process.settings[0].env == {**ENVIRONMENT, "TRITON_DEFAULT_FP_FUSION": "0", "X": "1"}


def test_the_chips_that_can_be_asked_for_are_those_that_are_known() -> None:
    assert tuple(CHIPS) == codegen_asking.CHIPS
