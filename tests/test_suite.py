"""The shape of the asv suite: what asv finds in it, and what its benchmarks declare."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from asv_runner.discovery import disc_benchmarks

from pcbench import guard_families, guard_tracking
from pcbench.codegen_numbers import QUANTITIES
from pcbench.guard_samples import DIFFERENCES, MEASURES
from pcbench.samples import CAPTURE_PHASES, WORSE_BY_COUNT

ROOT = Path(__file__).parent.parent


@pytest.fixture(scope="module")
def suite() -> list[Any]:
    """The benchmarks as asv finds them, in a process of the test's own."""
    sys.path.insert(0, str(ROOT))
    try:
        return list(disc_benchmarks(str(ROOT / "benchmarks")))
    finally:
        sys.path.remove(str(ROOT))


def test_importing_the_suite_imports_no_torch_and_starts_no_thread() -> None:
    # asv_runner itself imports numpy, where pympler is installed, and with it a thread.
    script = (
        "import os, sys; from asv_runner.discovery import disc_benchmarks; threads = os.listdir('/proc/self/task'); "
        "assert list(disc_benchmarks('benchmarks')); "
        "assert 'torch' not in sys.modules; assert os.listdir('/proc/self/task') == threads"
    )

    subprocess.run([sys.executable, "-c", script], cwd=ROOT, check=True)


def test_every_public_method_of_a_benchmark_class_is_one_that_asv_runs(suite: Sequence[Any]) -> None:
    known = {benchmark.name for benchmark in suite}
    for benchmark in suite:
        kind = type(benchmark.func.__self__)
        methods = {name for name, value in vars(kind).items() if callable(value) and not name.startswith("_")}
        module = kind.__module__.partition(".")[2]
        assert {f"{module}.{kind.__name__}.{name}" for name in methods - {"setup"}} <= known


def test_every_benchmark_has_a_version_set_by_hand_a_unit_and_a_generous_timeout(suite: Sequence[Any]) -> None:
    for benchmark in suite:
        stated = vars(type(benchmark.func.__self__)).get("version")
        assert isinstance(stated, str), benchmark.name
        assert benchmark.version == stated, benchmark.name
        units = ("seconds", "bytes", "claims", "instructions")
        counts = (".Counts.", ".Census.", ".Codegen.")
        assert benchmark.unit in units or any(count in benchmark.name for count in counts), benchmark.name
        assert benchmark.timeout >= 3600, benchmark.name


def test_the_method_that_takes_load_samples_runs_before_the_one_that_reads_them(suite: Sequence[Any]) -> None:
    loads = sorted(benchmark.name for benchmark in suite if ".Load." in benchmark.name)

    assert loads == ["bench_load.Load.track_first_output", "bench_load.Load.track_peak_rss"]


def test_every_phase_and_count_of_a_capture_is_tracked_with_the_direction_that_it_declares(
    suite: Sequence[Any],
) -> None:
    params = {benchmark.name: benchmark.params[-1] for benchmark in suite if benchmark.name.startswith("bench_capture")}
    (counts,) = (benchmark for benchmark in suite if ".Counts." in benchmark.name)

    assert params["bench_capture.Phases.track_seconds"] == [repr(phase) for phase in CAPTURE_PHASES]
    assert params["bench_capture.Counts.track_count"] == [repr(count) for count in WORSE_BY_COUNT]
    assert counts.worse_by == {"count": WORSE_BY_COUNT}
    assert set(WORSE_BY_COUNT.values()) == {"any", "up", "down"}


def test_what_is_tracked_of_guards_has_the_names_that_the_processes_use(suite: Sequence[Any]) -> None:
    params = {benchmark.name: benchmark.params for benchmark in suite if benchmark.name.startswith("bench_guards")}
    plain = {name: [[value.strip("'") for value in values] for values in each] for name, each in params.items()}
    measures = plain["bench_guards.Cost.track_seconds"][1]
    families, parts = plain["bench_guards.Slope.track_seconds"]

    assert set(measures) <= {*MEASURES, *DIFFERENCES}
    assert set(families) <= set(guard_families.names())
    assert set(parts) == set(guard_tracking.SLOPES)
    assert {benchmark.worse for benchmark in suite if benchmark.name == "bench_guards.Census.track_count"} == {"any"}


def test_numbers_of_machine_code_are_exact_counts_of_which_more_spills_and_less_occupancy_alone_are_worse(
    suite: Sequence[Any],
) -> None:
    numbers = [benchmark for benchmark in suite if benchmark.name.startswith("bench_codegen")]
    declared = {benchmark.codegen for benchmark in numbers if hasattr(benchmark, "codegen")}

    assert declared == set(QUANTITIES)
    found = [benchmark for benchmark in numbers if hasattr(benchmark, "codegen")]
    assert {(one.kind, one.param_names[:2] == ["kernel", "target"]) for one in found} == {("count", True)}
    assert {one.codegen for one in found if one.worse == "up"} == {"spills", "inverse occupancy"}
    assert {one.worse for one in found} == {"up", "any"}
    assert [benchmark.unit for benchmark in numbers if not hasattr(benchmark, "codegen")] == ["seconds"]
