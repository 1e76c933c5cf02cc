"""AMD's machine code, counted, and what LLVM says of it in the same text."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

from pcbench.errors import PcbenchError

_INSTRUCTION = re.compile(r"^\t([a-z]+_[a-z0-9_]+)", re.MULTILINE)
_GLOBAL = re.compile(r"(global|buffer|flat)_(load|store|atomic)_")
_NARROW = re.compile(r"_[us]?(byte|short)(_|$)")
_ACROSS_LANES = re.compile(r"ds_(b?permute|swizzle)_")
_SAID = {
    "registers": r"\.vgpr_count:\s+(\d+)",
    "accumulation_registers": r"\.agpr_count:\s+(\d+)",
    "scalar_registers": r"\.sgpr_count:\s+(\d+)",
    "spill_stores": r"\.vgpr_spill_count:\s+(\d+)",
    "stack_bytes": r"\.private_segment_fixed_size:\s+(\d+)",
    "waves": r";\s*Occupancy:\s+(\d+)",
}


@dataclass(frozen=True)
class Code:
    """Machine code, counted as it stands: an instruction in a loop counts once.

    Attributes:
        counts: What LLVM says, and instructions of a kind, by the name of the metric. Of the vector registers that
            are spilled there is no count of loads. ``waves`` are those of a SIMD, shared memory left out of account.
        matrix: The opcodes that multiply matrices, joined by ``+``; empty where none does.
        mix: Instructions by opcode.
    """

    counts: dict[str, int]
    matrix: str
    mix: dict[str, int]


def read(assembly: str) -> Code:
    """Count what LLVM wrote of one kernel.

    Raises:
        PcbenchError: It lacks what LLVM says of a kernel, or holds no instruction.
    """
    said = {}
    for name, pattern in _SAID.items():
        found = re.search(pattern, assembly)
        if found is None:
            raise PcbenchError(f"LLVM's assembly does not say what {name} there are: no {pattern!r} in it")
        said[name] = int(found.group(1))
    mix = Counter(_INSTRUCTION.findall(assembly))
    if not mix:
        raise PcbenchError(f"there is no instruction in LLVM's assembly: {assembly[:80]!r}")
    matrix = sorted(opcode for opcode in mix if "mfma" in opcode)
    accesses = Counter({opcode: count for opcode, count in mix.items() if _GLOBAL.match(opcode)})
    counts = said | {
        "sass": mix.total(),
        "mma": sum(mix[opcode] for opcode in matrix),
        "global_access": accesses.total(),
        "global_128": _sum(accesses, lambda opcode: opcode.endswith("_dwordx4")),
        "global_narrow": _sum(accesses, lambda opcode: _NARROW.search(opcode) is not None),
        "shared_access": _sum(mix, lambda opcode: opcode.startswith("ds_") and not _ACROSS_LANES.match(opcode)),
        "barriers": _sum(mix, lambda opcode: opcode.startswith("s_barrier")),
    }
    return Code(counts, "+".join(matrix), dict(sorted(mix.items())))


def _sum(mix: Counter[str], kind: Callable[[str], bool]) -> int:
    return sum(count for opcode, count in mix.items() if kind(opcode))
