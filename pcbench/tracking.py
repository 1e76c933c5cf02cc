"""asv benchmarks of persisted models: the one call in each benchmark's body, and a ready class for other repositories.

There, with ``pcbench.asv_plugin`` in asv.conf.json, this is a benchmark file::

    from pcbench import tracking

    Load = tracking.load_benchmark("models/mine.py")

Nothing here imports torch: every sample is a process of its own. A case that cannot be measured is NaN (asv shows n/a)
where the commit or the installation lacks what it needs, and a failed process otherwise; the result's sidecar says why.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Sequence
from pathlib import Path

from pcbench import checkout, discovery, sample_store
from pcbench.asking import Setting
from pcbench.claim_tracking import claims_holding as claims_holding
from pcbench.codegen_tracking import codegen_compile_seconds as codegen_compile_seconds
from pcbench.codegen_tracking import codegen_number as codegen_number
from pcbench.errors import PcbenchError, UsageError
from pcbench.guard_tracking import guard_count as guard_count
from pcbench.guard_tracking import guard_instructions as guard_instructions
from pcbench.guard_tracking import guard_seconds as guard_seconds
from pcbench.guard_tracking import guard_slope_seconds as guard_slope_seconds
from pcbench.hit_tracking import cache_hit_seconds as cache_hit_seconds
from pcbench.kernel_tracking import kernel_seconds as kernel_seconds
from pcbench.kernel_tracking import rival_seconds as rival_seconds
from pcbench.sample_store import Absent, Store
from pcbench.sample_store import SampleCounts as SampleCounts
from pcbench.samples import EAGER, USUAL_TEMPERATURES, CaptureCounts, CapturePhases
from pcbench.status import Status
from pcbench.tracked import AsvValue, one_number, samples_of

PEAK_TEMPERATURES = ("cold", "warm")
COUNTS = SampleCounts()


def capture_seconds(target: str, strategy: str, temperature: str, samples: SampleCounts = COUNTS) -> AsvValue:
    """Seconds of capture and save, from empty compiler caches (cold) or from those that a capture left (warm).

    Dynamo and what the strategy loads with are imported before.
    """

    def measure(store: Store) -> list[float]:
        return [capture.total_s for capture in store.captures(temperature, samples)]

    return _tracked((target, strategy, temperature), measure)


def capture_peak_rss_bytes(target: str, strategy: str, temperature: str, samples: SampleCounts = COUNTS) -> AsvValue:
    """Peak resident memory of the captures that :func:`capture_seconds` takes, when the artifact was saved."""

    def measure(store: Store) -> list[float]:
        taken = store.captures(temperature, samples, "peak_rss")
        return [float(_known(capture.peak_rss_bytes, "peak memory of a capture")) for capture in taken]

    return _tracked((target, strategy, temperature), measure)


def capture_phase_seconds(
    target: str, strategy: str, temperature: str, phase: str, samples: SampleCounts = COUNTS
) -> AsvValue:
    """Seconds of one phase, such as ``inductor_s``, of the captures that :func:`capture_seconds` takes."""

    def measure(store: Store) -> list[float]:
        taken = [capture.phases for capture in store.captures(temperature, samples, phase)]
        return [_part(parts, phase) for parts in taken]

    return _tracked((target, strategy, temperature, phase), measure)


def capture_count(target: str, strategy: str, temperature: str, count: str, samples: SampleCounts = COUNTS) -> AsvValue:
    """A count, such as ``graphs``, of the captures that :func:`capture_seconds` takes; they must agree."""

    def measure(store: Store) -> list[float]:
        taken = [capture.counts for capture in store.captures(temperature, samples, count)]
        found = sorted({_part(parts, count) for parts in taken})
        if len(found) > 1:
            raise PcbenchError(f"{count} of the same capture differs from process to process: {found}")
        return found

    return _number((target, strategy, temperature, count), measure)


def artifact_bytes(target: str, strategy: str) -> AsvValue:
    """Bytes of all files of the artifact."""

    def measure(store: Store) -> list[float]:
        return [float(_known(store.captured().artifact_bytes, "size of the artifact"))]

    return _number((target, strategy), measure)


def first_output_seconds(target: str, strategy: str, temperature: str, samples: SampleCounts = COUNTS) -> AsvValue:
    """Seconds to the first output: from the start of the process, or, hot, of a second load in a process."""

    def measure(store: Store) -> list[float]:
        return [sample.phases.total_s for sample in store.loads(temperature, "seconds", samples)]

    return _tracked((target, strategy, temperature), measure)


def peak_rss_bytes(target: str, strategy: str, temperature: str, samples: SampleCounts = COUNTS) -> AsvValue:
    """Peak resident memory at the first output, of the samples that :func:`first_output_seconds` has just taken.

    ``temperature`` is cold or warm: a hot load has no peak of its own.
    """

    def measure(store: Store) -> list[float]:
        discovery.check_name("peak memory at temperature", temperature, PEAK_TEMPERATURES)
        taken = store.loads(temperature, "peak_rss", samples)
        return [float(_known(sample.peak_rss_bytes, "peak memory of a load")) for sample in taken]

    return _tracked((target, strategy, temperature), measure)


def load_benchmark(
    *targets: str,
    strategies: Sequence[str] = (EAGER, "export", "aoti"),
    temperatures: Sequence[str] = USUAL_TEMPERATURES,
    samples: SampleCounts = COUNTS,
) -> type:
    """An asv benchmark class that tracks load latency and peak memory of models.

    Args:
        targets: Paths to files that end in MODEL, or ``package.module:function``, in the commit's checkout.
        strategies: Names of strategies; asv stores results by position: append, never insert.
        temperatures: Some of cold, warm, hot.
        samples: How many of each.

    Raises:
        UsageError: No target, or a strategy or temperature that the installed pcbench does not have.
    """
    for kind, given in (("target", targets), ("strategy", strategies), ("temperature", temperatures)):
        if not given:
            raise UsageError(f"load_benchmark was given no {kind}", hint="its cases would be none")
    for strategy in strategies:
        discovery.check_name("strategy", strategy, (EAGER, *discovery.strategy_names()))
    for temperature in temperatures:
        discovery.check_name("temperature", temperature, USUAL_TEMPERATURES)
    with_peak = [temperature for temperature in temperatures if temperature in PEAK_TEMPERATURES]

    class Load:
        version = "1"
        timeout = 3600
        params = (list(targets), list(strategies), list(temperatures))
        param_names = ("model", "strategy", "temperature")

        def track_first_output(self, model: str, strategy: str, temperature: str) -> AsvValue:
            return first_output_seconds(model, strategy, temperature, samples)

        def track_peak_rss(self, model: str, strategy: str, temperature: str) -> AsvValue:
            return peak_rss_bytes(model, strategy, temperature, samples)

    Load.track_first_output.unit = "seconds"  # type: ignore[attr-defined]  # how asv takes a unit
    if with_peak:
        Load.track_peak_rss.unit = "bytes"  # type: ignore[attr-defined]  # as above
        Load.track_peak_rss.kind = "memory"  # type: ignore[attr-defined]  # as above
        Load.track_peak_rss.params = (list(targets), list(strategies), with_peak)  # type: ignore[attr-defined]  # as above
    else:
        del Load.track_peak_rss
    return Load


def _part(parts: CapturePhases | CaptureCounts | None, name: str) -> float:
    """A phase or a count of a capture.

    Raises:
        Absent: This torch does not tell it.
        PcbenchError: The capture was not followed at all.
    """
    if parts is None:
        raise PcbenchError("the capture came without phases and counts")
    value: float | None = getattr(parts, name)
    if value is None:
        raise Absent(Status.UNAVAILABLE, parts.unknown.get(name))
    return float(value)


def _known(value: int | None, what: str) -> int:
    if value is None:
        raise PcbenchError(f"the {what} is unknown")
    return value


def _tracked(case: tuple[str, ...], measure: Callable[[Store], list[float]]) -> AsvValue:
    return samples_of(case, _opened(case, measure))


def _number(case: tuple[str, ...], measure: Callable[[Store], list[float]]) -> float:
    return one_number(case, _opened(case, measure))


def _opened(case: tuple[str, ...], measure: Callable[[Store], list[float]]) -> Callable[[], list[float]]:
    """``measure`` with what the benchmarks of a model and strategy share."""
    target, strategy = case[:2]

    def measured() -> list[float]:
        lacking = _lacking(target, strategy)
        if lacking is not None:
            raise Absent(Status.UNAVAILABLE, f"this commit has no {lacking}")
        with sample_store.opened(Setting(target, cwd=checkout.root()), strategy) as store:
            return measure(store)

    return measured


def _lacking(target: str, strategy: str) -> str | None:
    """What of the model and the strategy the commit has no file of, or None."""
    if strategy != EAGER and strategy not in discovery.strategy_names():
        return f"strategy {strategy}"
    return None if _has_file(target, checkout.root()) else f"model {target}"


def _has_file(target: str, tree: Path) -> bool:
    """Whether the file of a model is in the commit; what is in the file, the process that imports it says."""
    module, colon, _ = target.partition(":")
    if not colon:
        if target.endswith(".py"):
            return (tree / target).is_file()
        return target in discovery.model_names()
    package, *_ = names = module.split(".")
    if not (tree / package).is_dir() and not (tree / f"{package}.py").is_file():
        return importlib.util.find_spec(package) is not None  # not of this repository: an installed one
    inside = tree.joinpath(*names)
    return inside.with_suffix(".py").is_file() or inside.is_dir()
