"""NVIDIA's machine code, counted, and what ptxas said of it."""

from __future__ import annotations

import re
import subprocess
import tempfile
from collections import Counter
from dataclasses import dataclass

from triton import knobs

from pcbench.errors import PcbenchError

_INSTRUCTION = re.compile(r"^\s*/\*[0-9a-f]{4,}\*/\s+(?:@!?U?P\w+\s+)?([A-Z][A-Z0-9_]*)((?:\.\w+)*)", re.MULTILINE)
_MATRIX = re.compile(r"[A-Z]+MMA")
_BULK = frozenset({"UTMALDG", "UTMASTG", "UTMAREDG", "UBLKCP", "UBLKRED"})
"""They move 16 bytes or more at a time, whatever their name says."""
_GLOBAL = frozenset({"LD", "LDG", "ST", "STG", "LDGSTS", "RED", "REDG", "ATOM", "ATOMG"}) | _BULK
_SHARED = frozenset({"LDS", "STS", "LDSM", "STSM", "ATOMS"})
_ASYNC = frozenset({"LDGSTS"}) | _BULK
_BARRIERS = frozenset({"BAR", "SYNCS", "WARPSYNC", "DEPBAR", "LDGDEPBAR", "WARPGROUP", "UCGABAR_ARV", "UCGABAR_WAIT"})
_WIDE = frozenset({"128", "256"})
_NARROW = frozenset({"U8", "S8", "U16", "S16"})

_WARNING = re.compile(r"\(C\d+\)|\bwarning\b|Potential Performance Loss")
_PLACE = re.compile(r"^ptxas\S*\s.*?\b(info|warning)\s*:\s*|\s+in line \d+$")


@dataclass(frozen=True)
class Instructions:
    """Machine code, counted as it stands: an instruction in a loop counts once.

    Attributes:
        counts: Instructions of a kind, by the name of the metric.
        matrix: The opcodes that multiply matrices, joined by ``+``; empty where none does.
        mix: Instructions by opcode.
    """

    counts: dict[str, int]
    matrix: str
    mix: dict[str, int]


@dataclass(frozen=True)
class Usage:
    """What ptxas said of an entry function.

    Attributes:
        counts: Registers of a thread, and bytes of its stack and of what it spills, by the name of the metric.
        warnings: Its lines that a person should read, without its own name and the line of PTX, which change with less.
    """

    counts: dict[str, int]
    warnings: tuple[str, ...]


def disassembled(cubin: bytes) -> str:
    """The machine code in words, one instruction a line, by the disassembler that Triton ships."""
    with tempfile.NamedTemporaryFile(suffix=".cubin") as file:
        file.write(cubin)
        file.flush()
        words = [knobs.nvidia.nvdisasm.path, "-c", "-ndf", file.name]  # data flow costs most, and changes no word
        ended = subprocess.run(words, check=False, capture_output=True, text=True)
    if ended.returncode:
        raise PcbenchError(f"{words[0]} ended with {ended.returncode}: {ended.stderr.strip()}")
    return ended.stdout


def read_instructions(assembly: str) -> Instructions:
    """Count what ``nvdisasm -c`` wrote. What pads the code (NOP) is not counted.

    Raises:
        PcbenchError: There is no instruction in it.
    """
    mix: Counter[str] = Counter()
    widths: Counter[str] = Counter()
    for opcode, modifiers in _INSTRUCTION.findall(assembly):
        if opcode == "NOP":
            continue
        mix[opcode] += 1
        if opcode in _GLOBAL:
            parts = frozenset(modifiers.split("."))
            widths["global_128"] += opcode in _BULK or bool(parts & _WIDE)
            widths["global_narrow"] += bool(parts & _NARROW)
    if not mix:
        raise PcbenchError(f"the disassembler wrote no instruction: {assembly[:80]!r}")
    matrix = sorted(opcode for opcode in mix if _MATRIX.fullmatch(opcode))
    counts = {
        "sass": mix.total(),
        "spill_stores": mix["STL"],
        "spill_loads": mix["LDL"],
        "mma": _sum(mix, matrix),
        "global_access": _sum(mix, _GLOBAL),
        "global_128": widths["global_128"],
        "global_narrow": widths["global_narrow"],
        "async_copies": _sum(mix, _ASYNC),
        "shared_access": _sum(mix, _SHARED),
        "barriers": _sum(mix, _BARRIERS),
    }
    return Instructions(counts, "+".join(matrix), dict(sorted(mix.items())))


def _sum(mix: Counter[str], opcodes: frozenset[str] | list[str]) -> int:
    return sum(mix[opcode] for opcode in opcodes)


def read_log(log: str) -> Usage:
    """Read what ``ptxas -v`` wrote of one entry function and of what it calls.

    Raises:
        PcbenchError: It does not say how many registers there are.
    """
    registers = re.findall(r"\bUsed (\d+) registers", log)
    if not registers:
        raise PcbenchError(
            f"ptxas said nothing about registers, but {log.strip()[-200:]!r}",
            hint="set TRITON_DUMP_PTXAS_LOG=1, and give Triton an empty cache",
        )
    counts = {
        "registers": max(map(int, registers)),
        "stack_bytes": max(_all(r"(\d+) bytes stack frame", log)),
        "spill_store_bytes": sum(_all(r"(\d+) bytes spill stores", log)),
        "spill_load_bytes": sum(_all(r"(\d+) bytes spill loads", log)),
    }
    return Usage(counts, tuple(_PLACE.sub("", line.strip()) for line in log.splitlines() if _WARNING.search(line)))


def _all(pattern: str, log: str) -> list[int]:
    return [int(number) for number in re.findall(pattern, log)] or [0]
