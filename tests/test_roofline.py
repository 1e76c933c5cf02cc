"""What bounds a kernel: predictions by documented peaks, measurements by their samples."""

from __future__ import annotations

from dataclasses import replace

import pytest
from kernel_runs import COMPUTING, H200, MOVING, samples, times

from pcbench.analysis.cards import card_of_device
from pcbench.analysis.roofline import Prediction, Unknown, intensity, measure, predict, roofs
from pcbench.kernel_samples import Work

CARD = card_of_device(H200)


def predicted(work: Work, dtype: str = "float16") -> Prediction:
    found = predict(work, dtype, CARD)
    assert isinstance(found, Prediction), found
    return found


def test_a_kernel_that_memory_bounds_takes_at_least_its_bytes_by_the_memorys_peak() -> None:
    found = predicted(MOVING)

    assert (found.least_s, found.uncached_s, found.limit) == (pytest.approx(1e-3), pytest.approx(2e-3), "memory")
    assert (intensity(MOVING), found.flops_per_s) == (2.5, pytest.approx(2.5 * 4.8e12))
    assert found.uncached_flops_per_s == pytest.approx(found.flops_per_s / 2)


def test_a_kernel_that_computing_bounds_takes_at_least_its_operations_by_the_peak_of_its_dtype() -> None:
    found = predicted(COMPUTING)

    assert (found.least_s, found.limit, found.flops_per_s) == (pytest.approx(1e-3), "compute", pytest.approx(989.4e12))
    assert found.uncached_s == found.least_s  # its requests of 4.8 GB take the memory 1 ms, too
    assert predicted(COMPUTING, "float8_e4m3fn").least_s == pytest.approx(0.5e-3, rel=1e-3)


def test_requests_that_nothing_caches_make_memory_the_bound_of_a_kernel_that_computes() -> None:
    many, few = (predicted(replace(COMPUTING, bytes_requested=size)) for size in (48_000_000_000, 480_000_000))

    assert (many.least_s, many.uncached_s) == (pytest.approx(1e-3), pytest.approx(10e-3))
    assert (few.least_s, few.uncached_s) == (pytest.approx(1e-3), pytest.approx(1e-3))


@pytest.mark.parametrize(
    ("work", "dtype", "device", "reason"),
    [
        (None, "float16", H200, "what it has to move and to compute is not known"),
        (MOVING, "float16", "NVIDIA H200 NVL", "no documented peaks of this card are kept"),
        (MOVING, "float8_e4m3fn", "NVIDIA A100-SXM4-80GB", "no documented peak of the A100 in float8_e4m3fn"),
        (replace(MOVING, bytes_moved=0, flops=0), "float16", H200, "it moves nothing at these sizes"),
        (COMPUTING, "float32", H200, "its products in float32 may be of TF32, which has another peak"),
    ],
)
def test_what_cannot_be_predicted_says_why(work: Work | None, dtype: str, device: str, reason: str) -> None:
    assert predict(work, dtype, card_of_device(device)) == Unknown(reason)


def test_a_kernel_of_float32_that_memory_bounds_has_the_peak_without_tensor_cores() -> None:
    assert predicted(replace(MOVING, flops=669_000_000_000), "float32").least_s == pytest.approx(10e-3)


def test_a_memory_bound_kernel_is_measured_by_the_sessions_copy() -> None:
    found = measure(times(times_s=[1.0e-3, 1.25e-3, 2.0e-3]))

    assert found.seconds.median == 1.25e-3
    assert (found.seconds.low, found.seconds.high, found.seconds.n) == (1.0e-3, 2.0e-3, 3)
    assert found.bytes_per_s == pytest.approx(3.84e12)
    assert (found.of_roof, found.beside) == (pytest.approx(0.96), "copy")


def test_a_kernel_that_computing_bounds_is_measured_by_the_sessions_matmul_of_its_dtype() -> None:
    found = measure(times(work=COMPUTING))

    assert found.flops_per_s == pytest.approx(791.52e12)
    assert (found.of_roof, found.beside) == (pytest.approx(791.52 / 800), "matmul")


