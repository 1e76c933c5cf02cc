"""pcbench measures what a persisted, compiled PyTorch model costs, and notices the night it got worse.

Two halves that meet only in results/::

    measure:  benchmarks -> runner -> strategies -> models      kernels     (imports torch or triton)
                  |           child: the one door into this half
              results/        asv's JSON, and beside each file a sidecar that says what it ran on
                  |
    judge:    commands -> reports -> analysis                               (never imports torch)

    both:     errors status discovery manifest processes sampling           (stdlib only)
"""

from __future__ import annotations

import importlib
from typing import Any

__version__ = "0.1.0"

__all__ = ["ModelRunnerCache", "__version__", "load", "precompile", "save"]


def __getattr__(name: str) -> Any:
    if name == "ModelRunnerCache":
        return importlib.import_module("pcbench.runner.cache").ModelRunnerCache
    if name == "precompile":
        return importlib.import_module("pcbench.precompile")
    if name in ("save", "load"):
        return getattr(importlib.import_module("pcbench.runner.shipping"), name)
    raise AttributeError(f"module 'pcbench' has no attribute {name!r}")
