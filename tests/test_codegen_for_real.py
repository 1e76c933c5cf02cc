"""``pcbench codegen`` with Triton's own compiler: a kernel of ours, and planted changes between two commits."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import git_history
import pytest

from pcbench.commands import main

ROOT = Path(__file__).parent.parent

SCALE = '''"""Twice a tensor."""
import torch
import triton
import triton.language as tl
from pcbench_kernels import Kernel, normal

@triton.jit
def _scale(x, out, elements, BLOCK: tl.constexpr):
    places = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = places < elements
    tl.store(out + places, 2.0 * tl.load(x + places, mask=inside), mask=inside)

def scale(x):
    out = torch.empty_like(x)
    _scale[(triton.cdiv(x.numel(), 1024),)](x, out, x.numel(), BLOCK=1024)
    return out

def inputs(sizes, dtype, device):
    return (normal(0, sizes["elements"], dtype=dtype, device=device),)

def none(*sizes):
    return 0

KERNEL = Kernel(launch=scale, reference=lambda x: 2 * x, inputs=inputs, bytes_moved=none, bytes_requested=none,
    flops=none, bound="memory", shapes=({"elements": 65536},), dtypes=(torch.float32,), small=())
'''


@pytest.mark.slow
def test_lost_alignment_and_a_mask_too_wide_are_caught_and_a_rename_a_comment_and_a_moved_line_are_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    repository = git_history.new(tmp_path, {})
    package = (ROOT / "kernels" / "__init__.py").read_text()
    names = ("lost", "wide", "moved", "renamed")
    repository.commit({"kernels/__init__.py": package, **{f"kernels/{name}.py": SCALE for name in names}})
    lost = SCALE.replace('normal(0, sizes["elements"],', 'normal(0, sizes["elements"] + 1,')
    lost = lost.replace("device=device),)", "device=device)[1:],)")
    wide = SCALE.replace("places < elements", "places < elements + 1")
    moved = SCALE.replace("\n@triton", "\n# A comment.\n\n\n@triton").replace(
        "    inside", "    # Another.\n    inside"
    )
    renamed = SCALE.replace("_scale", "_twice").replace("places", "at").replace("BLOCK", "SIZE")
    changed = {"lost": lost, "wide": wide, "moved": moved, "renamed": renamed}
    assert len({SCALE, *changed.values()}) == 5
    repository.commit({f"kernels/{name}.py": text for name, text in changed.items()})
    monkeypatch.chdir(repository.root)

    code = main(["codegen", "diff", "HEAD~1", "HEAD", "--target", "sm_90", "--json", "-"])

    found = json.loads(capsys.readouterr().out)
    rules = {(change["kernel"], change["rule"], change["weight"]) for change in found["changes"]}
    assert code == 1
    assert {kernel for kernel, _, _ in rules} == {"lost", "wide"}
    assert {("lost", "width", "hard"), ("wide", "width", "hard"), ("lost", "global", "hard")} <= rules
    assert (found["compared"], found["same_code"]) == (4, 1)


@pytest.mark.slow
def test_the_command_compiles_a_kernel_of_ours_for_an_nvidia_and_an_amd_gpu(tmp_path: Path) -> None:
    file = tmp_path / "a.json"
    words = ["codegen", "vector_add", "--target", "sm_90", "--target", "gfx942", "--json", str(file)]

    ended = subprocess.run(
        [sys.executable, "-m", "pcbench", *words], cwd=tmp_path, capture_output=True, text=True, check=False
    )

    assert ended.returncode == 0, ended.stderr
    rows = json.loads(file.read_text())["rows"]
    assert {row["target"] for row in rows} == {"sm_90", "gfx942"}
    assert all(row["metrics"]["registers"] > 0 for row in rows)
    assert all(row["metrics"]["global_128"] > 0 for row in rows if row["dtype"] == "float32")
    assert all(row["sha256"] in ended.stdout for row in rows)


@pytest.mark.slow
def test_the_kernel_that_the_document_shows_compiles(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (block,) = re.findall(r"```python\n(.*?)```", (ROOT / "docs" / "kernels.md").read_text(), re.DOTALL)
    (tmp_path / "mine.py").write_text(block)
    monkeypatch.chdir(tmp_path)

    assert main(["codegen", "mine.py", "--target", "sm_90", "--json", "-"]) == 0
    assert [row["dtype"] for row in json.loads(capsys.readouterr().out)["rows"]] == ["float32", "float16"]
