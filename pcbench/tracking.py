"""asv benchmarks of persisted models: the one call in each benchmark's body, and a ready class for other repositories.

There, with ``pcbench.asv_plugin`` in asv.conf.json, this is a benchmark file::

    from pcbench import tracking

    Load = tracking.load_benchmark("models/mine.py")

Nothing here imports torch: every sample is a process of its own. A case that cannot be measured is NaN (asv shows n/a)
where the commit or the installation lacks what it needs, and a failed process otherwise; the result's sidecar says why.
"""

from __future__ import annotations

import math
import os
import re
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

from pcbench import checkout, discovery, sample_store, sampling, sidecar
from pcbench.errors import PcbenchError
from pcbench.sample_store import Absent, Store
from pcbench.sample_store import SampleCounts as SampleCounts
from pcbench.samples import EAGER, TEMPERATURES
from pcbench.status import Status

Tracked = dict[str, Any] | float

COUNTS = SampleCounts()


def capture_seconds(target: str, strategy: str, temperature: str, samples: SampleCounts = COUNTS) -> Tracked:
    """Seconds of capture and save, from empty compiler caches (cold) or from those that a capture left (warm)."""

    def measure(store: Store) -> list[float]:
        if temperature == "cold":
            captures = [store.captured(), *(store.capture_again() for _ in range(1, samples.cold))]
        else:
            store.captured()
            captures = [store.capture_again(warm=True) for _ in range(samples.warm)]
        return [(c.capture_s or 0.0) + (c.save_s or 0.0) for c in captures]

    return _tracked((target, strategy, temperature), measure)


def artifact_bytes(target: str, strategy: str) -> Tracked:
    """Bytes of all files of the artifact."""
    found = _tracked((target, strategy), lambda store: [float(store.captured().artifact_bytes or 0)])
    return float(found["samples"][0]) if isinstance(found, dict) else found


def first_output_seconds(target: str, strategy: str, temperature: str, samples: SampleCounts = COUNTS) -> Tracked:
    """Seconds to the first output: from the start of the process, or, hot, of a second load in a process."""

    def measure(store: Store) -> list[float]:
        return [sample.phases.total_s for sample in store.loads(temperature, "seconds", samples)]

    return _tracked((target, strategy, temperature), measure)


def peak_rss_bytes(target: str, strategy: str, temperature: str, samples: SampleCounts = COUNTS) -> Tracked:
    """Peak resident memory at the first output, of the samples that :func:`first_output_seconds` has just taken."""

    def measure(store: Store) -> list[float]:
        return [float(sample.peak_rss_bytes) for sample in store.loads(temperature, "peak_rss", samples)]

    return _tracked((target, strategy, temperature), measure)


def load_benchmark(
    *targets: str,
    strategies: Sequence[str] = (EAGER, "export", "aoti"),
    temperatures: Sequence[str] = TEMPERATURES,
    samples: SampleCounts = COUNTS,
) -> type:
    """An asv benchmark class that tracks load latency and peak memory of models.

    Args:
        targets: Paths to files that end in MODEL, or ``package.module:function``, in the commit's checkout.
        strategies: Names of strategies; asv stores results by position: append, never insert.
        temperatures: Some of cold, warm, hot.
        samples: How many of each.
    """

    class Load:
        version = "1"
        timeout = 3600
        params = (list(targets), list(strategies), list(temperatures))
        param_names = ("model", "strategy", "temperature")

        def track_first_output(self, model: str, strategy: str, temperature: str) -> Tracked:
            return first_output_seconds(model, strategy, temperature, samples)

        def track_peak_rss(self, model: str, strategy: str, temperature: str) -> Tracked:
            return peak_rss_bytes(model, strategy, temperature, samples)

    Load.track_first_output.unit = "seconds"  # type: ignore[attr-defined]  # how asv takes a unit
    Load.track_peak_rss.unit = "bytes"  # type: ignore[attr-defined]  # as above
    return Load


def _tracked(case: tuple[str, ...], measure: Callable[[Store], list[float]]) -> Tracked:
    """Run ``measure`` with what the benchmarks of a model and strategy share, and give asv what it takes."""
    target, strategy = case[:2]
    try:
        checkout.refuse_other_code()
        lacking = _lacking(target, strategy)
        if lacking is not None:
            raise Absent(Status.UNAVAILABLE, f"this commit has no {lacking}")
        setting = sampling.Setting(target, cwd=checkout.root())
        with _stopped_by_sigterm(), sample_store.opened(setting, strategy) as store:
            return {"samples": measure(store), "number": 1}
    except Absent as absent:
        status, reason = absent.status, absent.reason
    except PcbenchError as error:
        status, reason = "FAILED", str(error)
    benchmark = os.environ.get("PCBENCH_BENCHMARK", "unnamed")
    named = f"{benchmark}({', '.join(case)})"
    context = os.environ.get("PCBENCH_CONTEXT")
    if context:
        sidecar.add(Path(context), named, status, reason)
    print(f"{named}: {status}: {reason}", file=sys.stderr)
    if status == Status.UNAVAILABLE:
        return math.nan
    raise SystemExit(1)


def _lacking(target: str, strategy: str) -> str | None:
    """What of the model and the strategy the commit has no file of, or None."""
    if strategy != EAGER and strategy not in discovery.strategy_names():
        return f"strategy {strategy}"
    return None if _has_model(target, checkout.root()) else f"model {target}"


def _has_model(target: str, tree: Path) -> bool:
    module, colon, function = target.partition(":")
    if not colon:
        if target.endswith(".py"):
            return (tree / target).is_file()
        return target in discovery.model_names()
    package, *_ = names = module.split(".")
    if not (tree / package).is_dir() and not (tree / f"{package}.py").is_file():
        return True  # not of this repository: the process that imports it will say
    inside = tree.joinpath(*names)
    sources = [file for file in (inside.with_suffix(".py"), inside / "__init__.py") if file.is_file()]
    text = "".join(file.read_text() for file in sources)
    return "import *" in text or re.search(rf"\b{re.escape(function)}\b", text) is not None


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
