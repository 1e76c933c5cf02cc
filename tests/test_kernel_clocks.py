"""Clocks of a GPU as the driver tells them, with the driver replaced; and why there is no GPU."""

from __future__ import annotations

from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import pytest
import torch

from pcbench.errors import UnavailableError
from pcbench.kernel_timing import clocks, torch_gpu

REASONS = {
    "GpuIdle": 1,
    "ApplicationsClocksSetting": 2,
    "SwPowerCap": 4,
    "HwSlowdown": 8,
    "SyncBoost": 16,
    "SwThermalSlowdown": 32,
    "HwThermalSlowdown": 64,
    "HwPowerBrakeSlowdown": 128,
    "DisplayClockSetting": 256,
}


@dataclass
class Driver:
    """What the driver answers: a clock, a mask of reasons, or an error from a call on."""

    reasons: int = 0
    error: Exception | None = None
    asked_for: list[str] = field(default_factory=list)

    class NVMLError(Exception):
        pass

    def module(self) -> Any:
        names = {f"nvmlClocksEventReason{name}": bit for name, bit in REASONS.items()}
        return SimpleNamespace(
            NVMLError=Driver.NVMLError,
            NVML_CLOCK_SM=1,
            nvmlInit=lambda: None,
            nvmlDeviceGetHandleByUUID=self.asked_for.append,
            nvmlDeviceGetClockInfo=lambda handle, kind: self._told(1980),
            nvmlDeviceGetCurrentClocksEventReasons=lambda handle: self._told(self.reasons),
            **names,
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
    [(0, ""), (1, ""), (2 | 256, ""), (4, "SwPowerCap"), (2 | 4 | 64, "SwPowerCap, HwThermalSlowdown"), (512, "0x200")],
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


def test_a_torch_without_cuda_and_rocm_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.version, "cuda", None)
    monkeypatch.setattr(torch.version, "hip", None)

    with pytest.raises(UnavailableError, match=r"was built without CUDA and without ROCm$"):
        torch_gpu.require()


def test_a_torch_that_finds_no_driver_quotes_its_own_words(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse() -> int:
        raise RuntimeError("Found no NVIDIA driver on your system.\nPlease check")

    monkeypatch.setattr(torch.version, "cuda", "13.2")
    monkeypatch.setattr(torch.cuda, "current_device", refuse)

    with pytest.raises(UnavailableError, match=r"use no GPU: RuntimeError: Found no NVIDIA driver on your system\.$"):
        torch_gpu.require()
