"""Claims whose outcome changed: from one commit to the next at a place, and from one torch build to the next."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from pcbench.analysis.records import Run
from pcbench.analysis.series import by_place
from pcbench.claims import ClaimOutcome, ClaimResult

UNKNOWN = "unknown"


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
    found = [*_over_commits(runs), *_over_builds(runs)]
    return sorted(found, key=lambda change: (-change.after.date.timestamp(), not change.lost, change.new.id))


def with_claims(runs: Sequence[Run]) -> list[Run]:
    """The runs that checked claims."""
    return [run for run in runs if run.claims]


def torch_of(run: Run) -> str:
    """The run's torch, as its sidecar says."""
    return UNKNOWN if run.context is None else run.context.torch or UNKNOWN


def _over_commits(runs: Sequence[Run]) -> Iterable[Change]:
    for ordered in by_place(with_claims(runs)).values():
        for before, after in pairwise(ordered):
            yield from _between(before, after)


def _over_builds(runs: Sequence[Run]) -> Iterable[Change]:
    """Between neighbouring versions of torch on a machine, each by its newest run."""
    newest: dict[str, dict[str, Run]] = {}
    for ordered in by_place(with_claims(runs)).values():
        for run in ordered:
            build = UNKNOWN if run.context is None else run.context.torch_git or torch_of(run)
            held = newest.setdefault(run.machine.name, {}).get(build)
            if build != UNKNOWN and (held is None or held.date <= run.date):
                newest[run.machine.name][build] = run
    for found in newest.values():
        for before, after in pairwise(sorted(found.values(), key=lambda run: _version(torch_of(run)))):
            if before.environment != after.environment:  # the same place: told over commits
                yield from _between(before, after)


def _version(torch: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", torch.split("+")[0]))


def _between(before: Run, after: Run) -> Iterable[Change]:
    for identity, new in after.claims.items():
        old = before.claims.get(identity)
        if old is not None and old.outcome is not new.outcome:
            yield Change(before, after, old, new)
