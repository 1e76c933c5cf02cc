"""Times of kernels as they are kept: what is read again, and what is refused."""

from __future__ import annotations

import math
from dataclasses import asdict, replace

import pytest
from fake_gpu import FakeGpu, adding, timed, with_small_roofs

from pcbench.errors import ResultsError
from pcbench.kernel_samples import read_times


@pytest.fixture
def gpu(monkeypatch: pytest.MonkeyPatch) -> FakeGpu:
    return with_small_roofs(monkeypatch)


def test_stored_times_are_read_as_they_were_taken(gpu: FakeGpu) -> None:
    times = timed(gpu, adding(gpu))

    assert read_times(asdict(times)) == times
    assert read_times(asdict(replace(times, copy_bytes_per_s=None, rival_samples=()))).copy_bytes_per_s is None


@pytest.mark.parametrize("seconds", [0.0, -1e-4, math.nan, math.inf])
@pytest.mark.parametrize("whose", ["samples", "rival_samples"])
def test_stored_times_with_a_sample_that_is_no_time_are_refused(gpu: FakeGpu, whose: str, seconds: float) -> None:
    stored = asdict(timed(gpu, adding(gpu), pairs=2))
    stored[whose][1]["seconds"] = seconds

    with pytest.raises(ResultsError, match=rf"adding float32 elements=64 has a sample of {seconds} s"):
        read_times(stored)


@pytest.mark.parametrize(("samples", "rivals"), [(0, 0), (2, 1), (1, 2)])
def test_stored_times_without_samples_or_with_rivals_that_are_not_beside_them_are_refused(
    gpu: FakeGpu, samples: int, rivals: int
) -> None:
    stored = asdict(timed(gpu, adding(gpu), pairs=2))
    stored["samples"], stored["rival_samples"] = stored["samples"][:samples], stored["rival_samples"][:rivals]

    with pytest.raises(ResultsError, match=f"has {samples} samples, and {rivals} of its rival"):
        read_times(stored)


@pytest.mark.parametrize("rate", [0.0, -1e12, math.nan, math.inf])
def test_stored_times_with_a_roof_that_is_no_rate_are_refused(gpu: FakeGpu, rate: float) -> None:
    times = timed(gpu, adding(gpu), pairs=2)

    for changed in (replace(times, copy_bytes_per_s=rate), replace(times, matmul_flops_per_s={"float16": rate})):
        with pytest.raises(ResultsError, match="has a roof of"):
            read_times(asdict(changed))
