"""Compiling a launch for chips that are not there, several in one process, and what a compiler that refuses says."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import Any

import pytest
import torch
import triton
import triton.language as tl
from triton.backends.nvidia.compiler import CUDABackend
from triton.compiler.errors import CompilationError

from pcbench.codegen import compiling
from pcbench.codegen.compiling import Compiled, CompileFailedError
from pcbench.codegen.recording import Variant
from pcbench.codegen_asking import ENVIRONMENT

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("test_codegen_compiling")]


@triton.jit
def _double(x, BLOCK: tl.constexpr):  # type: ignore[no-untyped-def]
    places = tl.arange(0, BLOCK)
    tl.store(x + places, tl.load(x + places) * 2)


@triton.jit
def _refused(x):  # type: ignore[no-untyped-def]
    value = tl.load(x)
    asm: tl.constexpr = "nonsense.b32 $0, $1;"
    tl.store(x, tl.inline_asm_elementwise(asm, "=f,f", [value], dtype=tl.float32, is_pure=True, pack=1))


class Raising:
    """Stands for a jit function whose compilation raises."""

    def __init__(self, error: Exception) -> None:
        self.device_caches: dict[int, dict[str, Any]] = defaultdict(dict)
        self.error = error

    def warmup(self, *args: object, **kwargs: object) -> None:  # noqa: ARG002  # Triton's own signature
        raise self.error


@pytest.fixture(scope="module", autouse=True)
def alone(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Compile as a process of ``pcbench codegen`` does, and leave Triton's choice of a GPU as it was."""
    with pytest.MonkeyPatch.context() as monkeypatch:
        for name, value in ENVIRONMENT.items():
            monkeypatch.setenv(name, value) if value is not None else monkeypatch.delenv(name, raising=False)
        monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path_factory.mktemp("triton")))
        monkeypatch.setattr(triton.runtime.driver, "_active", None)
        yield


def refusal(function: Any) -> str:
    compiling.compile_for("sm_90")
    with pytest.raises(CompileFailedError) as raised:
        compiling.compiled(Variant(function, (torch.empty(16, device="meta"),), {}, ""), {})
    return raised.value.problem


def test_a_launch_is_compiled_anew_for_each_chip_and_known_again_on_it() -> None:
    variant = Variant(_double, (torch.empty(1024, device="meta"),), {"BLOCK": 1024}, "BLOCK=1024")
    known: dict[str, Compiled] = {}
    made = {}
    for chip in ("sm_90", "sm_100", "gfx942", "sm_90"):
        compiling.compile_for(chip)
        code = compiling.compiled(variant, known)
        assert made.setdefault(chip, code) is code
        target = code.metadata.target
        assert f"{'sm_' if target.backend == 'cuda' else ''}{target.arch}" == chip

    assert set(known) == {code.key for code in made.values()}
    binaries = {code.asm["hsaco" if chip == "gfx942" else "cubin"] for chip, code in made.items()}
    assert len(binaries) == len(known) == 3


def test_what_times_the_stages_is_taken_out_again_after_a_success_and_a_refusal() -> None:
    before = CUDABackend.add_stages

    refusal(Raising(ValueError("no")))
    assert CUDABackend.add_stages is before
    code = compiling.compiled(Variant(_double, (torch.empty(64, device="meta"),), {"BLOCK": 64}, ""), {})
    assert CUDABackend.add_stages is before
    assert list(code.stage_cpu_s) == ["ttir", "ttgir", "llir", "ptx", "cubin"]


def test_of_a_refusal_by_the_assembler_its_own_line_is_told_without_its_files() -> None:
    reason = refusal(_refused)

    assert reason.startswith("ptxas")
    assert "Not a name of any known instruction: 'nonsense'" in reason
    assert (reason.count("the PTX"), "\n" in reason, "/tmp" in reason) == (1, False, False)


def test_of_a_refusal_by_the_front_end_the_kind_the_place_and_the_last_line_are_told() -> None:
    inner = CompilationError("def kernel(x):\n    tl.arange(0, 3)", None, "first\nthe range must be a power of 2")
    outer = CompilationError("def kernel(x):", None, None)
    outer.__cause__ = ValueError("the cause\nand more")

    assert refusal(Raising(inner)).startswith("CompilationError")
    assert refusal(Raising(inner)).endswith(": the range must be a power of 2")
    assert refusal(Raising(outer)) == "ValueError: the cause"
    assert refusal(Raising(RuntimeError("\n   first\nsecond"))) == "RuntimeError: first"
    assert refusal(Raising(RuntimeError())) == "RuntimeError: it gave no reason"


def test_a_chip_that_the_simplest_kernel_is_not_compiled_for_is_unavailable(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(variant: Variant, known: object) -> Compiled:  # noqa: ARG001  # as the real one
        raise CompileFailedError("no such chip")

    monkeypatch.setattr(compiling, "compiled", refuse)
    compiling._warm.cache_clear()

    with pytest.raises(compiling.UnavailableError, match=r"does not compile for sm_80: no such chip"):
        compiling.compile_for("sm_80")
