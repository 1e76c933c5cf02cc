"""How a kernel is timed, on a GPU that is simulated: kernels are functions of torch on the CPU."""

from __future__ import annotations

from contextlib import nullcontext

import pytest
import torch
from fake_gpu import (
    ELEMENTS,
    KERNEL_S,
    RIVAL_S,
    SET_BYTES,
    FakeGpu,
    adding,
    at,
    kernel_of,
    timed,
    with_small_roofs,
)
from triton.errors import TritonError

from pcbench.errors import UnavailableError
from pcbench.kernel_timing import choosing, rotation
from pcbench.kernel_timing.timing_kernel import LaunchFailedError
from pcbench.status import Status


@pytest.fixture
def gpu(monkeypatch: pytest.MonkeyPatch) -> FakeGpu:
    return with_small_roofs(monkeypatch)


def test_samples_are_seconds_of_one_launch_each_beside_the_rivals_of_the_same_place(gpu: FakeGpu) -> None:
    times = timed(gpu, adding(gpu), pairs=3)

    assert [sample.seconds for sample in times.samples] == pytest.approx([KERNEL_S] * 3)
    assert [sample.seconds for sample in times.rival_samples] == pytest.approx([RIVAL_S] * 3)
    assert times.launch == f"adding float32 elements={ELEMENTS}"
    assert (times.gpu, times.target, times.config, times.work.bytes_moved) == ("Simulated 1", "sim_1", (), 3 * 256)
    assert times.unavailable == {}


def test_the_gpu_is_warm_before_the_first_pair_and_every_second_pair_runs_backwards(gpu: FakeGpu) -> None:
    timed(gpu, adding(gpu), pairs=4)
    of_both = [piece for piece in gpu.pieces if piece.what in ("kernel", "rival")]
    prepared, warm, sampled = of_both[:8], of_both[8:-8], of_both[-8:]

    assert "".join(piece.what[0] for piece in prepared) == "kkkkrrrr"
    assert {piece.what for piece in warm} == {"kernel", "rival"}
    assert sum(piece.seconds for piece in warm) >= 0.2 > sum(piece.seconds for piece in warm[:-2])
    assert "".join(piece.what[0] for piece in sampled) == "krrkkrrk"


def test_a_sample_is_of_whole_rounds_through_the_sets_and_lasts_a_millisecond(gpu: FakeGpu) -> None:
    times = timed(gpu, adding(gpu))
    launches = {piece.what: piece.launches for piece in gpu.pieces}

    assert launches["kernel"] == 12
    assert launches["rival"] == 8
    assert [sample.seconds for sample in times.samples] == pytest.approx([1.2e-3 / 12] * 4)


@pytest.mark.parametrize(
    ("l2_bytes", "least_bytes", "count"), [(1000, 0, 4), (1000, 3000, 6), (400, 0, 2), (100, 0, 2)]
)
def test_the_sets_exceed_twice_the_cache_that_torch_tells_of_and_what_any_gpu_has_behind_it(
    gpu: FakeGpu, monkeypatch: pytest.MonkeyPatch, l2_bytes: int, least_bytes: int, count: int
) -> None:
    monkeypatch.setattr(rotation, "LEAST_BYTES", least_bytes)
    gpu.l2_bytes = l2_bytes

    assert SET_BYTES == 512
    assert len(rotation.input_sets(gpu, at(adding(gpu))).inputs) == count


def test_no_cache_is_taken_to_be_smaller_than_the_largest_that_torch_does_not_tell_of() -> None:
    assert rotation.beyond_caches(FakeGpu(l2_bytes=4 << 20)) == 2 * (256 << 20)


