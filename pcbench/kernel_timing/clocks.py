"""The clock of a GPU's multiprocessors and what holds it down, as the driver tells them. Nothing here sets anything."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

try:
    import pynvml
except ImportError:
    pynvml = None

_HOLD_DOWN = {
    0x4: "SwPowerCap",
    0x8: "HwSlowdown",
    0x10: "SyncBoost",
    0x20: "SwThermalSlowdown",
    0x40: "HwThermalSlowdown",
    0x80: "HwPowerBrakeSlowdown",
}
"""The bits in nvml.h, and the ends of its names for them."""
_HARMLESS = 0x1 | 0x2 | 0x100
"""GpuIdle, ApplicationsClocksSetting, DisplayClockSetting: low for want of work, or set by a person, not held down."""
_ASKED = "nvmlDeviceGetCurrentClocksEventReasons"

Clock = tuple[float | None, str | None]
"""The clock in MHz and why it is held down; None where it is not told."""


@dataclass(frozen=True)
class Clocks:
    """How the clock is read, and why it cannot be, or None."""

    read: Callable[[], Clock]
    unavailable: str | None


def untold(reason: str) -> Clocks:
    """Clocks that say nothing, for a reason."""
    return Clocks(lambda: (None, None), reason)


def nvidia_clocks(uuid: str) -> Clocks:
    """The clocks of the NVIDIA GPU with this identity; the driver is asked for them by ``pynvml``, once to see."""
    if pynvml is None:
        return untold("pynvml is not installed: pip install 'pcbench[gpu]'")
    if not hasattr(pynvml, _ASKED):
        return untold(f"this pynvml is too old, it has no {_ASKED}: pip install 'pcbench[gpu]'")

    def read() -> Clock:
        clock = pynvml.nvmlDeviceGetClockInfo(handle, pynvml.NVML_CLOCK_SM)
        return float(clock), _held_down(pynvml.nvmlDeviceGetCurrentClocksEventReasons(handle))

    def read_or_say_nothing() -> Clock:
        try:
            return read()
        except pynvml.NVMLError:  # it answered before: this sample alone has no clock
            return None, None

    try:
        pynvml.nvmlInit()
        handle = pynvml.nvmlDeviceGetHandleByUUID(f"GPU-{uuid}")
        read()
    except pynvml.NVMLError as error:
        return untold(f"the driver does not tell them: {error}")
    return Clocks(read_or_say_nothing, None)


def _held_down(reasons: int) -> str:
    """The reasons in the driver's words; a bit that has none here is said as it is."""
    words = [word for bit, word in _HOLD_DOWN.items() if reasons & bit]
    unknown = reasons & ~(_HARMLESS | sum(_HOLD_DOWN))
    return ", ".join([*words, *([f"{unknown:#x}"] if unknown else [])])
