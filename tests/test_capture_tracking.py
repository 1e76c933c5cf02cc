"""asv's numbers of captures: seconds, memory, phases and counts are of the same captures."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path

import pytest

from pcbench import sampling, tracking
from pcbench.sample_store import SampleCounts
from pcbench.samples import Capture, CaptureCounts, CapturePhases
from pcbench.status import Status

TWO = SampleCounts(cold=2, warm=2)
Made = Callable[[int], Capture]


def made(number: int) -> Capture:
    return Capture(
        Status.OK,
        capture_s=10.0 + number,
        save_s=0.5,
        peak_rss_bytes=1000 + number,
        artifact_bytes=1,
        phases=CapturePhases(inductor_s=float(number), unknown={"dynamo_s": "torch 9.9 has no timer"}),
        counts=CaptureCounts(graphs=1, fx_nodes=number, unknown={"recompiles": "torch 9.9 has no counter"}),
    )


@pytest.fixture
def taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The numbers of the captures that were taken; each is made by ``made``."""
    numbers: list[int] = []

    def capture(*_: object, **__: object) -> Capture:
        numbers.append(len(numbers))
        return made(numbers[-1])

    monkeypatch.setattr(sampling, "capture", capture)
    monkeypatch.setenv("PCBENCH_STORE", str(tmp_path))
    monkeypatch.setenv("PCBENCH_CONTEXT", str(tmp_path / "context"))
    (tmp_path / "context").touch()
    return numbers


def samples(tracked: tracking.AsvValue) -> list[float]:
    assert isinstance(tracked, dict)
    found: list[float] = tracked["samples"]
    return found


@pytest.mark.parametrize("temperature", ["cold", "warm"])
def test_nothing_is_captured_again_for_a_phase_a_count_or_memory(temperature: str, taken: list[int]) -> None:
    case = ("mlp", "export", temperature)
    seconds = samples(tracking.capture_seconds(*case, TWO))
    count = len(taken)

    assert samples(tracking.capture_phase_seconds(*case, "inductor_s", TWO)) == [s - 10.5 for s in seconds]
    assert samples(tracking.capture_peak_rss_bytes(*case, TWO)) == [s + 989.5 for s in seconds]
    assert tracking.capture_count(*case, "graphs", TWO) == 1.0
    assert len(taken) == count == (2 if temperature == "cold" else 3)


def test_the_same_number_asked_for_again_is_of_new_captures(taken: list[int]) -> None:
    case = ("mlp", "export", "cold")
    first, again = (samples(tracking.capture_phase_seconds(*case, "inductor_s", TWO)) for _ in range(2))

    assert (first, again, len(taken)) == ([0.0, 1.0], [2.0, 3.0], 4)
    assert samples(tracking.capture_seconds(*case, TWO)) == [12.5, 13.5]


@pytest.mark.parametrize(
    ("measure", "name", "reason"),
    [
        (tracking.capture_phase_seconds, "dynamo_s", "torch 9.9 has no timer"),
        (tracking.capture_count, "recompiles", "torch 9.9 has no counter"),
    ],
)
def test_what_this_torch_does_not_tell_is_na_with_its_reason(
    measure: Callable[..., tracking.AsvValue], name: str, reason: str, taken: list[int], tmp_path: Path
) -> None:
    value = measure("mlp", "export", "cold", name, TWO)

    assert isinstance(value, float)
    assert math.isnan(value)
    assert f'"status": "UNAVAILABLE", "reason": "{reason}"' in (tmp_path / "context").read_text()
    assert taken


def test_a_count_that_differs_between_captures_is_a_failure_and_no_number(taken: list[int], tmp_path: Path) -> None:
    with pytest.raises(SystemExit):
        tracking.capture_count("mlp", "export", "cold", "fx_nodes", TWO)

    said = "fx_nodes of the same capture differs from process to process: [0.0, 1.0]"
    assert said in (tmp_path / "context").read_text()
    assert len(taken) == 2


def test_a_capture_that_fails_is_tried_once_for_all_of_its_numbers(
    taken: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    tracking.capture_seconds("mlp", "export", "cold", TWO)
    assert len(taken) == 2
    failed: list[int] = []

    def capture(*_: object, **__: object) -> Capture:
        failed.append(1)
        return Capture(Status.TIMED_OUT, "still at capture after 3 s")

    monkeypatch.setattr(sampling, "capture", capture)
    for name in ("inductor_s", "compile_s"):
        with pytest.raises(SystemExit):
            tracking.capture_phase_seconds("mlp", "export", "warm", name, TWO)

    assert len(failed) == 1
