"""A night that is short of time repeats the benchmarks less that its plan names, and no other."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
ASKING = (
    "from benchmarks import suite; suite.tracking = __import__('types').SimpleNamespace(SampleCounts=dict);"
    "print(suite.GUARD_PROCESSES, suite.samples()['warm'])"
)
FEW = "bench_load.Load.track_first_output,bench_guards.Cost.track_seconds"


@pytest.mark.parametrize(
    ("benchmark", "few", "told"),
    [
        ("bench_load.Load.track_first_output", FEW, "3 3"),
        ("bench_guards.Cost.track_seconds", FEW, "3 3"),
        ("bench_load.Load.track_peak_rss", FEW, "5 7"),
        ("bench_capture.Counts.track_count", FEW, "5 7"),
        ("bench_load.Load.track_first_output", "", "5 7"),
        (None, "", "5 7"),
    ],
)
def test_only_the_named_benchmarks_take_fewer_samples(benchmark: str | None, few: str, told: str) -> None:
    named = {} if benchmark is None else {"PCBENCH_BENCHMARK": benchmark}
    ours = {name: value for name, value in os.environ.items() if not name.startswith("PCBENCH_")}
    variables = {**ours, "PCBENCH_PROFILE": "full", "PCBENCH_FEW": few, **named}

    done = subprocess.run(
        [sys.executable, "-c", ASKING], cwd=ROOT, env=variables, capture_output=True, text=True, check=True
    )

    assert done.stdout.strip() == told
