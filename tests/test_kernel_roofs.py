"""What a kernel's times are held against: how fast the simulated GPU copies, and multiplies."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
import torch
from fake_gpu import FakeGpu, adding, kernel_of, matrices, timed, with_small_roofs

from pcbench.kernel_timing import roofs
from pcbench.kernel_timing.gpu import Run, Timing


@pytest.fixture
def gpu(monkeypatch: pytest.MonkeyPatch) -> FakeGpu:
    return with_small_roofs(monkeypatch)


def test_a_way_to_copy_that_waits_for_the_cpu_is_named_and_the_other_is_the_roof(
    gpu: FakeGpu, monkeypatch: pytest.MonkeyPatch
) -> None:
    timed_before = gpu.timed

    def waiting(run: Run, lead_s: float) -> Timing:
        timing = timed_before(run, lead_s)
        return replace(timing, queued=gpu.pieces[-1].what != "slow")

    monkeypatch.setattr(gpu, "timed", waiting)
    slow = gpu.running("slow", 1e-5, lambda source, target: target.copy_(source))
    monkeypatch.setattr(roofs, "COPIES", {**roofs.COPIES, "slow": slow})
    times = timed(gpu, adding(gpu))

    assert times.copy_bytes_per_s == pytest.approx(2 * 8000 / 1e-4)
    assert times.unavailable == {"slow": "the GPU had to wait for the CPU in 7 of 7 samples"}


def test_the_roofs_are_the_best_copy_and_a_large_product_in_the_kernels_dtype(gpu: FakeGpu) -> None:
    times = timed(gpu, adding(gpu, bound="compute"))

    assert times.copy_bytes_per_s == pytest.approx(2 * 8000 / 1e-4)
    assert times.matmul_flops_per_s == {"float32": pytest.approx(2 * 16**3 / 3e-4)}


def test_what_the_memory_bounds_has_no_product_beside_it(gpu: FakeGpu) -> None:
    times = timed(gpu, adding(gpu, bound="memory"))

    assert (times.matmul_flops_per_s, times.unavailable) == ({}, {})
    assert "matmul" not in {piece.what for piece in gpu.pieces}


def test_a_roof_that_cannot_be_had_is_said(gpu: FakeGpu, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*tensors: torch.Tensor) -> torch.Tensor:  # noqa: ARG001  # a kernel's
        raise RuntimeError("no such product")

    monkeypatch.setattr(roofs.matmul, "KERNEL", kernel_of(torch.matmul, refused, matrices))
    wrong = gpu.running("copy", 1e-5, lambda source, target: source + 1)
    monkeypatch.setattr(roofs, "COPIES", {**roofs.COPIES, "fast": wrong, "failing": refused})
    times = timed(gpu, adding(gpu, bound="compute"))

    assert times.copy_bytes_per_s == pytest.approx(2 * 8000 / 1e-4)
    assert times.matmul_flops_per_s == {}
    assert times.unavailable == {
        "matmul float32": "RuntimeError: no such product",
        "fast": "its copy is another tensor",
        "failing": "RuntimeError: no such product",
    }


def test_a_copy_is_no_roof_where_the_memory_holds_none_beyond_the_cache(gpu: FakeGpu) -> None:
    gpu.free = 7999
    times = timed(gpu, adding(gpu))

    assert (len(times.samples), times.copy_bytes_per_s) == (4, None)
    assert times.unavailable == {
        "copy": "a quarter of the free memory of Simulated 1 is 1,999 bytes, 2,000 may be in a cache"
    }


def test_times_are_kept_where_the_memory_ends_as_the_copy_is_made(
    gpu: FakeGpu, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*shape: int, **of: Any) -> torch.Tensor:  # noqa: ARG001  # what makes tensors
        raise torch.OutOfMemoryError("tried to allocate 8 GiB")

    monkeypatch.setattr(roofs, "normal", full)
    times = timed(gpu, adding(gpu))

    assert (len(times.samples), times.copy_bytes_per_s) == (4, None)
    assert times.unavailable == {"copy": "OutOfMemoryError: tried to allocate 8 GiB"}
