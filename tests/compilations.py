"""Made-up rows of ``pcbench codegen``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pcbench.analysis.codegen_lines import Diff, Side
from pcbench.analysis.codegen_rows import CodegenRow, read_row
from pcbench.analysis.codegen_rules import compare
from pcbench.analysis.policy import Policy

METRICS: Mapping[str, float] = {
    "registers": 64,
    "spill_stores": 0,
    "spill_loads": 0,
    "spill_store_bytes": 0,
    "spill_load_bytes": 0,
    "stack_bytes": 0,
    "shared_bytes": 32768,
    "tensor_memory": 0,
    "warps": 8,
    "blocks_per_sm": 4,
    "occupancy": 0.5,
    "sass": 300,
    "mma": 4,
    "global_access": 12,
    "global_128": 8,
    "global_narrow": 0,
    "async_copies": 2,
    "shared_access": 20,
    "barriers": 4,
    "ptx": 400,
    "ttir": 40,
    "ttgir": 60,
    "convert_layout": 2,
    "llir": 500,
}


def told(code: str = "a", **changed: Any) -> dict[str, Any]:
    """A row as a process tells it; ``code`` stands for the machine code, metrics and other fields may be changed."""
    metrics = {**METRICS, **{name: changed.pop(name) for name in tuple(changed) if name in METRICS}}
    return {
        "kernel": "softmax",
        "function": "_softmax",
        "sizes": "rows=4096 columns=1024",
        "dtype": "float16",
        "config": "BLOCK=1024 num_warps=8",
        "target": "sm_90",
        "status": "OK",
        "reason": None,
        "assembler": "ptxas 13.4.59",
        "triton": "3.9.0",
        "metrics": {name: value for name, value in metrics.items() if value is not None},
        "words": {"occupancy_limit": "registers", "mma_class": "HGMMA"},
        "mix": {"LDG": 8, "HGMMA": 4},
        "warnings": [],
        "sha256": code * 64,
        "stage_cpu_s": {"ttir": 0.01, "cubin": 0.2},
        "compile_cpu_s": 0.4,
        "compile_wall_s": 0.5,
        "hit_s": 0.0006,
        **changed,
    }


def failed(status: str, reason: str, **changed: Any) -> dict[str, Any]:
    """A row of a compilation that came to nothing."""
    return told(status=status, reason=reason, metrics={}, words={}, mix={}, sha256=None, compile_cpu_s=None, **changed)


def rows(*those: Mapping[str, Any]) -> Sequence[CodegenRow]:
    return [read_row(dict(one), "a test") for one in those]


def diff(
    baseline: Sequence[Mapping[str, Any]], candidate: Sequence[Mapping[str, Any]], policy: Policy | None = None
) -> Diff:
    """What ``pcbench codegen diff`` makes of two files of rows; by the default policy where none is given."""
    one, two = (Side(name, tuple(rows(*those))) for name, those in (("a.json", baseline), ("b.json", candidate)))
    return Diff(one, two, compare(one.rows, two.rows, policy or Policy()))
