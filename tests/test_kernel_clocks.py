"""Clocks of a GPU as the driver tells them, with the driver replaced."""

from __future__ import annotations

from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import pytest

from pcbench.kernel_timing import clocks


@dataclass
class Driver:
    """What the driver answers: a clock, a mask of reasons, or an error from a call on."""

    reasons: int = 0
    error: Exception | None = None
    asked_for: list[str] = field(default_factory=list)

    class NVMLError(Exception):
        pass

    def module(self) -> Any:
        return SimpleNamespace(
            NVMLError=Driver.NVMLError,
            NVML_CLOCK_SM=1,
            nvmlInit=lambda: None,
            nvmlDeviceGetHandleByUUID=self.asked_for.append,
            nvmlDeviceGetClockInfo=lambda handle, kind: self._told(1980),
            nvmlDeviceGetCurrentClocksEventReasons=lambda handle: self._told(self.reasons),
        )

    def _told(self, value: int) -> int:
        if self.error is not None:
            raise self.error
        return value


@pytest.fixture
def driver(monkeypatch: pytest.MonkeyPatch) -> Driver:
    made = Driver()
    monkeypatch.setattr(clocks, "pynvml", made.module())
    return made


@pytest.mark.parametrize(
    ("reasons", "throttled"),
    [
        (0, ""),
        (1, ""),
        (2 | 256, ""),
        (4, "SwPowerCap"),
        (8, "HwSlowdown"),
        (16, "SyncBoost"),
        (32, "SwThermalSlowdown"),
        (64, "HwThermalSlowdown"),
        (128, "HwPowerBrakeSlowdown"),
        (2 | 4 | 64, "SwPowerCap, HwThermalSlowdown"),
        (1 | 4 | 512, "SwPowerCap, 0x200"),
    ],
)
def test_a_clock_comes_with_what_holds_it_down_and_not_with_what_a_person_set(
    driver: Driver, reasons: int, throttled: str
) -> None:
    driver.reasons = reasons
    told = clocks.nvidia_clocks("1234")

    assert told.unavailable is None
    assert told.read() == (1980.0, throttled)
    assert driver.asked_for == ["GPU-1234"]


def test_a_driver_that_refuses_is_quoted_and_nothing_is_told(driver: Driver) -> None:
    driver.error = Driver.NVMLError("Insufficient Permissions")
    told = clocks.nvidia_clocks("1234")

    assert told.unavailable == "the driver does not tell them: Insufficient Permissions"
    assert told.read() == (None, None)


def test_a_driver_that_fails_once_leaves_one_sample_without_a_clock(driver: Driver) -> None:
    told = clocks.nvidia_clocks("1234")
    driver.error = Driver.NVMLError("Timeout")
    first, driver.error = told.read(), None

    assert (first, told.read()) == ((None, None), (1980.0, ""))


def test_without_pynvml_the_reason_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clocks, "pynvml", None)

    assert clocks.nvidia_clocks("1234").unavailable == "pynvml is not installed: pip install 'pcbench[gpu]'"


def test_a_pynvml_that_cannot_ask_what_holds_a_clock_down_is_said(
    driver: Driver, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delattr(clocks.pynvml, "nvmlDeviceGetCurrentClocksEventReasons")
    told = clocks.nvidia_clocks("1234")

    assert told.unavailable == (
        "this pynvml is too old, it has no nvmlDeviceGetCurrentClocksEventReasons: pip install 'pcbench[gpu]'"
    )
    assert (told.read(), driver.asked_for) == ((None, None), [])
