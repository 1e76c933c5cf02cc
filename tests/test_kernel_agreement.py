"""What a kernel's outputs have to be before it has a time, on a GPU that is simulated."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
import torch
from fake_gpu import KERNEL_S, RIVAL_S, FakeGpu, adding, calls_later, kernel_of, timed, vectors, with_small_roofs
from pcbench_kernels import Kernel, softmax

from pcbench.errors import UnavailableError
from pcbench.kernel_timing.agreement import WrongResultError
from pcbench.status import Status


@pytest.fixture
def gpu(monkeypatch: pytest.MonkeyPatch) -> FakeGpu:
    return with_small_roofs(monkeypatch)


def test_a_kernel_that_is_wrong_from_the_start_has_no_time(gpu: FakeGpu) -> None:
    with pytest.raises(
        WrongResultError, match=r"before timing, output 0 of input set \d is off by 0\.0\d+ of the"
    ) as told:
        timed(gpu, adding(gpu, lambda x, y: torch.add(x, y) + 0.1))

    assert told.value.status is Status.WRONG_RESULT
    assert gpu.pieces == []


def test_a_kernel_that_goes_wrong_while_it_is_timed_has_no_time(gpu: FakeGpu) -> None:
    going_wrong = calls_later(500, lambda x, y: torch.zeros_like(x))

    with pytest.raises(WrongResultError, match=r"in the last timed launches, output 0 of input set . is off by 1 of"):
        timed(gpu, adding(gpu, going_wrong))


def test_the_largest_error_is_the_one_that_is_told(gpu: FakeGpu) -> None:
    calls = itertools.count(1)

    with pytest.raises(WrongResultError, match="input set 3 is off by"):
        timed(gpu, adding(gpu, lambda x, y: torch.add(x, y) * (1 + 0.1 * next(calls))))


@pytest.mark.parametrize(
    ("output", "said"),
    [
        (lambda x, y: torch.add(x, y)[:-1], "has the shape"),
        (lambda x, y: (x + y, x), "it gave 2 outputs, not 1"),
        (lambda x, y: torch.where(x == x[0], torch.nan, x + y), "is off by inf"),
    ],
)
def test_an_output_that_cannot_be_compared_is_wrong(gpu: FakeGpu, output: Callable[..., Any], said: str) -> None:
    with pytest.raises(WrongResultError, match=said):
        timed(gpu, adding(gpu, output))


def test_a_graph_that_writes_nothing_is_seen(gpu: FakeGpu) -> None:
    gpu.dead = True

    with pytest.raises(WrongResultError, match=r"in the last timed launches, .* is off by inf"):
        timed(gpu, adding(gpu))


@pytest.mark.parametrize(("calls", "when"), [(0, "before timing"), (500, "in the last timed launches")])
def test_a_kernel_that_overwrites_its_inputs_is_not_timed_on_ruined_ones(gpu: FakeGpu, calls: int, when: str) -> None:
    # It adds zeros: what it gives stays right.
    overwriting = calls_later(calls, lambda x, y: torch.add(x, y.zero_()))

    with pytest.raises(WrongResultError, match=f"{when}, tensor 1 of its inputs, set 0, was overwritten"):
        timed(gpu, adding(gpu, overwriting))


@pytest.mark.parametrize("factor", [1.1, 1.002])
def test_many_elements_that_are_a_little_off_are_wrong_though_none_is_by_much_of_the_largest(
    gpu: FakeGpu, factor: float
) -> None:
    def half_off(x: torch.Tensor) -> torch.Tensor:
        right = torch.softmax(x, 1)
        return right * torch.where(torch.arange(right.shape[1]) % 2 == 0, factor, 1).to(x.dtype)

    kernel = kernel_of(
        gpu.running("kernel", KERNEL_S, half_off),
        softmax.KERNEL.reference,
        lambda sizes, dtype, device: softmax.KERNEL.inputs({"rows": 16, "columns": 4096}, dtype, device),
        rival=gpu.running("rival", RIVAL_S, softmax.KERNEL.reference),
    )
    right = replace(kernel, launch=gpu.running("kernel", KERNEL_S, softmax.KERNEL.reference))

    assert timed(gpu, right, dtype=torch.float16).samples
    with pytest.raises(WrongResultError, match=r"is off by 0\.\d+ of the answer's root mean square; 0\.00\d+ would"):
        timed(gpu, kernel, dtype=torch.float16)


def test_one_element_that_is_far_off_is_wrong_though_all_together_are_off_by_little(gpu: FakeGpu) -> None:
    def one_off(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        total = x + y
        total[7] += 1e-4
        return total

    kernel = kernel_of(
        gpu.running("kernel", KERNEL_S, one_off),
        inputs=lambda sizes, dtype, device: vectors({"elements": 4096}, dtype, device),
        rival=gpu.running("rival", RIVAL_S, torch.add),
    )
    with pytest.raises(WrongResultError, match="of the answer's largest value"):
        timed(gpu, kernel)


def test_where_the_answer_is_zero_an_error_counts_as_it_is(gpu: FakeGpu) -> None:
    def nothing(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return (x - x) * y

    def off_by(error: float) -> Kernel:
        rival = gpu.running("rival", RIVAL_S, nothing)
        return kernel_of(gpu.running("kernel", KERNEL_S, lambda x, y: nothing(x, y) + error), nothing, rival=rival)

    assert timed(gpu, off_by(1e-6)).samples
    with pytest.raises(WrongResultError, match="is off by 1e-05 of"):
        timed(gpu, off_by(1e-5))


def test_the_answers_in_double_precision_are_computed_once_before_timing_and_once_after(gpu: FakeGpu) -> None:
    in_double: list[torch.Tensor] = []

    def counted(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        if x.dtype == torch.float64:
            in_double.append(x)
        return x + y

    rival = gpu.running("rival", RIVAL_S, torch.add)
    timed(gpu, kernel_of(gpu.running("kernel", KERNEL_S, torch.add), counted, rival=rival))

    assert len(in_double) == 2 * 4


def test_an_error_is_allowed_as_far_as_torchs_own_in_the_same_dtype(gpu: FakeGpu) -> None:
    def rounded(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return (x.double() + y.double()).to(torch.bfloat16).to(x.dtype)

    assert timed(gpu, adding(gpu, rounded), dtype=torch.bfloat16).samples
    with pytest.raises(WrongResultError):
        timed(gpu, adding(gpu, rounded))

    def torchs_own(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return x + y if x.dtype == torch.float64 else rounded(x, y)

    rival = gpu.running("rival", RIVAL_S, torch.add)
    kernel = kernel_of(gpu.running("kernel", KERNEL_S, rounded), torchs_own, rival=rival)
    assert timed(gpu, kernel).samples


def test_a_kernel_of_reduced_inputs_is_judged_by_its_rival_and_has_none_where_this_torch_has_none(
    gpu: FakeGpu,
) -> None:
    def rough(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return torch.add(x, y) * 1.001

    def in_double(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return x.double() + y.double()

    alone = kernel_of(gpu.running("kernel", KERNEL_S, torch.add), in_double, reduced=True)
    beside = kernel_of(
        gpu.running("kernel", KERNEL_S, rough), in_double, reduced=True, rival=gpu.running("rival", RIVAL_S, rough)
    )
    times = timed(gpu, alone)

    assert (times.rival, times.rival_samples) == ("", ())
    assert times.unavailable["rival"] == "this torch has no kernel for the same"
    assert timed(gpu, alone, dtype=torch.bfloat16).samples
    assert timed(gpu, beside).rival_samples


def test_integers_are_compared_exactly_and_show_what_a_run_leaves_unwritten(gpu: FakeGpu) -> None:
    def places(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:  # noqa: ARG001  # one signature for all launches
        return 1_000_000 + torch.arange(x.numel())

    def off_by_one(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return places(x, y) + (torch.arange(x.numel()) == 3)

    right, wrong = (kernel_of(gpu.running("kernel", KERNEL_S, launch), places) for launch in (places, off_by_one))
    assert timed(gpu, right).samples
    with pytest.raises(WrongResultError, match="off by 1e-06 of"):
        timed(gpu, wrong)
    gpu.dead = True
    with pytest.raises(WrongResultError, match="in the last timed launches"):
        timed(gpu, right)


def test_a_rival_that_computes_something_else_excuses_nothing(gpu: FakeGpu) -> None:
    zeros, other = (gpu.running(name, KERNEL_S, lambda x, y: torch.zeros_like(x)) for name in ("kernel", "rival"))
    with pytest.raises(WrongResultError, match="is off by 1 of"):
        timed(gpu, kernel_of(zeros, torch.add, reduced=True, rival=other))


def test_an_answer_that_nothing_can_be_compared_with_is_told(gpu: FakeGpu) -> None:
    nothing = kernel_of(gpu.running("kernel", KERNEL_S, lambda x, y: None), lambda x, y: None)
    infinite = kernel_of(gpu.running("kernel", KERNEL_S, torch.div), lambda x, y: x / 0)

    with pytest.raises(WrongResultError, match="there is no tensor that its answer could be compared with"):
        timed(gpu, nothing)
    with pytest.raises(UnavailableError, match="the reference's output 0 of input set 0 is not finite"):
        timed(gpu, infinite)


def test_an_output_that_is_an_input_stays_as_it_is(gpu: FakeGpu) -> None:
    both = kernel_of(gpu.running("kernel", KERNEL_S, lambda x, y: (x + y, x)), lambda x, y: (x + y, x))

    assert timed(gpu, both).samples
