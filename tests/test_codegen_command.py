"""``pcbench codegen``: what it takes, prints and writes, and its exit codes."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import Any

import pytest
from compilations import failed, told
from compiled_kernels import Compiler, Row, replaced

from pcbench import codegen_asking, discovery
from pcbench.analysis.cards import names_by_target
from pcbench.commands import _codegen_triton, main

ROOT = Path(__file__).parent.parent


@pytest.fixture
def compiler(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Compiler:
    return replaced(monkeypatch, tmp_path)


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (["vector_ad"], "there is no kernel 'vector_ad'"),
        (["nowhere.py"], "there is no file nowhere.py"),
        (["module:function"], "module:function does not say which types it takes"),
        (["vector_add", "--signature", "*fp32"], "are of one plain function"),
        (["m:f", "--signature", "*fp32", "--constexpr", "BLOCK"], "'BLOCK' is no constant"),
        (["vector_add", "--json", "/nowhere/at/all.json"], "/nowhere/at/all.json cannot be written"),
        (["vector_add", "--markdown"], "--markdown is of diff"),
        (["vector_add", "--sass"], "--sass keeps the machine code in a file"),
        (["vector_add", "--triton", "../3.6"], "'../3.6' is no whole version of Triton"),
        (["vector_add", "--triton", "3.6"], "'3.6' is no whole version of Triton a version has three numbers"),
        (["diff", "vector_add", "--triton", "3.6.0", "--triton", "3.09.0"], "'3.09.0' is no whole version of Triton"),
        (["difff", "HEAD~1", "HEAD"], "there is no kernel 'difff' did you mean `pcbench codegen diff A B`?"),
        (["--triton", "3.6.0", "--triton", "3.9.0"], "several Triton versions are compared"),
        (["diff"], "diff of what?"),
        (["diff", "a.json"], "diff of what?"),
        (["diff", "--triton", "3.6.0"], "diff of what?"),
        (["diff", "a.json", "b.json"], "there is no file a.json"),
        (["diff", "HEAD", "HEAD~1"], "there is no side HEAD"),
        (["diff", "HEAD~1..HEAD"], "diff of what? write two words: pcbench codegen diff HEAD~1 HEAD"),
        (["diff", "v3.6...v3.7", "softmax"], "no side v3.6...v3.7 write two words: pcbench codegen diff v3.6 v3.7"),
        (["diff", "softmax", "HEAD~1", "HEAD"], "come before the kernels: pcbench codegen diff A B softmax"),
        (
            ["diff", "m:f", "HEAD", ".", "--signature", "i32"],
            "name it, as package.module:function; of diff, after A and B",
        ),
        (["diff", "a.json", "b.json", "--sass", "--markdown"], "--markdown has no room for machine code"),
    ],
)
def test_what_cannot_be_asked_is_refused_before_anything_is_compiled(
    words: list[str], problem: str, compiler: Compiler, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["codegen", *words]) == 2
    assert problem in " ".join(capsys.readouterr().err.split())
    assert compiler.asked == []


def test_every_target_has_a_card_to_confirm_on() -> None:
    assert tuple(names_by_target()) == codegen_asking.CHIPS


def test_all_kernels_are_compiled_for_two_targets_and_shown(
    compiler: Compiler, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["codegen"]) == 0

    ((setting, kernels, chips, configs, _),) = compiler.asked
    out = capsys.readouterr()
    assert kernels == discovery.names(ROOT / "kernels")
    assert (chips, configs, setting.threads) == (("sm_90", "sm_100"), "first", 1)
    assert "vector_add _softmax float16 rows=4096 columns=1024 BLOCK=1024 num_warps=8" in out.out
    assert "the working code: compile vector_add for sm_90" in out.err


def test_a_row_that_failed_is_shown_with_its_reason_and_ends_in_2(
    compiler: Compiler, capsys: pytest.CaptureFixture[str]
) -> None:
    compiler.made = lambda kernel, chip, text: (
        told(kernel=kernel) if chip == "sm_90" else failed("COMPILE_FAILED", "too many", kernel=kernel, target=chip)
    )

    assert main(["codegen", "vector_add"]) == 2
    assert "sm_100  COMPILE_FAILED: too many" in capsys.readouterr().out


def test_what_was_compiled_until_an_interruption_is_shown(
    compiler: Compiler, capsys: pytest.CaptureFixture[str]
) -> None:
    def made(kernel: str, chip: str, text: str) -> Row:  # noqa: ARG001  # as the others
        if chip == "sm_100":
            raise KeyboardInterrupt
        return told(kernel=kernel, target=chip)

    compiler.made = made

    assert main(["codegen", "vector_add"]) == 2
    out = capsys.readouterr()
    assert "interrupted; what was compiled until then follows" in out.err
    assert "1 row, " in out.out


def test_a_plain_function_is_asked_for_with_its_types_and_constants(compiler: Compiler) -> None:
    words = ["m:f", "--signature", "*fp32,i32", "--constexpr", "BLOCK=1024", "--constexpr", "KIND=gelu"]

    assert main(["codegen", *words, "--constexpr", "CAUSAL=True", "--target", "gfx942", "--configs", "all"]) == 0

    ((_, kernels, chips, configs, more),) = compiler.asked
    assert (kernels, chips, configs) == (("m:f",), ("gfx942",), "all")
    assert more["signature"] == "*fp32,i32"
    assert more["constexprs"] == {"BLOCK": 1024, "KIND": "gelu", "CAUSAL": True}


def test_triton_versions_are_fetched_once_and_what_compiled_is_checked(
    compiler: Compiler, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    fetched = []

    def pip(words: list[str], **how: Any) -> subprocess.CompletedProcess[str]:  # noqa: ARG001  # as subprocess's
        fetched.append(words[-1])
        Path(words[words.index("--target") + 1], "triton").mkdir(parents=True)
        return subprocess.CompletedProcess(words, 0, "", "")

    monkeypatch.setattr(_codegen_triton.subprocess, "run", pip)
    compiler.made = lambda kernel, chip, text: told(kernel=kernel, target=chip, triton="3.1.0")
    assert main(["codegen", "vector_add", "--triton", "3.1.0"]) == 0
    assert main(["codegen", "vector_add", "--triton", "3.1.0"]) == 0
    assert main(["codegen", "diff", "vector_add", "--triton", "3.1.0", "--triton", "3.2.0"]) == 2

    place = tmp_path / "data" / "pcbench" / "triton"
    assert fetched == ["triton==3.1.0", "triton==3.2.0"]
    assert sorted(path.name for path in place.iterdir()) == ["3.1.0", "3.2.0"]
    paths = [(asked[0].env["PYTHONPATH"] or "").split(os.pathsep)[0] for asked in compiler.asked]
    assert paths == [str(place / version) for version in ("3.1.0", "3.1.0", "3.1.0", "3.2.0")]
    assert "triton 3.2.0 was to compile" in capsys.readouterr().err


def test_every_triton_is_fetched_before_anything_is_compiled(
    compiler: Compiler, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))

    def pip(words: list[str], **how: Any) -> subprocess.CompletedProcess[str]:  # noqa: ARG001  # as subprocess's
        Path(words[words.index("--target") + 1], "triton").mkdir(parents=True)
        return subprocess.CompletedProcess(words, words[-1] == "triton==3.2.0", "", "ERROR: none such\n")

    monkeypatch.setattr(_codegen_triton.subprocess, "run", pip)

    assert main(["codegen", "diff", "vector_add", "--triton", "3.1.0", "--triton", "3.2.0"]) == 2
    assert "pip could not fetch triton 3.2.0: ERROR: none such" in capsys.readouterr().err
    assert compiler.asked == []


def test_a_triton_that_pip_cannot_fetch_leaves_nothing_behind(
    compiler: Compiler, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    told_by_pip = subprocess.CompletedProcess([], 1, "", "WARNING: slow\nERROR: No matching distribution\n")
    monkeypatch.setattr(_codegen_triton.subprocess, "run", lambda words, **how: told_by_pip)

    assert main(["codegen", "vector_add", "--triton", "3.1.0"]) == 2
    assert "pip could not fetch triton 3.1.0: ERROR: No matching distribution" in capsys.readouterr().err
    assert list((tmp_path / "data" / "pcbench" / "triton").iterdir()) == []
    assert compiler.asked == []
