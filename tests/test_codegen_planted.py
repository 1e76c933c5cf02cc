"""Regressions planted in kernels of ours, and ``pcbench codegen diff`` of the folders before and after, for real."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pcbench_kernels
import pytest

from pcbench.commands import main

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("test_codegen_planted")]

KERNELS = Path(pcbench_kernels.__file__).parent

HALF_ALONE = ("dtypes=(torch.float16, torch.bfloat16)", "dtypes=(torch.float16,)")
SMALLER: Mapping[str, tuple[tuple[str, str], ...]] = {
    "matmul": (
        HALF_ALONE,
        ('        {"m": 4096, "n": 4096, "k": 4096},\n        {"m": 4000, "n": 4112, "k": 4048},\n', ""),
    ),
    "attention": (
        HALF_ALONE,
        (
            '        {"batch": 4, "heads": 16, "length": 4096, "head": 128, "causal": 0},\n'
            '        {"batch": 4, "heads": 32, "length": 4096, "head": 64, "causal": 1},\n',
            "",
        ),
    ),
    "softmax": (("dtypes=(torch.float16, torch.float32)", "dtypes=(torch.float16,)"),),
    "dropout": (("dtypes=(torch.float32, torch.float16)", "dtypes=(torch.float32,)"),),
}
"""One size and dtype of each, so that a test takes seconds."""

TILE = "(128, 128, 64, 8, 3)"
MAXIMUM = "    powers = tl.exp(values - tl.max(values, 0))\n"
AGAIN = """\
    peak = tl.max(values, 0)
    values = tl.load(x + row * stride + column, mask=inside, other=float("-inf"), cache_modifier=".cg").to(tl.float32)
    powers = tl.exp(values - peak)
"""
WARPS = "warps = min(max(block // 1024, 4), 32)"


DOT = "tl.dot(left, right,"
PLANTS: Mapping[str, tuple[str, str, str]] = {
    "staged": ("matmul", TILE, TILE.replace("8, 3)", "8, 4)")),
    "tiled": ("matmul", TILE, TILE.replace("128, 128", "256, 256")),
    "thinned": ("matmul", TILE, TILE.replace("8, 3)", "4, 3)")),
    "narrowed": ("attention", "(128, 64, 8, 2)", "(128, 64, 4, 2)"),
    "reread": ("softmax", MAXIMUM, AGAIN),
    "mixed": ("dropout", "tl.arange(0, BLOCK // 4))", "tl.arange(0, BLOCK // 4), n_rounds=12)"),
    "widened": ("softmax", WARPS, f"{WARPS} * 2"),
    "retiled": ("matmul", '"GROUP": 8}', '"GROUP": 8, "matrix_instr_nonkdim": 16}'),
    "converted": ("matmul", DOT, DOT.replace(",", ".to(tl.bfloat16),")),
}
"""By the name that it has in both folders: a kernel of ours, and the edit that the folder after has."""


def edited(text: str, *edits: tuple[str, str]) -> str:
    for before, after in edits:
        assert text.count(before) == 1, before
        text = text.replace(before, after)
    return text


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the folders before and after are."""
    root = tmp_path_factory.mktemp("planted")
    for side in ("before", "after"):
        (root / side / "kernels").mkdir(parents=True)
        (root / side / "kernels" / "__init__.py").write_text((KERNELS / "__init__.py").read_text())
    for name, (kernel, *edit) in PLANTS.items():
        source = edited((KERNELS / f"{kernel}.py").read_text(), *SMALLER[kernel])
        (root / "before" / "kernels" / f"{name}.py").write_text(source)
        (root / "after" / "kernels" / f"{name}.py").write_text(edited(source, (edit[0], edit[1])))
    return root


def diff(folder: Path, target: str, *kernels: str) -> tuple[int, Mapping[str, Any]]:
    """The exit code of the command in that folder, and its JSON."""
    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.chdir(folder)
        code = main(["codegen", "diff", "before", "after", *kernels, "--target", target, "--json", "diff.json"])
    return code, json.loads((folder / "diff.json").read_text())


@pytest.fixture(scope="module")
def failing(folder: Path) -> tuple[int, Mapping[str, Any]]:
    return diff(folder, "sm_90", "staged", "tiled", "thinned", "narrowed", "reread")


def fired(found: Mapping[str, Any], kernel: str) -> dict[str, tuple[str, str]]:
    """Weight and sentence by rule; how long compiling took is the machine's, and left out."""
    of_kernel = [change for change in found["changes"] if change["kernel"] == kernel]
    return {c["rule"]: (c["weight"], c["sentence"]) for c in of_kernel if c["rule"] != "compile time"}


@pytest.mark.parametrize(
    ("kernel", "hard", "words"),
    [
        ("staged", ["occupancy"], "blocks per SM fell from 2 to 1, limited by shared memory"),
        ("thinned", ["occupancy"], "occupancy fell from 0.25 to 0.125"),
        ("narrowed", ["spills"], "spill stores from 0 to"),
        ("reread", ["global"], "grew from 8 to 12 (+50%"),
        ("tiled", ["spills", "occupancy", "global", "warnings"], "spill stores from 0 to"),
    ],
)
def test_a_stage_more_a_bigger_tile_fewer_warps_and_an_input_read_twice_fail_by_their_own_rules(
    failing: tuple[int, Mapping[str, Any]], kernel: str, hard: list[str], words: str
) -> None:
    code, found = failing
    rules = fired(found, kernel)

    assert code == 1
    assert found["compared"] == 5
    assert {rule for rule, (weight, _) in rules.items() if weight == "hard"} == set(hard)
    assert words in rules[hard[0]][1]
    assert ("name" in rules) == (kernel != "reread")  # a configuration's value is part of a compilation's name


def test_a_tile_too_big_for_registers_is_warned_of_and_fits_where_tensor_memory_holds_the_sum(
    folder: Path, failing: tuple[int, Mapping[str, Any]]
) -> None:
    code, found = diff(folder, "sm_100", "tiled")
    hopper, blackwell = fired(failing[1], "tiled"), fired(found, "tiled")

    assert code == 1
    assert "C7511" in hopper["warnings"][1]
    assert not {"spills", "warnings"} & set(blackwell)
    assert "from 2 to 1" in blackwell["occupancy"][1]
    assert "its configuration was BLOCK_M=128 BLOCK_N=128" in blackwell["name"][1]


def test_more_rounds_and_more_warps_that_share_the_accesses_are_said_and_do_not_fail(folder: Path) -> None:
    code, found = diff(folder, "sm_90", "mixed", "widened")

    assert code == 0
    assert fired(found, "mixed")["instructions"][0] == fired(found, "widened")["width"][0] == "soft"
    assert {change["weight"] for change in found["changes"]} == {"soft", "note"}


def test_on_amd_another_kind_of_matrix_instruction_fails_and_another_tile_of_the_same_does_not(folder: Path) -> None:
    code, found = diff(folder, "gfx942", "retiled", "converted")
    tile, kind = fired(found, "retiled")["matrix"], fired(found, "converted")["matrix"]

    assert code == 1
    assert (tile[0], kind[0]) == ("soft", "hard")
    assert "of another tile: v_mfma_f32_32x32x8_f16 before, now v_mfma_f32_16x16x16_f16" in tile[1]
    assert "of another kind: v_mfma_f32_32x32x8_f16 before, now v_mfma_f32_32x32x8_bf16" in kind[1]
