"""Measures cases in pairs of processes at two places, for nights and for bisection: a place is a commit and a build."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from pcbench import processes, sides
from pcbench.analysis.paired_verdicts import SameCode
from pcbench.analysis.policy import Policy
from pcbench.analysis.quantities import counted
from pcbench.commands._pair_processes import Listed, listed
from pcbench.commands._pairing import Progress, measure
from pcbench.errors import PcbenchError, UsageError
from pcbench.paired import Paired
from pcbench.sides import Asked, Ready, Suite

_TOLD_EVERY_S = 10.0


@dataclass(frozen=True)
class At:
    """What a side is: a commit, and the environment that runs it; None is the one that pcbench measures with."""

    commit: str
    env: str | None = None


@contextmanager
def ready(
    root: Path, suite: Suite, one: At, other: At, variables: Mapping[str, str] | None = None
) -> Iterator[tuple[Ready, Ready]]:
    """The two sides, while they are needed.

    Args:
        variables: For their processes, beside those of this one.
    """
    with _folder(root) as folder, sides.both(root, suite, folder, _asked(one), _asked(other)) as (first, second):
        yield _with(first, variables), _with(second, variables)


@contextmanager
def ready_one(root: Path, suite: Suite, place: At, variables: Mapping[str, str] | None = None) -> Iterator[Ready]:
    """One side, likewise."""
    with _folder(root) as folder:
        side = sides.prepare(root, place.commit, suite, folder / "a", env=place.env)
        with sides.kept(side):
            yield _with(side, variables)


def compare(
    pair: tuple[Ready, Ready],
    names: Sequence[str],
    policy: Policy,
    *,
    same_code: SameCode,
    budget_s: float | None,
    keep: Callable[[Paired], None] = lambda paired: None,
) -> list[Paired]:
    """Measure cases, by id; each is handed to ``keep`` as soon as it is settled, also when this is interrupted."""
    found = []
    cases = cases_of(pair, names)
    for paired in measure(*pair, cases, policy, same_code=same_code, budget_s=budget_s, tell=Teller()):
        keep(paired)
        found.append(paired)
    return found


def cases_of(sides_of: Sequence[Ready], names: Sequence[str]) -> list[Listed]:
    """The cases of the suite with these ids, in their order, as the first side that can import the suite lists it.

    Raises:
        PcbenchError: No side can.
        UsageError: The suite has none of one of them.
    """
    known = {str(each.case): each for each in suite_cases(sides_of)}
    for name in names:
        if name not in known:
            raise UsageError(f"the suite has no case {name}", hint="pcbench gate --all lists the cases")
    return [known[name] for name in names]


def suite_cases(sides_of: Sequence[Ready]) -> Sequence[Listed]:
    """All cases of the suite: what it imports may be new in a later side, and its other files can still be measured."""
    try:
        return listed(sides_of[0])
    except PcbenchError:
        if len(sides_of) == 1:
            raise
    return suite_cases(sides_of[1:])


def _asked(place: At) -> Asked:
    return Asked(place.commit, place.env)


def _with(side: Ready, variables: Mapping[str, str] | None) -> Ready:
    return replace(side, variables={**side.variables, **(variables or {})})


@contextmanager
def _folder(root: Path) -> Iterator[Path]:
    place = root / ".asv" / "ab"
    place.mkdir(parents=True, exist_ok=True)
    with processes.scratch(place) as folder:
        yield folder


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
