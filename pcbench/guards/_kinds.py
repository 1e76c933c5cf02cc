"""What one guard of each type takes, and one step from a value to the next: least squares over parts timed alone.

A part that is timed alone takes more than its share of a whole check: nothing that follows hides its latency. That is
one more number to find, of which every part has one; large parts tell it from the kinds.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from pcbench.guard_causes import KindCost
from pcbench.guards.census import Node

Row = Mapping[str, int]
_ALONE = "what being alone takes"
_Matrix = npt.NDArray[np.float64]


def row(node: Node, step: str) -> Row:
    """What is checked at a value alone, as the census counts it: its guards by type, and the step to it."""
    return Counter(f"guards: {type(guard).__name__}" for guard in node.manager.get_leaf_guards()) + Counter([step])


def together(rows: Iterable[Row]) -> Row:
    """What is checked at several values."""
    return sum((Counter(one) for one in rows), Counter[str]())


@dataclass(frozen=True)
class Fit:
    """Seconds by kind.

    Attributes:
        groups: Kinds; those in one group always came together, in the same proportion, so that they have one number.
        found: Seconds of a group, for one of its first kind.
        errors: Their standard errors; none where there are no more parts than groups.
        reasons: Group to the reason why its number means nothing by itself.
    """

    groups: tuple[tuple[str, ...], ...]
    found: tuple[float, ...]
    errors: tuple[float, ...]
    reasons: Mapping[tuple[str, ...], str]

    def seconds(self, one: Row) -> float:
        """What some guards and steps take among others; kinds that were never timed are left out."""
        return sum(one.get(group[0], 0) * cost for group, cost in zip(self.groups, self.found, strict=True))

    def costs(self, every: Sequence[Row]) -> Iterator[KindCost]:
        """The kinds of all values, the dearest in all first and those without a number last."""
        counts = together(every)
        timed = {kind for group in self.groups for kind in group}
        costs = []
        for number, group in enumerate(self.groups):
            if group == (_ALONE,):
                continue
            reason = self.reasons.get(group, "")
            error = self.errors[number] if self.errors and not reason else None
            costs.append(KindCost(group, counts[group[0]], None if reason else self.found[number], error, reason))
        yield from sorted(costs, key=lambda cost: -cost.count * (cost.seconds or 0.0))
        for kind in sorted(counts.keys() - timed):
            yield KindCost((kind,), counts[kind], None, reason="no part that has one was timed")


def fit(timed: Sequence[tuple[Row, float]]) -> Fit:
    """The seconds by kind that come nearest to those of the parts that were timed."""
    if not timed:
        return Fit((), (), (), {})
    rows = [{**one, _ALONE: 1} for one, _ in timed]
    kinds = sorted({kind for one in rows for kind in one}, key=lambda kind: (not kind.startswith("guards"), kind))
    full: _Matrix = np.array([[one.get(kind, 0) for kind in kinds] for one in rows], float)
    weights: _Matrix = 1 / np.sqrt(
        full.sum(axis=1, keepdims=True)
    )  # a large part is disturbed, and unlike, in proportion
    alike: dict[tuple[object, ...], list[int]] = {}
    for column in range(len(kinds)):
        counts = full[:, column]
        alike.setdefault((kinds[column] == _ALONE, *(counts / counts.max())), []).append(column)
    groups = tuple(tuple(kinds[column] for column in columns) for columns in alike.values())
    matrix = weights * full[:, [columns[0] for columns in alike.values()]]
    seconds = weights[:, 0] * np.array([taken for _, taken in timed])
    inverse = np.asarray(np.linalg.pinv(matrix), float)
    found = inverse @ seconds
    # Not settled by the seconds: a number that another one can make good.
    mixed = np.abs(np.eye(len(groups)) - inverse @ matrix) > 1e-6
    reasons = {
        groups[one]: "not separable from "
        + ", ".join(groups[other][0] for other in np.flatnonzero(row) if other != one)
        for one, row in enumerate(mixed)
        if row[one]
    }
    spare = len(timed) - int(np.linalg.matrix_rank(matrix))
    errors: tuple[float, ...] = ()
    if spare > 0:
        variance = float(((matrix @ found - seconds) ** 2).sum()) / spare
        errors = tuple(float(one) for one in np.sqrt(variance * np.diag(inverse @ inverse.T)))
    return Fit(groups, tuple(float(one) for one in found), errors, reasons)
