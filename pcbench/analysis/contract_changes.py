"""Claims whose outcome changed: from one commit to the next at a place, and from one torch build to the next."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from pcbench.analysis.neighbours import over_builds, over_commits
from pcbench.analysis.records import Run
from pcbench.claims import ClaimOutcome, ClaimResult


@dataclass(frozen=True)
class Change:
    """A claim with another outcome in ``after`` than in ``before``."""

    before: Run
    after: Run
    old: ClaimResult
    new: ClaimResult

    @property
    def lost(self) -> bool:
        """Whether it held before."""
        return self.old.outcome is ClaimOutcome.HOLDS


def changes(runs: Sequence[Run]) -> list[Change]:
    """The changes, newest first; those that held before come first in each."""
    checked = with_claims(runs)
    neighbours = (*over_commits(checked), *over_builds(checked))
    found = [change for before, after in neighbours for change in _between(before, after)]
    return sorted(found, key=lambda change: (-change.after.date.timestamp(), not change.lost, change.new.id))


def with_claims(runs: Sequence[Run]) -> list[Run]:
    """The runs that checked claims."""
    return [run for run in runs if run.claims]


def _between(before: Run, after: Run) -> Iterable[Change]:
    for identity, new in after.claims.items():
        old = before.claims.get(identity)
        if old is not None and old.outcome is not new.outcome:
            yield Change(before, after, old, new)
