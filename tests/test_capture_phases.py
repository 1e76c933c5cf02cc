"""A capture's seconds by phase: nested spans, spans that torch forgets, and timers that this torch lacks."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import asdict

import pytest
import torch
from torch import nn

from pcbench import torch_api, torch_names
from pcbench.capture_phases import Timeline, phases, timed
from pcbench.samples import CAPTURE_PHASES

NOTHING = dict.fromkeys(CAPTURE_PHASES, False)


@pytest.fixture
def timeline() -> Timeline:
    """A timeline on which a second passes at each event."""
    seconds = iter(range(100))
    return Timeline(lambda: float(next(seconds)))


def test_each_second_is_in_the_innermost_span_that_names_a_phase(timeline: Timeline) -> None:
    timeline.start("compile_attempt_0")
    timeline.start("backend_compile")
    timeline.start("create_aot_dispatcher_function")
    timeline.start("inductor_compile")
    timeline.start("Scheduler.codegen")
    timeline.start("compile_file")
    for span in ("compile_file", "Scheduler.codegen", "inductor_compile", "create_aot_dispatcher_function"):
        timeline.end(span)
    timeline.end("backend_compile")
    timeline.end("compile_attempt_0")

    assert timeline.spent_s == {"other_s": 3, "dynamo_s": 2, "aot_autograd_s": 2, "inductor_s": 4, "compile_s": 1}


def test_a_span_that_never_ended_ends_with_the_one_around_it(timeline: Timeline) -> None:
    timeline.start("compile_attempt_0")
    timeline.start("inductor_compile")
    timeline.end("compile_attempt_0")
    timeline.end("inductor_compile")
    timeline.start("build_guards")
    timeline.end("build_guards")

    assert timeline.spent_s == {"other_s": 2, "dynamo_s": 2, "inductor_s": 1}


def test_what_another_thread_does_is_no_phase_of_the_thread_that_waits(timeline: Timeline) -> None:
    timeline.start("async_compile.wait")
    worker = threading.Thread(target=timeline.start, args=("compile_file",))
    worker.start()
    worker.join()
    timeline.end("async_compile.wait")

    assert timeline.spent_s == {"other_s": 1, "compile_s": 1}


def test_phases_add_up_to_capture_and_save(timeline: Timeline) -> None:
    timeline.start("compile_attempt_0")
    timeline.start("aoti_serialize_constants")
    timeline.end("aoti_serialize_constants")
    timeline.end("compile_attempt_0")

    found = phases(timeline, 10.0, 0.5, NOTHING)

    assert asdict(found) == {
        "dynamo_s": 2.0,
        "aot_autograd_s": 0.0,
        "inductor_s": 0.0,
        "compile_s": 0.0,
        "serialise_s": 1.5,
        "other_s": 7.0,
        "unknown": {},
    }


def test_a_timer_that_this_torch_lacks_makes_its_phase_and_the_one_around_it_unknown(
    timeline: Timeline, monkeypatch: pytest.MonkeyPatch
) -> None:
    gone = torch_names.Word(torch_names.WORDS["compile_s"][0].module, "a_timer_of_another_name")
    monkeypatch.setitem(torch_names.WORDS, "compile_s", (gone,))

    found = phases(timeline, 10.0, 0.5, NOTHING)

    assert (found.compile_s, found.inductor_s) == (None, None)
    assert (found.aot_autograd_s, found.other_s) == (0.0, 10.0)
    assert "has no a_timer_of_another_name in" in found.unknown["compile_s"]
    assert found.unknown["inductor_s"].startswith("compile_s cannot be told from it: ")


def test_a_timer_whose_module_is_gone_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(torch_names.WORDS, "compile_s", (torch_names.Word("torch.no_such_package.module", "x"),))

    said = f"torch {torch_api.version()} has no source of a module torch.no_such_package.module"
    assert torch_api.lacking_word("compile_s") == said


def test_a_phase_that_took_place_and_that_no_timer_saw_is_unknown_and_not_zero(timeline: Timeline) -> None:
    found = phases(timeline, 10.0, 0.5, NOTHING | {"dynamo_s": True})

    assert (found.dynamo_s, found.other_s) == (None, None)
    assert found.unknown["dynamo_s"].startswith("it took part, and no timer of torch")


def test_without_an_event_log_every_phase_but_the_save_is_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    gone = torch_names.Name(torch_names.NAMES["event_log"].module, "NoSuchLog", "a test", ())
    monkeypatch.setitem(torch_names.NAMES, "event_log", gone)

    with timed() as timeline:
        pass
    found = phases(timeline, 10.0, 0.5, NOTHING)

    assert found.serialise_s == 0.5
    assert [getattr(found, phase) for phase in CAPTURE_PHASES if phase != "serialise_s"] == [None] * 5


def test_torch_tells_its_timers_while_it_compiles_and_its_log_is_left_as_it_was() -> None:
    log = torch_api.get("event_log")
    before: tuple[Callable[..., object], ...] = (log.log_event_start, log.log_event_end)
    model = nn.Linear(2, 2).eval()

    with timed() as timeline:
        torch.compile(lambda x: model(x) + 1, backend="eager")(torch.ones(1, 2))

    assert timeline.spent_s["dynamo_s"] > 0
    assert (log.log_event_start, log.log_event_end) == before


def test_timers_that_tell_more_than_the_capture_took_leave_other_unknown_and_not_zero(timeline: Timeline) -> None:
    timeline.start("inductor_compile")
    timeline.end("inductor_compile")

    found = phases(timeline, 0.25, 0.5, NOTHING)

    assert (found.inductor_s, found.other_s) == (1.0, None)
    assert found.unknown == {"other_s": "torch's timers tell 1 s, more than the 0.25 s of the capture"}
