"""What an asv benchmark gives asv, and what it tells the result's sidecar beside that. Needs no torch."""

from __future__ import annotations

import importlib.util
import math
import os
import signal
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

from pcbench import checkout, discovery, sidecar
from pcbench.errors import PcbenchError, UnavailableError
from pcbench.sample_store import Absent
from pcbench.status import Status

AsvValue = dict[str, Any] | float
"""Samples as asv takes them, or one number, which is NaN where there is none."""

_KERNELS = "pcbench_kernels"


def samples_of(case: tuple[str, ...], measure: Callable[[], list[float]]) -> AsvValue:
    """The samples that ``measure`` takes of the commit's code, as asv takes them.

    A case that cannot be measured is NaN (asv shows n/a) where the commit or the installation lacks what it needs, and
    ends the process with 1 otherwise; the result's sidecar says why, under the benchmark's and the case's name.
    """
    try:
        checkout.refuse_other_code()
        with _stopped_by_sigterm():
            return {"samples": measure(), "number": 1}
    except Absent as absent:
        status, reason = absent.status, absent.reason
    except UnavailableError as error:
        status, reason = Status.UNAVAILABLE, error.problem
    except PcbenchError as error:
        status, reason = "FAILED", str(error)
    context = _sidecar()
    if context is not None:
        sidecar.add(context, _named(case), status, reason)
    print(f"{_named(case)}: {status}: {reason}", file=sys.stderr)
    if status == Status.UNAVAILABLE:
        return math.nan
    raise SystemExit(1)


def one_number(case: tuple[str, ...], measure: Callable[[], list[float]]) -> float:
    """The one number that ``measure`` gives, likewise: without asv's statistics."""
    found = samples_of(case, measure)
    return float(found["samples"][0]) if isinstance(found, dict) else found


def tell(case: tuple[str, ...], kind: str, told: Mapping[str, Any]) -> None:
    """Tell the sidecar of the result, where there is one, what a case has beside its number.

    Args:
        kind: What ``told`` is, as :func:`pcbench.sidecar.add_part` has it.
    """
    context = _sidecar()
    if context is not None:
        sidecar.add_part(context, _named(case), kind, told)


def refuse_unknown_kernel(kernel: str) -> None:
    """Return if the commit has a kernel: by its name, or by the path of a file in it.

    Raises:
        Absent: It has none.
    """
    if kernel.endswith(".py"):
        there = (checkout.root() / kernel).is_file()
    else:
        spec = importlib.util.find_spec(_KERNELS)
        origin = None if spec is None else spec.origin
        there = origin is not None and kernel in discovery.names(Path(origin).parent)
    if not there:
        raise Absent(Status.UNAVAILABLE, f"this commit has no kernel {kernel}")


def _named(case: tuple[str, ...]) -> str:
    """What the sidecar calls a case of the benchmark that this process runs."""
    return f"{os.environ.get('PCBENCH_BENCHMARK', 'unnamed')}({', '.join(case)})"


def _sidecar() -> Path | None:
    context = os.environ.get("PCBENCH_CONTEXT")
    return Path(context) if context else None


@contextmanager
def _stopped_by_sigterm() -> Iterator[None]:
    """asv ends an interrupted benchmark with SIGTERM; the processes that it started lead groups of their own."""

    def stop(signum: int, frame: FrameType | None) -> None:  # noqa: ARG001  # signal's signature
        raise SystemExit(128 + signum)

    before = signal.signal(signal.SIGTERM, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
