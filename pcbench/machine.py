"""A complete and stable description of this machine, where asv looks for it: ``~/.asv-machine.json``.

asv's own holds the kernel's version and the memory in bytes, so that a new kernel image starts new graphs, and drops
what equals its guesses; this one holds what stays the same, and the GPU.
"""

from __future__ import annotations

import json
import os
import platform
from pathlib import Path

from pcbench.whole_files import write_whole

_VERSION = 1


def ensure(name: str | None = None, path: Path | None = None) -> str:
    """Add an entry for this machine unless asv already finds one; the name that asv will use. Nothing is overwritten.

    Args:
        name: The machine's name in results; by default its host name, as asv takes it.
        path: The file; by default asv's.
    """
    file = path or Path.home() / ".asv-machine.json"
    stored: dict[str, object] = json.loads(file.read_text()) if file.is_file() else {}
    names = [key for key in stored if key != "version"]
    wanted = name or platform.node()
    if wanted in names:
        return wanted
    # asv takes a lone entry under any name for this machine; a second entry would end that, and split its history.
    if len(names) == 1 and wanted == platform.node():
        return names[0]
    stored[wanted] = {"machine": wanted, **describe()}
    stored["version"] = _VERSION
    write_whole(file, (json.dumps(stored, indent=4, sort_keys=True) + "\n").encode())
    return wanted


def describe() -> dict[str, str]:
    """What asv's machine file says of a machine, as text; ``gpu`` is empty where there is none."""
    return {
        "os": platform.system(),
        "arch": platform.machine(),
        "cpu": _field(Path("/proc/cpuinfo"), "model name") or platform.processor(),
        "num_cpu": str(os.cpu_count()),
        "ram": f"{round(os.sysconf('SC_PAGE_SIZE') * os.sysconf('SC_PHYS_PAGES') / 2**30)}GB",
        "gpu": gpu(),
    }


def gpu() -> str:
    """The model names of the NVIDIA GPUs, as the driver gives them; empty where there is none."""
    files = sorted(Path("/proc/driver/nvidia/gpus").glob("*/information"))
    return ", ".join(filter(None, (_field(file, "Model") for file in files)))


def gpu_driver() -> str | None:
    """The version of the NVIDIA driver, or None."""
    file = Path("/proc/driver/nvidia/version")
    words = file.read_text().splitlines()[0].split() if file.is_file() else []
    return next((word for word in words if word[0].isdigit() and "." in word), None)


def _field(file: Path, key: str) -> str:
    lines = file.read_text().splitlines() if file.is_file() else []
    return next((line.partition(":")[2].strip() for line in lines if line.startswith(key)), "")
