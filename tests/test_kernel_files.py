"""The files in ``kernels/``: what each has to say of itself, without an interpreter or a GPU."""

from __future__ import annotations

import ast
import importlib
from pathlib import Path
from typing import Any

import pytest
import torch
from pcbench_kernels import Kernel, Sizes, input_set

from pcbench import discovery

FOLDER = Path(__file__).parent.parent / "kernels"
BEYOND_THE_CACHE = 200e6
"""Bytes: four times the second-level cache of an H200."""
NOT_RANDOM = {"cross_entropy": [1]}
"""Inputs by index that are the same in every set: the words that are to be foretold."""

pytestmark = pytest.mark.parametrize("name", discovery.names(FOLDER))


def kernel(name: str) -> Kernel:
    return discovery.load("pcbench_kernels", name, "KERNEL", Kernel)


def tracked(name: str) -> list[tuple[Sizes, torch.dtype]]:
    found = [(sizes, dtype) for sizes in kernel(name).shapes for dtype in kernel(name).dtypes]
    assert found
    return found


def tensors(values: tuple[Any, ...]) -> list[torch.Tensor]:
    return [each for each in values if isinstance(each, torch.Tensor)]


def switches(name: str) -> set[str]:
    """The sizes of a kernel that are 0 in some places, 1 in the others."""
    everywhere = (*kernel(name).shapes, *kernel(name).small)
    return {key for key in everywhere[0] if {sizes[key] for sizes in everywhere} == {0, 1}}


def test_a_kernel_file_ends_in_its_kernel(name: str) -> None:
    last = ast.parse((FOLDER / f"{name}.py").read_text()).body[-1]

    assert isinstance(last, ast.Assign)
    assert [ast.unparse(target) for target in last.targets] == ["KERNEL"]
    assert isinstance(kernel(name), Kernel)


def test_a_kernel_files_docstring_says_the_shapes_and_the_source(name: str) -> None:
    said = importlib.import_module(f"pcbench_kernels.{name}").__doc__ or ""

    assert [word for word in ("Shapes: ", "Source: ") if word not in said] == []


def test_a_kernel_has_the_same_sizes_wherever_it_is_run(name: str) -> None:
    everywhere = (*kernel(name).shapes, *kernel(name).small)

    assert kernel(name).small
    assert {frozenset(sizes) for sizes in everywhere} == {frozenset(everywhere[0])}


def test_no_tracked_extent_is_one_that_triton_would_compile_in(name: str) -> None:
    for sizes in kernel(name).shapes:
        assert [key for key, extent in sizes.items() if extent == 1 and key not in switches(name)] == []


def test_what_the_memory_limits_is_tracked_beyond_the_caches(name: str) -> None:
    if kernel(name).bound != "memory":
        pytest.skip(f"{name} is not limited by the memory")
    for sizes, dtype in tracked(name):
        assert kernel(name).bytes_moved(sizes, dtype) > BEYOND_THE_CACHE, (sizes, dtype)


def test_a_kernels_inputs_can_be_told_without_memory_at_every_tracked_size(name: str) -> None:
    for sizes, dtype in tracked(name):
        inputs = tensors(kernel(name).inputs(sizes, dtype, "meta"))

        assert {each.device.type for each in inputs} == {"meta"}
        assert kernel(name).reduced or dtype in {each.dtype for each in inputs}


def test_a_kernels_bytes_and_operations_are_whole_numbers_above_zero(name: str) -> None:
    for sizes, dtype in tracked(name):
        moved, requested = kernel(name).bytes_moved(sizes, dtype), kernel(name).bytes_requested(sizes, dtype)
        operations = kernel(name).flops(sizes)

        assert [type(number) for number in (moved, requested, operations)] == [int, int, int]
        assert 0 < moved <= requested
        assert operations > 0


def test_a_kernels_inputs_are_the_same_each_time(name: str) -> None:
    sizes, dtype = kernel(name).small[0], kernel(name).dtypes[0]
    first, second = (tensors(kernel(name).inputs(sizes, dtype, "cpu")) for _ in range(2))
    alike = [each.dtype for each in tensors(kernel(name).inputs(sizes, dtype, "meta"))]

    assert [each.dtype for each in first] == alike
    for one, other in zip(first, second, strict=True):
        assert torch.equal(one.flatten().view(torch.uint8), other.flatten().view(torch.uint8))


def test_each_set_of_a_kernels_inputs_has_random_numbers_of_its_own(name: str) -> None:
    made = []
    for number in range(2):
        with input_set(number):
            made.append(tensors(kernel(name).inputs(kernel(name).small[0], kernel(name).dtypes[0], "cpu")))
    alike = [
        index
        for index, (one, other) in enumerate(zip(*made, strict=True))
        if torch.equal(one.flatten().view(torch.uint8), other.flatten().view(torch.uint8))
    ]

    assert alike == NOT_RANDOM.get(name, [])
