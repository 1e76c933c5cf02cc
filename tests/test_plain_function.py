"""A Triton function of a user's module, by its name: what it is launched with, and what is refused before it is."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from pcbench import codegen_asking
from pcbench.asking import Setting
from pcbench.codegen import recording
from pcbench.errors import UsageError

SOURCE = """
import triton
import triton.language as tl

def few(configs, named, **given):
    assert set(named) == {"x", "out", "n"}, named
    return [config for config in configs if config.kwargs["BLOCK"] < named["n"]]

CONFIGS = [triton.Config({"BLOCK": n}, num_warps=w) for n, w in ((512, 4), (1024, 8), (2 ** 21, 8))]

@triton.jit
def add(x, out, n, BLOCK: tl.constexpr, TWICE: tl.constexpr = False):
    places = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    value = tl.load(x + places, mask=places < n)
    tl.store(out + places, value * 2 if TWICE else value, mask=places < n)

tuned = triton.autotune(CONFIGS, key=["n"], prune_configs_by={"early_config_prune": few})(add)
guessed = triton.heuristics({"BLOCK": lambda given: 256 if given["n"] > 4096 else 128})(add)
both = triton.autotune([triton.Config({"BLOCK": 64})], key=[])(triton.heuristics({"TWICE": lambda given: True})(add))

def helper():
    pass
"""
TYPES = "*fp32,*fp32,i32"


@pytest.fixture(scope="module", autouse=True)
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    made = tmp_path_factory.mktemp("plain")
    (made / "pcbench_test_plain.py").write_text(SOURCE)
    before = list(sys.path)
    importlib.invalidate_caches()
    yield made
    sys.path[:] = before
    sys.modules.pop("pcbench_test_plain", None)


def configs(folder: Path, function: str, first: bool = False, **constexprs: int | str) -> list[str]:
    (here,) = recording.tracked(f"pcbench_test_plain:{function}", folder, TYPES, constexprs)
    assert here.sizes == "x=*fp32 out=*fp32 n=i32"
    return [variant.config for variant in recording.variants(here, first=first)]


def test_a_tuned_function_has_the_configurations_that_its_own_rule_leaves_of_the_arguments(folder: Path) -> None:
    words = ["BLOCK=512 TWICE=False num_warps=4 num_stages=3", "BLOCK=1024 TWICE=False num_warps=8 num_stages=3"]

    assert configs(folder, "tuned") == words
    assert configs(folder, "tuned", first=True) == words[:1]
    assert configs(folder, "tuned", first=True, TWICE=1) == ["BLOCK=512 TWICE=1 num_warps=4 num_stages=3"]


def test_a_function_s_heuristics_give_their_constants_under_autotuning_too(folder: Path) -> None:
    assert configs(folder, "guessed", num_warps=2) == ["BLOCK=256 TWICE=False num_warps=2"]
    assert configs(folder, "both") == ["BLOCK=64 TWICE=True num_warps=4 num_stages=3"]


@pytest.mark.parametrize(
    ("function", "constexprs", "problem", "hint"),
    [
        ("add", {}, "add needs a value for BLOCK", "--constexpr BLOCK=1024, for example"),
        ("add", {"BLOK": 64}, "add has no BLOK", "did you mean BLOCK? its parameters: x, out, n, BLOCK, TWICE"),
        ("add", {"BLOCK": 64, "num_warp": 8}, "add has no num_warp", "its parameters: x, out, n, BLOCK, TWICE"),
        (
            "tuned",
            {"BLOCK": 64},
            "BLOCK of pcbench_test_plain:tuned cannot be given: its configurations or heuristics give it a value",
            "leave out --constexpr BLOCK",
        ),
        (
            "tuned",
            {"num_warps": 8},
            "num_warps of pcbench_test_plain:tuned cannot be given: its configurations or heuristics give it a value",
            "leave out --constexpr num_warps",
        ),
        ("helper", {}, "helper is a function", "name a function under @triton.jit"),
    ],
)
def test_constants_that_are_not_the_function_s_are_refused_with_what_to_write(
    folder: Path, function: str, constexprs: Mapping[str, int], problem: str, hint: str
) -> None:
    with pytest.raises(UsageError) as raised:
        recording.tracked(f"pcbench_test_plain:{function}", folder, TYPES, constexprs)

    assert raised.value.problem.removeprefix("pcbench_test_plain:") == problem
    assert raised.value.hint == hint


@pytest.mark.parametrize("option", ["num_warps", "num_stages", "num_ctas", "maxnreg", "waves_per_eu"])
def test_options_of_the_compiler_for_either_maker_s_gpus_are_no_constants_of_the_function(
    folder: Path, option: str
) -> None:
    assert configs(folder, "add", BLOCK=64, **{option: 4}) == [f"BLOCK=64 TWICE=False {option}=4"]


@pytest.mark.parametrize("signature", [None, "*fp32,*fp32", "*fp32,*fp32,i32,i32"])
def test_the_types_of_a_tuned_function_are_those_that_no_configuration_gives(
    folder: Path, signature: str | None
) -> None:
    with pytest.raises(UsageError, match=r"x, out, n\)?$"):
        recording.tracked("pcbench_test_plain:tuned", folder, signature, {})


@pytest.mark.slow
def test_all_configurations_of_a_tuned_function_are_compiled_where_that_is_asked(folder: Path) -> None:
    setting = Setting("", threads=1, cwd=folder)

    rows = codegen_asking.collect(setting, ["pcbench_test_plain:tuned"], ["sm_90"], "all", signature=TYPES)

    assert [(row["status"], row["metrics"]["warps"]) for row in rows] == [("OK", 4), ("OK", 8)]
    assert {row["function"] for row in rows} == {"add"}
    assert rows[0]["sha256"] != rows[1]["sha256"]
