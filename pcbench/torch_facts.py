"""Prints what a measuring interpreter runs on, as one JSON object. Run as a script, by path, under that interpreter.

Of torch's configuration it gives the environment variables: in a fresh process nothing else changes it.
"""

from __future__ import annotations

import importlib.util
import json
import os
import shlex
import shutil
import subprocess
import sys
from typing import Any

_FLAGS = ("TORCH", "PYTORCH", "TRITON", "OMP_", "MKL_", "KMP_", "GOMP_", "CUDA_", "MALLOC_", "LD_PRELOAD", "ATEN_")
_PLACES = ("TORCHINDUCTOR_CACHE_DIR", "TRITON_CACHE_DIR")


def compiler() -> str | None:
    """The C++ compiler that Inductor calls, ``$CXX`` or g++: its path and the first line of its ``--version``."""
    words = shlex.split(os.environ.get("CXX") or "g++")
    path = shutil.which(words[0]) if words else None
    if path is None:
        return None
    said = subprocess.run([path, *words[1:], "--version"], capture_output=True, text=True, check=False).stdout
    return f"{path}: {said.partition(chr(10))[0]}"


def facts() -> dict[str, Any]:
    """Versions, instruction set, GPU, flags and C++ compiler; None for what there is not."""
    found: dict[str, Any] = {
        "torch": None,
        "torch_git": None,
        "triton": None,
        "python": ".".join(map(str, sys.version_info[:3])),
        "isa": None,
        "gpu": None,
        "flags": {k: v for k, v in sorted(os.environ.items()) if k.startswith(_FLAGS) and k not in _PLACES},
        "compiler": compiler(),
    }
    if importlib.util.find_spec("torch") is None:
        return found
    import torch  # noqa: PLC0415  # an interpreter without torch is asked, too

    found["torch"] = str(torch.__version__)
    found["torch_git"] = torch.version.git_version
    found["isa"] = torch.backends.cpu.get_cpu_capability()
    if torch.cuda.is_available():
        found["gpu"] = torch.cuda.get_device_name(0)
    if importlib.util.find_spec("triton") is not None:
        import triton  # noqa: PLC0415  # as above

        found["triton"] = str(triton.__version__)
    return found


if __name__ == "__main__":
    print(json.dumps(facts()))
