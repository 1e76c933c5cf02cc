"""What the compiler made of kernels, for real: fresh processes compile them for chips that are not there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pcbench_kernels
import pytest
from triton.runtime.jit import KernelInterface

from pcbench import codegen_asking
from pcbench.asking import Setting
from pcbench.codegen import recording
from pcbench.errors import UsageError

pytestmark = pytest.mark.slow  # each process imports torch and Triton

Row = dict[str, Any]

KERNELS = Path(pcbench_kernels.__file__).parent
TIMES = ("stage_cpu_s", "compile_cpu_s", "compile_wall_s", "hit_s")

HEAD = """
import os
import torch
import triton
import triton.language as tl
from pcbench_kernels import Kernel

"""
COPY = """
@triton.jit
def _copy(x, out, elements, BLOCK: tl.constexpr):
    places = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + places, tl.load(x + places, mask=places < elements), mask=places < elements)

def launch(x):
    out = torch.empty_like(x)
    _copy[(triton.cdiv(x.numel(), 1024),)](x, out, x.numel(), BLOCK=1024)
    return out
"""
TUNED = """
@triton.autotune([triton.Config({"BLOCK": n}, num_warps=w) for n, w in ((512, 4), (96, 4), (2048, 8))], key=[])
@triton.heuristics({"TWICE": lambda given: given["BLOCK"] > 1024})
@triton.jit
def _tuned(x, out, BLOCK: tl.constexpr, TWICE: tl.constexpr):
    places = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    value = tl.load(x + places)
    tl.store(out + places, value * 2 if TWICE else value)

def launch(x):
    out = torch.empty_like(x)
    _tuned[lambda chosen: (triton.cdiv(x.numel(), chosen["BLOCK"]),)](x, out)
    _tuned[lambda chosen: (triton.cdiv(x.numel(), chosen["BLOCK"]),)](out, x[1:])
    return out
"""
RAISING = """
def launch(x):
    raise ValueError("not today")
"""
CRASHING = """
def launch(x):
    os.abort()
"""
IDLE = """
def launch(x):
    return x
