"""What becomes of a process that was asked for a kernel's times."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from pcbench import asking, kernel_asking
from pcbench.asking import Setting
from pcbench.errors import PcbenchError, UnavailableError
from pcbench.kernel_asking import NoTimesError
from pcbench.processes import Ending

SETTING = Setting("", threads=1, timeout_s=7, env={"TRITON_INTERPRET": "kept"})


def answering(monkeypatch: pytest.MonkeyPatch, *messages: Mapping[str, Any], timed_out: bool = False) -> list[Any]:
    """Let a process give these messages; the list gets its setting and request."""
    asked: list[Any] = []

    def ask_child(setting: Setting, request: dict[str, Any], _: Path) -> tuple[list[Any], Ending]:
        asked.extend((setting, request))
        return list(messages), Ending(0, timed_out, "")

    monkeypatch.setattr(asking, "ask_child", ask_child)
    return asked


def timed() -> object:
    return kernel_asking.timed(SETTING, "softmax", "float16", "rows=2", 3)


def test_a_process_is_asked_for_the_machine_code_that_the_rows_of_codegen_describe(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked = answering(monkeypatch, {"failed": {"status": "UNAVAILABLE", "reason": "no GPU"}})
    with pytest.raises(UnavailableError, match=r"^no GPU$"):
        timed()
    setting, request = asked

    assert request == {"do": "kernel_times", "kernel": "softmax", "dtype": "float16", "sizes": "rows=2", "pairs": 3}
    assert setting.env["TRITON_DEFAULT_FP_FUSION"] == "1"
    assert setting.env["TRITON_DUMP_PTXAS_LOG"] is None
    assert setting.env["TRITON_INTERPRET"] == "kept"
    assert setting.timeout_s == 7


@pytest.mark.parametrize(
    ("message", "timed_out", "status", "reason"),
    [
        ({"failed": {"status": "WRONG_RESULT", "reason": "off by 0.1"}}, False, "WRONG_RESULT", "off by 0.1"),
        ({"stage": "time it"}, True, "TIMED_OUT", "still at time it after 7 s"),
        ({"stage": "time it"}, False, "CRASHED", "at time it: "),
    ],
)
def test_a_kernel_without_times_has_the_status_of_what_became_of_it(
    monkeypatch: pytest.MonkeyPatch, message: Mapping[str, Any], timed_out: bool, status: str, reason: str
) -> None:
    answering(monkeypatch, message, timed_out=timed_out)

    with pytest.raises(NoTimesError, match=f"^softmax float16 rows=2: {reason}") as told:
        timed()
    assert told.value.status == status


def test_a_kernel_that_is_not_there_is_a_mistake_of_the_one_who_asks(monkeypatch: pytest.MonkeyPatch) -> None:
    answering(monkeypatch, {"error": {"problem": "there is no kernel 'softmax'", "hint": None}})

    with pytest.raises(PcbenchError, match="there is no kernel 'softmax'"):
        timed()


def test_the_gpu_is_named_or_the_reason_why_there_is_none_is_given_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = answering(monkeypatch, {"gpu": "Simulated 1"}, {"done": True})

    assert kernel_asking.gpu(SETTING) == "Simulated 1"
    assert asked == [SETTING, {"do": "find_gpu"}]
    answering(monkeypatch, {"failed": {"status": "UNAVAILABLE", "reason": "it has no driver"}})
    with pytest.raises(UnavailableError, match=r"^it has no driver$"):
        kernel_asking.gpu(SETTING)
    answering(monkeypatch, {"stage": "look for a GPU"}, timed_out=True)
    with pytest.raises(NoTimesError, match=r"^a process that looked for a GPU: still at look for a GPU after 7 s$"):
        kernel_asking.gpu(SETTING)
