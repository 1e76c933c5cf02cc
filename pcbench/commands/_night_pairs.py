"""Measures cases in pairs of processes at two places, for nights and for bisection: a place is a commit and a build."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from pcbench import processes, sides
from pcbench.analysis.policy import Policy
from pcbench.analysis.quantities import counted
from pcbench.commands._pair_processes import Listed, listed
from pcbench.commands._pairing import Progress, measure
from pcbench.errors import UsageError
from pcbench.paired import Paired
from pcbench.sides import Ready, Suite

_TOLD_EVERY_S = 10.0


@dataclass(frozen=True)
class At:
    """What a side is: a commit, and the environment that runs it; None is the one that pcbench measures with."""

    commit: str
    env: str | None = None


@contextmanager
def ready(root: Path, suite: Suite, one: At, other: At) -> Iterator[tuple[Ready, Ready]]:
    """The two sides, while they are needed."""
    place = root / ".asv" / "ab"
    place.mkdir(parents=True, exist_ok=True)
    with processes.scratch(place) as folder:
        pair = (
            sides.prepare(root, one.commit, suite, folder / "baseline", env=one.env),
            sides.prepare(root, other.commit, suite, folder / "candidate", env=other.env),
        )
        with sides.kept(*pair):
            yield pair


def compare(
    pair: tuple[Ready, Ready],
    names: Sequence[str],
    policy: Policy,
    *,
    same_code: Mapping[str, Sequence[float]],
    budget_s: float | None,
    keep: Callable[[Paired], None] = lambda paired: None,
) -> list[Paired]:
    """Measure cases, by id; each is handed to ``keep`` as soon as it is settled, also when this is interrupted."""
    found = []
    for paired in measure(
        *pair, cases_of(pair[0], names), policy, same_code=same_code, budget_s=budget_s, tell=Teller()
    ):
        keep(paired)
        found.append(paired)
    return found


def cases_of(side: Ready, names: Sequence[str]) -> list[Listed]:
    """The cases of the suite with these ids, in their order.

    Raises:
        UsageError: The suite has none of one of them.
    """
    known = {str(each.case): each for each in listed(side)}
    for name in names:
        if name not in known:
            raise UsageError(f"the suite has no case {name}", hint="pcbench gate --all lists the cases")
    return [known[name] for name in names]


class Teller:
    """Says on stderr, now and then, how far a comparison is."""

    def __init__(self) -> None:
        self._told = time.monotonic()

    def __call__(self, progress: Progress) -> None:
        """Say it, unless it was said just now."""
        now = time.monotonic()
        if now - self._told < _TOLD_EVERY_S:
            return
        self._told = now
        left = f"{progress.left_s:.0f} s left" if progress.open else "done"
        taken, open_ = counted(progress.pairs, "pair"), counted(progress.open, "case")
        print(f"  {taken}, {open_} of {progress.cases} open, at most {left}", file=sys.stderr, flush=True)
