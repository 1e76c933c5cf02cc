"""A difference between what two compilers, or two commits, made of a kernel."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from itertools import groupby

from pcbench.analysis.cards import in_order
from pcbench.analysis.codegen_rows import Key
from pcbench.analysis.quantities import counted, digits

COMPILE_TIME = "compile time"
"""The rule about what compiling took: the one that is not about the machine code."""
NAME = "name"
"""What tells that something is called otherwise: no rule, and nothing to judge."""


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
        times: By how many times what the rule is about got worse; infinite where it is gone, 1 where it has no size.
    """

    key: Key
    rule: str
    weight: Weight
    sentence: str
    confirm: str
    times: float = 1.0


@dataclass(frozen=True)
class Entry:
    """What is said of a compilation, or of several of one kernel of which the very same is said.

    Attributes:
        keys: Which: one at least.
        changes: Of the first; those of the others differ in the key alone.
    """

    keys: tuple[Key, ...]
    changes: tuple[Change, ...]

    @property
    def targets(self) -> tuple[str, ...]:
        """What they were compiled for."""
        return targets_of(self.keys)


_ORDER = tuple(Weight)
_LIGHTEST = (len(_ORDER), False, 0.0)


def worst_first(changes: list[Change]) -> tuple[Change, ...]:
    """Compilations by their heaviest change, the largest of a weight first, each with its own changes together.

    Of a weight, what compiling took comes last.
    """
    heaviest: dict[Key, tuple[int, bool, float]] = {}
    for change in changes:
        heaviest[change.key] = min(heaviest.get(change.key, _LIGHTEST), _weighed(change))

    def place(change: Change) -> tuple[tuple[int, bool, float], Key, tuple[int, bool, float]]:
        return heaviest[change.key], change.key, _weighed(change)

    return tuple(sorted(changes, key=place))


def _weighed(change: Change) -> tuple[int, bool, float]:
    return _ORDER.index(change.weight), change.rule == COMPILE_TIME, -change.times


def entries(changes: tuple[Change, ...]) -> tuple[Entry, ...]:
    """Changes in the order of :func:`worst_first`, those of compilations of which the same is said together."""
    alike: dict[tuple[object, ...], list[tuple[Change, ...]]] = {}
    for key, group in groupby(changes, key=lambda change: change.key):
        own = tuple(group)
        said = (key.kernel, *((change.rule, change.weight, change.sentence, change.confirm) for change in own))
        alike.setdefault(said, []).append(own)
    return tuple(Entry(tuple(own[0].key for own in each), each[0]) for each in alike.values())


def apart(changes: tuple[Change, ...]) -> tuple[tuple[Change, ...], tuple[Entry, ...]]:
    """The changes without those of compilations of which the compile time alone is said; and these, an entry a kernel.

    Such an entry has the changes of all its keys.
    """
    rules: dict[Key, set[str]] = defaultdict(set)
    for change in changes:
        rules[change.key].add(change.rule)
    others, slower = [], defaultdict(list)
    for change in changes:
        if rules[change.key] == {COMPILE_TIME}:
            slower[change.key.kernel].append(change)
        else:
            others.append(change)
    alone = (Entry(tuple(change.key for change in own), tuple(own)) for own in slower.values())
    return tuple(others), tuple(alone)


def longer(entry: Entry) -> str:
    """``12 compilations took 1.25 to 1.8 times the CPU seconds``, of an entry of compile times."""
    times = [change.times for change in entry.changes]
    said = dict.fromkeys(digits(value) for value in (min(times), max(times)))
    return f"{counted(len(times), 'compilation')} took {' to '.join(said)} times the CPU seconds"


def targets_of(keys: Iterable[Key]) -> tuple[str, ...]:
    """The targets of some compilations, each once, in the order of their cards; none where that is not told."""
    return tuple(in_order(key.target for key in keys if key.target))


def exit_code(changes: tuple[Change, ...]) -> int:
    """1 if a hard rule fired; else 2 if something could not be compared; else 0."""
    weights = {change.weight for change in changes}
    return 1 if Weight.HARD in weights else 2 if Weight.UNKNOWN in weights else 0