def test_each_set_has_random_numbers_of_its_own_and_each_launch_takes_the_next_set(gpu: FakeGpu) -> None:
    seen: list[torch.Tensor] = []

    def keeping(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        seen.append(x)
        return x + y

    timed(gpu, adding(gpu, keeping))
    one_piece = seen[-12:]

    assert len({tuple(x.tolist()) for x in one_piece}) == 4
    assert all(one is other for one, other in zip(one_piece[:4] * 3, one_piece, strict=True))
    assert all(float(x.std()) > 0.5 for x in one_piece)


def test_where_the_memory_holds_fewer_sets_the_times_say_so_and_where_it_holds_none_there_are_no_times(
    gpu: FakeGpu,
) -> None:
    gpu.free = 4 * 768
    made = rotation.input_sets(gpu, at(adding(gpu)))
    gpu.free = 2 * 768 - 1

    assert len(made.inputs) == 2
    assert made.limited == (
        "it takes 4 sets of inputs to exceed the 2,000 bytes that may be in a cache; "
        "half of the 3,072 bytes that are free holds 2"
    )
    with pytest.raises(UnavailableError, match="768 bytes of inputs and outputs are more than half of the 1,535 bytes"):
        timed(gpu, adding(gpu))


def test_what_each_tuned_launch_chose_is_an_entry_of_the_configuration(
    gpu: FakeGpu, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(choosing, "recorded", lambda: nullcontext(["BLOCK=1 num_warps=4", "BLOCK=2 num_warps=8"]))

    assert timed(gpu, adding(gpu)).config == ("BLOCK=1 num_warps=4", "BLOCK=2 num_warps=8")


def test_a_kernel_whose_inputs_are_no_tensors_is_timed(gpu: FakeGpu) -> None:
    filling = gpu.running("kernel", KERNEL_S, lambda count, value: torch.full((count,), value))
    kernel = kernel_of(filling, lambda count, value: torch.full((count,), value), inputs=lambda *asked: (64, 2.0))

    assert timed(gpu, kernel).samples


def test_memory_that_ends_on_the_way_is_said(gpu: FakeGpu) -> None:
    def full(*tensors: torch.Tensor) -> torch.Tensor:  # noqa: ARG001  # a kernel's
        raise torch.OutOfMemoryError("tried to allocate 8 GiB")

    with pytest.raises(UnavailableError, match=r"memory of Simulated 1 does not suffice: .*tried to allocate 8 GiB"):
        timed(gpu, adding(gpu, full))


def test_a_rival_that_this_gpu_refuses_is_said_and_the_kernel_is_timed(gpu: FakeGpu) -> None:
    def refused(*tensors: torch.Tensor) -> torch.Tensor:  # noqa: ARG001  # a kernel's
        raise RuntimeError("needs compute capability 8.9")

    times = timed(gpu, kernel_of(gpu.running("kernel", KERNEL_S, torch.add), rival=refused))

    assert (times.rival, times.rival_samples) == ("", ())
    assert times.unavailable["rival"] == "RuntimeError: needs compute capability 8.9"
    assert len(times.samples) == 4


def test_a_kernel_that_triton_refuses_is_told_as_such(gpu: FakeGpu) -> None:
    def refused(*tensors: torch.Tensor) -> torch.Tensor:  # noqa: ARG001  # a kernel's
        raise TritonError("fp8e4nv is not supported on this architecture")

    with pytest.raises(LaunchFailedError, match="fp8e4nv is not supported") as told:
        timed(gpu, adding(gpu, refused))
    assert told.value.status is Status.COMPILE_FAILED


def test_what_cannot_be_captured_is_timed_as_a_burst_and_the_times_say_why(gpu: FakeGpu) -> None:
    gpu.refuses = "operation not permitted when stream is capturing"
    times = timed(gpu, adding(gpu))

    assert [sample.seconds for sample in times.samples] == pytest.approx([KERNEL_S] * 4)
    assert dict.fromkeys(("graph", "graph of the rival"), gpu.refuses) == times.unavailable


def test_work_is_queued_behind_other_work_that_lasts_long_enough(gpu: FakeGpu) -> None:
    gpu.needs_lead_s = 3e-3
    times = timed(gpu, adding(gpu))
    sampled = [piece for piece in gpu.pieces if piece.what in ("kernel", "rival")][-8:]

    assert times.unavailable == {}
    assert all(3e-3 <= piece.lead_s < 6e-3 for piece in sampled)


def test_a_sample_with_time_of_the_cpus_in_it_is_marked_and_is_no_roof(gpu: FakeGpu) -> None:
    queued = timed(gpu, adding(gpu))
    gpu.needs_lead_s = 1e9
    waited = timed(gpu, adding(gpu, bound="compute"))
    why = "the GPU had to wait for the CPU in 7 of 7 samples"

    assert {sample.queued for sample in (*queued.samples, *queued.rival_samples)} == {True}
    assert {sample.queued for sample in (*waited.samples, *waited.rival_samples)} == {False}
    assert (waited.copy_bytes_per_s, waited.matmul_flops_per_s) == (None, {})
    assert waited.unavailable["matmul float32"] == why
    assert waited.unavailable["copy"].count(why) == 2


def test_clocks_are_those_at_each_sample_and_what_holds_one_down_marks_it(gpu: FakeGpu) -> None:
    gpu.clock = lambda: (1980.0, "") if len(gpu.pieces) % 2 else (1410.0, "SwPowerCap")
    marked = {(sample.sm_clock_mhz, sample.throttled) for sample in timed(gpu, adding(gpu)).samples}

    assert marked == {(1980.0, ""), (1410.0, "SwPowerCap")}


def test_clocks_that_are_not_told_are_none_and_the_times_say_why(gpu: FakeGpu) -> None:
    gpu.clock, gpu.clocks_unavailable = lambda: (None, None), "pynvml is not installed"
    times = timed(gpu, adding(gpu))

    assert times.unavailable == {"clocks": "pynvml is not installed"}
    assert {(sample.sm_clock_mhz, sample.throttled) for sample in times.samples} == {(None, None)}
