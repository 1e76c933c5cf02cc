"""What became of a kernel's machine code since the run before."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pcbench.analysis.codegen_changes import COMPILE_TIME, Change, Weight
from pcbench.analysis.codegen_pairs import Pair
from pcbench.analysis.codegen_rows import CodegenRow, Key
from pcbench.analysis.codegen_rules import compare
from pcbench.analysis.policy import Policy
from pcbench.analysis.records import Run


@dataclass(frozen=True)
class Since:
    """What became of a launch's machine code since a commit.

    Attributes:
        commit: The one before; None where no earlier run of the place compiled it.
        same: Whether all of it that is judged is the same, to the bit; None where the policy has nobody judge it.
        changes: The rules that fired, worst first.
    """

    commit: str | None = None
    same: bool | None = None
    changes: tuple[Change, ...] = ()

    @property
    def noted(self) -> tuple[Change, ...]:
        """The changes that nearly always, or may, cost time on a GPU: not that a compile took longer."""
        costly = (change for change in self.changes if change.weight in (Weight.HARD, Weight.SOFT))
        return tuple(change for change in costly if change.rule != COMPILE_TIME)


@dataclass(frozen=True)
class Earlier:
    """What an earlier run's compiler made of a kernel for a target, beside what this run's did.

    Attributes:
        pairs: The compilations that both have, and that are judged.
        changes: What changed, worst first.
        ignored: The compilations that the policy has nobody judge.
    """

    commit: str
    pairs: tuple[Pair, ...]
    changes: tuple[Change, ...]
    ignored: frozenset[Key]


def earlier(run: Run, before: Sequence[Run], policy: Policy) -> dict[tuple[str, str], Earlier]:
    """By kernel and target, the newest earlier run that compiled it; none where none did.

    Args:
        before: The earlier runs of the same place, oldest first.
    """
    found = {}
    for compiled, rows in run.codegen.items():
        old = next((one for one in reversed(before) if compiled in one.codegen), None)
        if old is not None:
            both = compare(old.codegen[compiled], rows, policy)
            found[compiled] = Earlier(old.commit, both.pairs, both.changes, frozenset(both.ignored))
    return found


def since(before: Earlier | None, rows: Sequence[CodegenRow]) -> Since:
    """What became of some of the rows that ``before`` was compared with."""
    if before is None or not rows:
        return Since()
    keys = {row.key for row in rows} - before.ignored
    if not keys:
        return Since(before.commit)
    judged = sum(row.key in keys for row in rows)
    same = sum(pair.same_code for pair in before.pairs if pair.key in keys) == judged
    return Since(before.commit, same, tuple(change for change in before.changes if change.key in keys))
