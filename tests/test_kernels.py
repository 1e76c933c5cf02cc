"""Kernels in Triton's interpreter: right beside their references, and asking the memory for exactly what they say."""

from __future__ import annotations

import functools
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import interpreting
import pytest
from triton.runtime.interpreter import InterpreterBuilder

from pcbench import discovery
from pcbench.errors import PcbenchError

FOLDER = Path(__file__).parent.parent / "kernels"
TAKE_SECONDS = ("attention", "cross_entropy", "layer_norm")

# Of the largest value of the answer. In float32, 16 units in the last place: sums are made in another order than the
# answer's, of some hundred additions one after another at most, and the worst, attention's of 64 products that nearly
# cancel, is off by 8. A narrower output is rounded once more: by half a unit, and in bfloat16 by a whole one, for the
# interpreter cuts off where a GPU rounds.
_SUMMED = 16 * 2.0**-23
TOLERANCES = {"float32": _SUMMED, "float16": _SUMMED + 2.0**-11, "bfloat16": _SUMMED + 2.0**-7}

WORDS = ("changed", "shape", " is of ", "NaN", "off by", "bytes_moved", "bytes_requested")
"""What tells the kinds of wrong from each other."""

KERNELS = [
    pytest.param(
        name,
        marks=[
            pytest.mark.xdist_group(f"kernel {name}"),  # what interprets it is started once for its tests
            *([pytest.mark.slow] if name in TAKE_SECONDS else []),
        ],
    )
    for name in discovery.names(FOLDER)
]


@functools.cache
def runs(*kernels: str) -> list[dict[str, Any]]:
    """What the process that interprets the kernels says."""
    command = [sys.executable, interpreting.__file__, *kernels]
    env = os.environ | {"TRITON_INTERPRET": "1", "OMP_NUM_THREADS": "1"}
    ended = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr
    return [json.loads(line) for line in ended.stdout.splitlines()]


def wrong_answers(run: dict[str, Any]) -> list[str]:
    """What is wrong with the outputs of a run."""
    wrong = [f"input {index} was changed" for index in run["changed"]]
    for index, output in enumerate(run["outputs"]):
        if output["shape"] != output["wanted_shape"]:
            wrong.append(f"output {index} has the shape {output['shape']}, not {output['wanted_shape']}")
        elif output["dtypes"] is not None and output["dtype"] not in output["dtypes"]:
            wrong.append(f"output {index} is of {output['dtype']}, not {' or '.join(output['dtypes'])}")
        elif output["nans"]:
            wrong.append(f"output {index} has {output['nans']} NaN")
        elif not output["error"] <= TOLERANCES[output["dtype"]]:
            wrong.append(f"output {index} is off by {output['error']:.2e} of its largest value, in {output['dtype']}")
    return [f"{run['dtype']}, {run['sizes']}, {run['layout']}: {each}" for each in wrong]


def wrong_traffic(run: dict[str, Any]) -> list[str]:
    """What a run asked the memory for other than its kernel says."""
    return [
        f"{run['dtype']}, {run['sizes']}: {found} {what}, and {name} says {said}"
        for what, found, name, said in run.get("traffic", ())
        if found != said
    ]


def of_dtypes(name: str, *, bfloat16: bool) -> list[dict[str, Any]]:
    found = [run for run in runs(name) if (run["dtype"] == "bfloat16") is bfloat16]
    if not found:
        pytest.skip(f"{name} is not for {'bfloat16' if bfloat16 else 'another dtype than bfloat16'}")
    if "skipped" in found[0]:
        pytest.skip(f"{name} in bfloat16: {found[0]['skipped']}")
    return found


@pytest.mark.parametrize("name", KERNELS)
def test_a_kernel_gives_its_references_answer_at_every_small_size_and_layout(name: str) -> None:
    assert [wrong for run in of_dtypes(name, bfloat16=False) for wrong in wrong_answers(run)] == []


@pytest.mark.parametrize("name", KERNELS)
def test_a_kernel_that_widens_what_it_loads_gives_its_references_answer_in_bfloat16(name: str) -> None:
    assert [wrong for run in of_dtypes(name, bfloat16=True) for wrong in wrong_answers(run)] == []


@pytest.mark.parametrize("name", KERNELS)
def test_a_kernel_asks_the_memory_for_exactly_the_bytes_that_it_says(name: str) -> None:
    counted = [run for run in runs(name) if "traffic" in run]

    assert counted
    assert [wrong for run in counted for wrong in wrong_traffic(run)] == []


