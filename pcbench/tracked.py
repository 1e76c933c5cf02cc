"""What an asv benchmark gives asv, and where the reason goes when it has no number. Needs no torch."""

from __future__ import annotations

import math
import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

from pcbench import checkout, sidecar
from pcbench.errors import PcbenchError, UnavailableError
from pcbench.sample_store import Absent
from pcbench.status import Status

Tracked = dict[str, Any] | float


def samples_of(case: tuple[str, ...], measure: Callable[[], list[float]]) -> Tracked:
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
    context = os.environ.get("PCBENCH_CONTEXT")
    if context:
        sidecar.add(Path(context), named(case), status, reason)
    print(f"{named(case)}: {status}: {reason}", file=sys.stderr)
    if status == Status.UNAVAILABLE:
        return math.nan
    raise SystemExit(1)


def number_of(case: tuple[str, ...], measure: Callable[[], list[float]]) -> float:
    """The one number that ``measure`` gives, likewise: without asv's statistics."""
    found = samples_of(case, measure)
    return float(found["samples"][0]) if isinstance(found, dict) else found


def named(case: tuple[str, ...]) -> str:
    """What the sidecar calls a case of the benchmark that this process runs."""
    return f"{os.environ.get('PCBENCH_BENCHMARK', 'unnamed')}({', '.join(case)})"


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
