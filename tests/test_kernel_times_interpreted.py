"""A real kernel timed on a simulated GPU: Triton's interpreter stands in for its launches, in a process of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any

import interpreted_times
import pytest

from pcbench.kernel_samples import read_times

pytestmark = pytest.mark.slow


def told(*words: str) -> dict[str, Any]:
    command = [sys.executable, interpreted_times.__file__, *words]
    env = os.environ | {"TRITON_INTERPRET": "1", "OMP_NUM_THREADS": "1"}
    ended = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr
    found: dict[str, Any] = json.loads(ended.stdout.splitlines()[-1])
    return found


def test_a_kernel_of_triton_is_timed_and_checked_beside_torchs_own_and_so_is_the_copy_that_is_the_roof() -> None:
    times = read_times(told())

    assert times.launch == "vector_add float32 elements=3000"
    assert (times.rival, times.config, times.unavailable) == ("torch.add", (), {})
    # Three sets of 24,000 bytes exceed twice the cache.
    assert [sample.seconds for sample in (*times.samples, *times.rival_samples)] == pytest.approx([0.02 / 3] * 4)
    assert times.copy_bytes_per_s == pytest.approx(2 * 400_000 / 0.02)
    assert times.matmul_flops_per_s == {}


def test_a_kernel_of_triton_that_goes_wrong_while_it_is_timed_has_no_time() -> None:
    assert "in the last timed launches, output 0 of input set" in told("--spoiled")["failed"]
