"""A difference between what two compilers, or two commits, made of a kernel."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from pcbench.analysis.codegen_rows import Key


class Weight(StrEnum):
    """What a change means for the exit code."""

    HARD = "hard"
    """It nearly always costs time: exit code 1."""
    UNKNOWN = "not compared"
    """One side does not tell: exit code 2 where nothing is hard."""
    SOFT = "soft"
    """It may cost time: to be looked at."""
    NOTE = "note"
    """To be known."""


@dataclass(frozen=True)
class Change:
    """One rule that fired for one compilation.

    Attributes:
        key: Of the candidate's row; of the baseline's where the candidate has none.
        rule: The rule's name.
        sentence: What was found, with both numbers.
        confirm: What would confirm it.
    """

    key: Key
    rule: str
    weight: Weight
    sentence: str
    confirm: str


_ORDER = tuple(Weight)


def worst_first(changes: list[Change]) -> tuple[Change, ...]:
    """Compilations by their heaviest change and by how many they have of it, each with its own changes together."""
    counts: dict[Key, list[int]] = {}
    for change in changes:
        of_weight = counts.setdefault(change.key, [0] * len(_ORDER))
        of_weight[_ORDER.index(change.weight)] -= 1

    def place(change: Change) -> tuple[list[int], Key, int]:
        return counts[change.key], change.key, _ORDER.index(change.weight)

    return tuple(sorted(changes, key=place))


def exit_code(changes: tuple[Change, ...]) -> int:
    """1 if a hard rule fired; else 2 if something could not be compared; else 0."""
    weights = {change.weight for change in changes}
    return 1 if Weight.HARD in weights else 2 if Weight.UNKNOWN in weights else 0
