"""Machine code that differs where no rule fired: its numbers in words and in JSON, and the code itself, as a diff."""

from __future__ import annotations

import difflib
import re
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from pcbench.analysis.codegen_changes import COMPILE_TIME, NAME, Change
from pcbench.analysis.codegen_pairs import Pair
from pcbench.analysis.quantities import digits

_WORDS = (
    ("sass", "instructions"),
    ("global_access", "accesses to global memory"),
    ("global_128", "128-bit accesses"),
    ("registers", "registers"),
    ("shared_bytes", "bytes of shared memory"),
    ("spill_stores", "spill stores"),
    ("spill_loads", "spill loads"),
    ("blocks_per_sm", "blocks per SM"),
    ("occupancy", "occupancy"),
    ("mma", "matrix instructions"),
    ("async_copies", "asynchronous copies"),
    ("barriers", "barriers"),
    ("convert_layout", "conversions between layouts"),
    ("ptx", "PTX instructions"),
)
"""Metric, and what the rules call it."""
_ADDRESS = re.compile(r"/\*[0-9a-fx]{4,}\*/")


def differing(pairs: Sequence[Pair], changes: Sequence[Change]) -> tuple[Pair, ...]:
    """The pairs with numbers on both sides and other machine code, of which no rule about the code fired."""
    told = {change.key for change in changes if change.rule not in (COMPILE_TIME, NAME)}
    return tuple(pair for pair in pairs if pair.measured and not pair.same_code and pair.key not in told)


def in_words(pair: Pair) -> str:
    """``instructions 371 to 307, 128-bit accesses 0 to 3``; what has another name comes first."""
    moved = moved_numbers(pair)
    said = [pair.renamed] if pair.renamed else []
    said += [
        f"{words} {' to '.join(_number(metric, value) for value in moved[metric])}"
        for metric, words in _WORDS
        if metric in moved
    ]
    return ", ".join(said) if moved.keys() & dict(_WORDS) else ", ".join([*said, "the same counts"])


def moved_numbers(pair: Pair) -> dict[str, tuple[float, float]]:
    """Metric to its two numbers, the baseline's first, where both sides know it and they differ."""
    before, after = pair.baseline.metrics, pair.candidate.metrics
    return {name: (before[name], after[name]) for name in before if name in after and before[name] != after[name]}


def as_json(pair: Pair) -> dict[str, Any]:
    """A pair with its key, the numbers that moved under the names that rows have, and what it was called."""
    return {**asdict(pair.key), "key": str(pair.key), "renamed": pair.renamed, "numbers": moved_numbers(pair)}


def code_lines(pair: Pair) -> list[str]:
    """The machine code of both sides as a unified diff without addresses, or that it was not kept."""
    before, after = (_listing(row.assembly) for row in (pair.baseline, pair.candidate))
    if before is None or after is None:
        return ["the machine code of one side was not kept"]
    return list(difflib.unified_diff(before, after, "baseline", "candidate", n=2, lineterm=""))


def _listing(assembly: str | None) -> list[str] | None:
    """Lines without addresses, which move with everything before them."""
    return None if assembly is None else [_ADDRESS.sub("", line).strip() for line in assembly.splitlines()]


def _number(metric: str, value: float) -> str:
    return f"{value:.3g}" if metric == "occupancy" else digits(value)
