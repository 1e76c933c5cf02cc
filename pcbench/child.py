"""The one door into the measuring half: ``python -P -m pcbench.child REQUEST --answer-fd N``.

The request is one JSON object; the answer is JSON lines on file descriptor N. torch is imported here, so that its
import can be timed.
"""

from __future__ import annotations

import time

ENTERED = time.monotonic()

import ctypes  # noqa: E402, I001  # the clock comes first
import importlib  # noqa: E402
import json  # noqa: E402
import os  # noqa: E402
import signal  # noqa: E402
import sys  # noqa: E402
from typing import Any  # noqa: E402

from pcbench import checkout, timing  # noqa: E402
from pcbench.errors import PcbenchError, UnavailableError  # noqa: E402
from pcbench.status import Status  # noqa: E402


# From <linux/prctl.h>: a process whose parent was killed must not go on measuring.
_PR_SET_PDEATHSIG = 1

_ANSWERS = {
    "capture": "pcbench.runner.capturing",
    "load": "pcbench.runner.ladder",
    "probe": "pcbench.runner.capturing",
    "describe": "pcbench.runner.installation",
    "cache_hit": "pcbench.runner.hit_cost",
    "check": "pcbench.runner.checking",
    "claim": "pcbench.contract._checking",
    "codegen": "pcbench.codegen.collecting",
    "guard_census": "pcbench.guards.census",
    "guard_cost": "pcbench.guards.cost",
    "guard_sweep": "pcbench.guards.sweep",
    "guard_subtrees": "pcbench.guards.subtrees",
    "guard_remedies": "pcbench.guards.remedies",
    "guard_instructions": "pcbench.guards.instructions",
    "find_gpu": "pcbench.kernel_timing.finding",
    "kernel_times": "pcbench.kernel_timing.answering",
}
"""The module that answers a request has a function of its name, and the ``Request`` that it takes."""

_SEES_COMPILERS = ("capture", "load")


def main(request: dict[str, Any], fd: int) -> int:
    """Do what was asked, and say so; 0 unless the process itself is at fault."""

    def emit(message: dict[str, Any]) -> None:
        os.write(fd, json.dumps(message).encode() + b"\n")

    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    do, started = request.pop("do"), request.pop("started")
    clock = timing.PhaseClock(started, sees_compilers=do in _SEES_COMPILERS)
    clock.wall_s["interpreter_s"] = ENTERED - started
    clock.cpu_s = timing.cpu_seconds()
    try:
        checkout.refuse_other_code()
        emit({"stage": "import torch"})
        with clock.phase("import_torch_s"):
            torch = importlib.import_module("torch")
        torch.set_num_threads(request["threads"])
        answering = importlib.import_module(_ANSWERS[do])
        getattr(answering, do)(answering.Request(**request), clock, emit)
    except PcbenchError as error:
        status = Status.UNAVAILABLE if isinstance(error, UnavailableError) else getattr(error, "status", None)
        if status is None:
            emit({"error": {"problem": error.problem, "hint": error.hint}})
        else:
            emit({"failed": {"status": status, "reason": error.problem}})
    emit({"done": True})
    return 0


if __name__ == "__main__":
    sys.exit(main(json.loads(sys.argv[1]), int(sys.argv[3])))