def test_without_a_matmul_of_its_dtype_the_share_of_the_roof_is_not_known() -> None:
    found = times(work=COMPUTING, dtype="bfloat16")

    assert measure(found).of_roof == Unknown("no matmul bfloat16 was timed beside it")
    said = replace(found, unavailable={"matmul bfloat16": "it raised"})
    assert measure(said).of_roof == Unknown("it raised")


def test_without_a_copy_a_memory_bound_kernel_has_its_rate_and_no_share_and_the_reason() -> None:
    found = measure(times(copy_bytes_per_s=None, unavailable={"copy": "a quarter of the memory is not beyond L2"}))

    assert found.bytes_per_s == pytest.approx(3.84e12)
    assert found.of_roof == Unknown("a quarter of the memory is not beyond L2")
    assert measure(times(work=COMPUTING, copy_bytes_per_s=None)).of_roof == pytest.approx(791.52 / 800)


def test_the_ratio_to_the_rival_is_the_median_of_pairs_and_not_the_ratio_of_medians() -> None:
    found = measure(times(times_s=[1.0, 2.0, 9.0], rival_s=[2.0, 1.0, 3.0]))

    assert not isinstance(found.ratio, Unknown)
    assert (found.ratio.median, found.ratio.low, found.ratio.high, found.ratio.n) == (2.0, 0.5, 3.0, 3)


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"rival": "", "rival_samples": ()}, "torch has none to time beside it"),
        ({"rival_samples": ()}, "torch.softmax: nothing of it was timed"),
        ({"rival_samples": (), "unavailable": {"rival": "it raised"}}, "torch.softmax: it raised"),
    ],
)
def test_a_rival_without_a_time_has_no_ratio_and_says_why(changed: dict[str, object], reason: str) -> None:
    assert measure(replace(times(), **changed)).ratio == Unknown(reason)  # type: ignore[arg-type]  # by name


def test_throttled_samples_are_counted_among_those_that_tell_and_clocks_are_a_range() -> None:
    held, free, silent = samples([1.0], 1200.0, "power"), samples([1.0], 1980.0), samples([1.0], None, None)

    found = measure(times(samples=(*held, *free, *free, *silent)))
    assert (found.throttled, found.clock_mhz) == (pytest.approx(1 / 3), (1200.0, 1980.0))
    assert measure(times(samples=held * 5)).throttled == 1.0
    assert measure(times(samples=free)).throttled == 0.0


def test_clocks_that_the_driver_does_not_tell_are_not_known_rather_than_free() -> None:
    silent = times(samples=samples([1.0] * 3, None, None), unavailable={"clocks": "NVML is not installed"})

    found = measure(silent)
    assert (found.throttled, found.clock_mhz) == (Unknown("NVML is not installed"),) * 2


def test_samples_that_may_hold_the_cpus_time_are_counted_and_kept_for_the_kernel_and_the_rival() -> None:
    late, early = samples([2.0], queued=False), samples([1.0])

    found = measure(times(samples=(*late, *early, *early), rival_samples=(*late, *late, *early)))
    assert (found.unqueued, found.rival_unqueued, found.seconds.n) == (1, 2, 3)


def test_inputs_are_rotated_unless_it_is_said_why_not() -> None:
    assert measure(times()).rotated
    assert not measure(times(unavailable={"rotation": "the memory holds 1 set"})).rotated


def test_the_roofs_of_a_session_are_the_medians_over_its_launches() -> None:
    timed = [times(copy_bytes_per_s=rate, matmul_flops_per_s={"float16": rate}) for rate in (1.0, 5.0, 2.0)]
    without = times(copy_bytes_per_s=None, matmul_flops_per_s={})
    found = roofs([*timed, without])

    assert (found.bytes_per_s, found.flops_per_s) == (2.0, {"float16": 2.0})
    assert roofs([without]).bytes_per_s is None