"""
TAIL = """
KERNEL = Kernel(
    launch=launch,
    reference=lambda x: x,
    inputs=lambda sizes, dtype, device: (
        torch.empty(2 * sizes["elements"], dtype=dtype, device=device)[{start} : {start} + sizes["elements"]],
    ),
    bytes_moved=lambda sizes, dtype: 1,
    bytes_requested=lambda sizes, dtype: 1,
    flops=lambda sizes: 1,
    bound="memory",
    shapes=({{"elements": 65536}},),
    dtypes=(torch.float32,),
    small=(),
)
"""


def written(folder: Path, start: int = 0, **bodies: str) -> list[str]:
    for name, body in bodies.items():
        (folder / f"{name}.py").write_text(HEAD + body + TAIL.format(start=start))
    return [f"{name}.py" for name in bodies]


def by_kernel(rows: Sequence[Row]) -> Mapping[str, list[Row]]:
    return {name: [row for row in rows if row["kernel"] == name] for name in {row["kernel"] for row in rows}}


@pytest.fixture(scope="module")
def shipped() -> list[Row]:
    return codegen_asking.collect(Setting("", threads=1), ["vector_add"], ["sm_90", "gfx942"], assembly=True)


@pytest.fixture(scope="module")
def mixed(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, list[Row]]:
    """Kernels of every fate, asked for together, on one chip."""
    folder = tmp_path_factory.mktemp("mixed")
    names = written(folder, aligned=COPY, raising=RAISING, crashing=CRASHING, idle=IDLE, tuned=TUNED)
    names[1:1] = written(folder, start=1, unaligned=COPY)
    (folder / "unfinished.py").write_text("1 / 0")
    names.append("unfinished.py")
    return by_kernel(codegen_asking.collect(Setting("", threads=1, cwd=folder), names, ["sm_90"], "all"))


def test_a_kernel_is_compiled_for_chips_of_both_makers(shipped: list[Row]) -> None:
    assert [(row["target"], row["dtype"], row["status"]) for row in shipped] == [
        (chip, dtype, "OK") for chip in ("sm_90", "gfx942") for dtype in ("float32", "float16")
    ]
    # Of a block of 1024 elements, a thread of sm_90 has 8 and one of gfx942, in a wave of 64, has 4.
    assert [row["metrics"]["global_access"] for row in shipped] == [6, 3, 3, 3]
    assert [row["metrics"]["global_128"] for row in shipped] == [6, 3, 3, 0]
    for row in shipped:
        metrics = row["metrics"]
        assert (row["function"], row["sizes"], row["config"]) == ("_add", "elements=67108864", "BLOCK=1024")
        assert metrics["registers"] > 0
        assert metrics["spill_stores"] == metrics["mma"] == metrics["shared_bytes"] == metrics["convert_layout"] == 0
        assert metrics["sass"] == sum(row["mix"].values())
        assert min(metrics[made] for made in ("ttir", "ttgir", "llir", "occupancy")) > 0
        assert len(row["sha256"]) == 64
        assert row["triton"].count(".") == 2


def test_each_maker_has_its_own_words(shipped: list[Row]) -> None:
    nvidia, _, amd, _ = shipped

    assert nvidia["assembler"].startswith("ptxas 1")
    assert nvidia["words"] == {"occupancy_limit": "warps"}
    assert nvidia["metrics"]["blocks_per_sm"] == 16
    assert list(nvidia["stage_cpu_s"]) == ["ttir", "ttgir", "llir", "ptx", "cubin"]
    assert nvidia["assembly"].count("LDG.E.128") == 4
    assert amd["assembler"] == "LLVM"
    assert not {"blocks_per_sm", "ptx", "spill_loads"} & set(amd["metrics"])
    assert list(amd["stage_cpu_s"]) == ["ttir", "ttgir", "llir", "amdgcn", "hsaco"]
    assert "_dwordx4" in amd["assembly"]


def test_times_are_those_of_a_whole_compilation_and_of_a_hit(shipped: list[Row]) -> None:
    for row in shipped:
        assert 0 < sum(row["stage_cpu_s"].values()) < row["compile_cpu_s"]
        assert 0 < row["hit_s"] < row["compile_wall_s"]


def test_another_process_folder_comment_and_line_change_nothing_but_times(shipped: list[Row], tmp_path: Path) -> None:
    source = (KERNELS / "vector_add.py").read_text()
    (tmp_path / "moved.py").write_text(source.replace("\n@triton.jit\n", "\n\n# moved\n\n@triton.jit\n"))

    rows = codegen_asking.collect(
        Setting("", threads=1, cwd=tmp_path), ["moved.py"], ["sm_90", "gfx942"], assembly=True
    )

    assert [exact(row) for row in rows] == [exact(row) for row in shipped]


def exact(row: Row) -> Row:
    return {name: value for name, value in row.items() if name not in ("kernel", *TIMES)}


def test_lost_alignment_is_seen_as_in_a_launch(mixed: Mapping[str, list[Row]]) -> None:
    (aligned,), (unaligned,) = mixed["aligned.py"], mixed["unaligned.py"]

    assert aligned["metrics"]["global_128"] == aligned["metrics"]["global_access"] == 4
    assert unaligned["metrics"]["global_128"] == 2  # the output is aligned still
    assert unaligned["metrics"]["global_access"] == 2 + 8


def test_each_configuration_has_a_row_and_one_that_cannot_compile_says_why(mixed: Mapping[str, list[Row]]) -> None:
    rows = mixed["tuned.py"]

    configs = [
        "BLOCK=512 TWICE=False num_warps=4 num_stages=3",
        "BLOCK=96 TWICE=False num_warps=4 num_stages=3",
        "BLOCK=2048 TWICE=True num_warps=8 num_stages=3",
    ]
    assert [(row["function"], row["config"]) for row in rows] == [
        (function, config) for function in ("_tuned", "_tuned #2") for config in configs
    ]
    assert [row["status"] for row in rows] == ["OK", "COMPILE_FAILED", "OK"] * 2
    assert "arange's range must be a power of 2" in rows[1]["reason"]
    assert rows[1]["sha256"] is None
    assert rows[0]["sha256"] != rows[3]["sha256"]  # the second launch stores to an address that is not aligned


def test_what_a_kernel_s_own_code_does_is_told_and_costs_no_other(mixed: Mapping[str, list[Row]]) -> None:
    told = {name: (rows[0]["status"], rows[0]["reason"]) for name, rows in mixed.items() if len(rows) == 1}

    at = "its launch at elements=65536 in float32"
    assert told["raising.py"] == ("UNAVAILABLE", f"{at} raised ValueError: not today")
    assert told["idle.py"] == ("UNAVAILABLE", f"{at} launched no kernel")
    assert told["crashing.py"][0] == "CRASHED"
    assert "compile crashing.py for sm_90: killed by SIGABRT" in told["crashing.py"][1]
    assert told["unfinished.py"][0] == "UNAVAILABLE"
    assert told["unfinished.py"][1].startswith("ZeroDivisionError: division by zero")


def test_the_first_configuration_alone_is_compiled_where_that_is_asked(tmp_path: Path) -> None:
    rows = codegen_asking.collect(
        Setting("", threads=1, cwd=tmp_path), written(tmp_path, tuned=TUNED), ["sm_90"], "first"
    )

    assert {row["config"] for row in rows} == {"BLOCK=512 TWICE=False num_warps=4 num_stages=3"}


def test_a_plain_function_is_compiled_for_the_types_of_a_signature(tmp_path: Path) -> None:
    (tmp_path / "plain_kernels.py").write_text(HEAD + COPY)
    asked = {"constexprs": {"BLOCK": 1024, "num_warps": 8}, "chips": ["sm_90"]}
    setting = Setting("", threads=1, cwd=tmp_path)

    (row,) = codegen_asking.collect(setting, ["plain_kernels:_copy"], signature="*fp32,*fp32,i32:16", **asked)
    assert (row["sizes"], row["config"]) == ("x=*fp32 out=*fp32 elements=i32:16", "BLOCK=1024 num_warps=8")
    assert row["metrics"]["global_128"] == 2
    assert row["metrics"]["warps"] == 8

    with pytest.raises(UsageError, match=r"names 2 types, plain_kernels:_copy takes x, out, elements"):
        codegen_asking.collect(setting, ["plain_kernels:_copy"], signature="*fp32,i32", **asked)


def test_an_unknown_kernel_is_refused_with_the_nearest_name() -> None:
    with pytest.raises(UsageError, match=r"there is no kernel 'vector_ad'.*did you mean 'vector_add'"):
        codegen_asking.collect(Setting("", threads=1), ["vector_ad"], ["sm_90"])


def test_launches_are_recorded_until_the_call_ends_or_raises_and_no_longer() -> None:
    before = KernelInterface.__getitem__
    function = KernelInterface()

    def call() -> None:
        assert function[(1,)](1, two=2) is None
        raise ValueError("not today")

    with pytest.raises(ValueError, match="not today"):
        recording.launches(call)
    assert KernelInterface.__getitem__ is before
    assert recording.launches(lambda: function[(1,)](1, two=2)) == (recording.Launch(function, (1,), {"two": 2}),)
    assert KernelInterface.__getitem__ is before