RETURNS = "    return out\n\n\ndef copy"
PLANTED = {
    "vector_add": {
        "a_comment": ("    total =", "    # the sum\n    total =", set()),
        "too_wide": (
            "total = tl.load(x + places, mask=inside)",
            "total = tl.load(x + places, mask=places <= elements)",
            {"bytes_moved", "bytes_requested"},
        ),
        "read_twice": (
            "total = tl.load",
            "total = 0 * tl.load(x + places, mask=inside) + tl.load",
            {"bytes_requested"},
        ),
        "imprecise": ("total, mask", "total * 1.001, mask", {"off by"}),
        "unwritten": (
            "total, mask=inside)",
            "total, mask=inside & (places != 0))",
            {"NaN", "bytes_moved", "bytes_requested"},
        ),
        "deaf_to_strides": ("x, y = x.contiguous(), y.contiguous()", "pass", {"NaN"}),
        "in_place": (RETURNS, "    x.zero_()\n" + RETURNS, {"changed"}),
        "of_another_shape": (RETURNS, RETURNS.replace("out", "out[None]"), {"shape"}),
        "of_another_dtype": (RETURNS, RETURNS.replace("out", "out.double()"), {" is of "}),
    },
    "softmax": {
        "a_comment": ("    powers =", "    # at most 1\n    powers =", set()),
        "too_wide": (
            'tl.load(x + row * stride + column, mask=inside, other=float("-inf"))',
            'tl.where(inside, tl.load(x + row * stride + column, mask=column <= columns), float("-inf"))',
            {"bytes_moved", "bytes_requested"},
        ),
        "read_twice": (
            "powers = tl.exp(values -",
            'powers = tl.exp(tl.load(x + row * stride + column, mask=inside, other=float("-inf")).to(tl.float32) -',
            {"bytes_requested"},
        ),
    },
}


def test_what_is_planted_in_a_kernel_is_seen_and_a_comment_is_not(tmp_path: Path) -> None:
    expected, seen = {}, {}
    for name, edits in PLANTED.items():
        source = (FOLDER / f"{name}.py").read_text()
        for planted, (text, instead, words) in edits.items():
            assert source.count(text) == 1, f"{name}.py is to have {text!r} once"
            path = tmp_path / f"{name}_{planted}.py"
            path.write_text(source.replace(text, instead))
            expected[str(path)] = words
    told = [run for run in runs(*expected) if "skipped" not in run]
    for path in expected:
        wrong = [each for run in told if run["kernel"] == path for each in wrong_answers(run) + wrong_traffic(run)]
        seen[path] = {word for word in WORDS if any(word in each for each in wrong)}

    assert seen == expected


ATOMIC = """
import torch
import triton
import triton.language as tl

from pcbench_kernels import Kernel, normal

@triton.jit
def _total(x, out, rows, columns, BLOCK: tl.constexpr):
    matrix = tl.make_tensor_descriptor(x, [rows, columns], [columns, 1], [1, BLOCK])
    row = matrix.load([tl.program_id(0), 0]).to(tl.float32)
    tl.atomic_add(out, tl.sum(tl.reshape(row, [BLOCK]), 0))

def total(x):
    out = torch.zeros((), dtype=torch.float32)
    _total[(x.shape[0],)](x.contiguous(), out, *x.shape, BLOCK=1024)
    return out

KERNEL = Kernel(
    launch=total,
    reference=torch.sum,
    inputs=lambda sizes, dtype, device: (normal(0, 5, 1000, dtype=dtype, device=device),),
    bytes_moved=lambda sizes, dtype: 5000 * dtype.itemsize + 2 * 4,
    bytes_requested=lambda sizes, dtype: 5 * (1000 * dtype.itemsize + 2 * 4),
    flops=lambda sizes: 5000,
    bound="memory",
    shapes=(),
    dtypes=(torch.float32,),
    small=({},),
)
"""


def test_what_a_descriptor_and_an_atomic_addition_ask_for_is_counted(tmp_path: Path) -> None:
    path = tmp_path / "atomic.py"
    path.write_text(ATOMIC)
    told = [run for run in runs(str(path)) if "skipped" not in run]

    assert [len(run["traffic"]) for run in told if run["layout"] == "contiguous"] == [2, 2]
    assert [each for run in told for each in wrong_answers(run) + wrong_traffic(run)] == []


def test_a_way_to_the_memory_that_nothing_counts_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(InterpreterBuilder, "create_bulk_load", None, raising=False)

    with pytest.raises(PcbenchError, match="nothing counts what create_bulk_load of Triton's interpreter asks"):
        interpreting.counted()
