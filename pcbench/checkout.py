"""Which code a process measures: the commit's, and nothing else's.

asv's environment (``pcbench.asv_plugin``) names a folder in PCBENCH_CHECKOUT that holds the commit's packages. An
installed copy, a working tree or ``python -I`` may still put another one in their place; a process that measures asks
here first.
"""

from __future__ import annotations

import importlib.util
import os
from pathlib import Path

from pcbench.errors import PcbenchError

PACKAGES = ("pcbench", "pcbench_kernels")


def refuse_other_code() -> None:
    """Return if this process imports the packages of the checkout that it was told to measure, or was told of none.

    Raises:
        PcbenchError: One of them resolves elsewhere.
    """
    folder = os.environ.get("PCBENCH_CHECKOUT")
    if not folder:
        return
    for package in PACKAGES:
        expected = Path(folder) / package
        if not expected.exists():
            continue
        spec = importlib.util.find_spec(package)
        found = Path(spec.origin).parent if spec is not None and spec.origin is not None else None
        if found is None or found.resolve() != expected.resolve():
            raise PcbenchError(
                f"refused to measure: {package} is imported from {found or 'nowhere'}, not from {expected.resolve()}",
                hint="start it without -I, and with PYTHONPATH as asv's environment set it",
            )


def root() -> Path:
    """The whole checkout of the commit that is measured; without asv, the current folder."""
    return Path(os.environ.get("PCBENCH_TREE") or Path.cwd())
