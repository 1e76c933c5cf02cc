"""What asv and a Mann-Whitney test say of the samples that processes of a pair took, all of a side in one pot."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from asv import _stats  # type: ignore[import-untyped]
from asv_runner.statistics import compute_stats  # type: ignore[import-untyped]

VARIABLE = "PCBENCH_BLOCKS"
"""Names the file that a worker appends its samples to."""

_FACTOR = 1.1  # `asv continuous`, unless it is told another one


def read(path: Path) -> dict[str, list[list[float]]]:
    """By case, the samples of each process of a side, in the order of the processes."""
    found: dict[str, list[list[float]]] = {}
    for line in path.read_text().splitlines():
        told = json.loads(line)
        found.setdefault(told["benchmark"], []).append(told["samples"])
    return found


def said(baseline: Sequence[Sequence[float]], candidate: Sequence[Sequence[float]]) -> dict[str, int]:
    """By rule: 1 where it says that the candidate is slower, -1 faster, 0 neither."""
    one, other = ([sample for process in side for sample in process] for side in (baseline, candidate))
    return {name: rule(one, other) for name, rule in RULES.items()}


def _asv(factor: float) -> Callable[[Sequence[float], Sequence[float]], int]:
    def rule(one: Sequence[float], other: Sequence[float]) -> int:
        """As asv compares: statistically different, and the medians further apart than the factor."""
        (before, before_stats), (after, after_stats) = compute_stats(one, 1), compute_stats(other, 1)
        if not _stats.is_different(one, other, before_stats, after_stats):
            return 0
        return int(before < after / factor) - int(after < before / factor)

    return rule


def _mann_whitney(level: float) -> Callable[[Sequence[float], Sequence[float]], int]:
    def rule(one: Sequence[float], other: Sequence[float]) -> int:
        above, p = _stats.mann_whitney_u(one, other)
        if p >= level:
            return 0
        return 1 if 2 * above < len(one) * len(other) else -1

    return rule


RULES: Mapping[str, Callable[[Sequence[float], Sequence[float]], int]] = {
    "asv continuous": _asv(_FACTOR),
    "asv, factor 1.0": _asv(1.0),
    "Mann-Whitney, p < 0.01": _mann_whitney(0.01),
    "Mann-Whitney, p < 0.002": _mann_whitney(0.002),
}
