"""A kernel's file as it is loaded: what is wrong with it is said of the file, before anything is launched."""

from __future__ import annotations

from pathlib import Path

import pytest

from pcbench import codegen_asking
from pcbench.asking import Setting
from pcbench.codegen import recording
from pcbench.errors import ExtensionError

SOURCE = """
import torch
from pcbench_kernels import Kernel

KERNEL = Kernel(
    launch=lambda x: x,
    reference=lambda x: x,
    inputs=lambda sizes, dtype, device: (torch.empty(4, dtype=dtype, device=device),),
    bytes_moved=lambda sizes, dtype: 1,
    bytes_requested=lambda sizes, dtype: 1,
    flops=lambda sizes: 1,
    bound="memory",
    shapes=({"rows": 4096},),
    dtypes=(torch.float16,),
    small=(),
)
"""
SHAPES = ('shapes=({"rows": 4096},)', 'write shapes=({"rows": 4096, "columns": 1024},) in KERNEL = Kernel(...)')
DTYPES = ("dtypes=(torch.float16,)", "write dtypes=(torch.float16,) in KERNEL = Kernel(...)")


def written(folder: Path, old: str = "", new: str = "") -> str:
    assert old in SOURCE
    (folder / "mine.py").write_text(SOURCE.replace(old, new))
    return "mine.py"


def test_a_kernel_that_says_rightly_where_it_is_tracked_is_loaded(tmp_path: Path) -> None:
    assert recording.load_kernel(written(tmp_path), tmp_path).shapes == ({"rows": 4096},)


@pytest.mark.parametrize(
    ("field", "wrong", "said"),
    [
        (SHAPES, 'shapes=({"rows": 4096})', "shapes is a dict, not a tuple"),
        (SHAPES, 'shapes=[{"rows": 4096}]', "shapes is a list, not a tuple"),
        (SHAPES, "shapes=()", "shapes is empty"),
        (SHAPES, "shapes=(4096,)", "shapes has 4096; it is a tuple of extents by name, whole numbers"),
        (SHAPES, 'shapes=({"rows": 1.5},)', "shapes has {'rows': 1.5}; it is a tuple of"),
        (SHAPES, 'shapes=({"rows": True},)', "shapes has {'rows': True}; it is a tuple of"),
        (SHAPES, "shapes=({1: 2},)", "shapes has {1: 2}; it is a tuple of"),
        (DTYPES, "dtypes=(torch.float16)", "dtypes is a dtype, not a tuple"),
        (DTYPES, 'dtypes=("float16",)', "dtypes has 'float16'; it is a tuple of dtypes of torch"),
        (DTYPES, "dtypes=(None,)", "dtypes has None; it is a tuple of dtypes of torch"),
    ],
)
def test_shapes_and_dtypes_of_another_form_are_an_error_of_the_file_with_the_line_to_write(
    tmp_path: Path, field: tuple[str, str], wrong: str, said: str
) -> None:
    right, hint = field

    with pytest.raises(ExtensionError) as raised:
        recording.load_kernel(written(tmp_path, right, wrong), tmp_path)

    assert raised.value.problem.startswith(f"{tmp_path / 'mine.py'}: {said}")
    assert raised.value.hint == hint


def test_a_field_that_is_missing_is_named_with_the_place_of_the_call(tmp_path: Path) -> None:
    with pytest.raises(ExtensionError) as raised:
        recording.load_kernel(written(tmp_path, "    flops=lambda sizes: 1,\n"), tmp_path)

    assert "missing 1 required positional argument: 'flops'" in raised.value.problem
    assert raised.value.hint == f"raised by {tmp_path / 'mine.py'}:5 while importing {tmp_path / 'mine.py'}"


@pytest.mark.slow
def test_a_process_tells_it_as_the_reason_why_the_kernel_has_no_numbers(tmp_path: Path) -> None:
    name = written(tmp_path, "dtypes=(torch.float16,)", "dtypes=(torch.float16)")

    (row,) = codegen_asking.collect(Setting("", threads=1, cwd=tmp_path), [name], ["sm_90"])

    assert row["status"] == "UNAVAILABLE"
    assert "mine.py: dtypes is a dtype, not a tuple (write dtypes=(torch.float16,)" in row["reason"]
