"""Runs that are compared with each other: a commit with the one before it, and a torch build with the next."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from pcbench.analysis.records import Run
from pcbench.analysis.series import by_place

UNKNOWN = "unknown"


def torch_of(run: Run) -> str:
    """The run's torch, as its sidecar says."""
    return UNKNOWN if run.context is None else run.context.torch or UNKNOWN


def over_commits(runs: Sequence[Run]) -> Iterator[tuple[Run, Run]]:
    """Each run with the one before it at its place."""
    for ordered in by_place(runs).values():
        yield from pairwise(ordered)


def over_builds(runs: Sequence[Run]) -> Iterator[tuple[Run, Run]]:
    """Neighbouring versions of torch on a machine, each by its newest run; not those of one place."""
    newest: dict[str, dict[str, Run]] = {}
    for ordered in by_place(runs).values():
        for run in ordered:
            build = UNKNOWN if run.context is None else run.context.torch_git or torch_of(run)
            held = newest.setdefault(run.machine.name, {}).get(build)
            if build != UNKNOWN and (held is None or held.date <= run.date):
                newest[run.machine.name][build] = run
    for found in newest.values():
        for before, after in pairwise(sorted(found.values(), key=lambda run: version_key(torch_of(run)))):
            if before.environment != after.environment:
                yield before, after


def version_key(torch: str) -> tuple[tuple[int, ...], bool, str]:
    """Orders torch versions; a nightly (``2.16.0.dev20261130``) comes before its release."""
    public = torch.split("+")[0]
    release, dev, date = public.partition(".dev")
    numbers = tuple(int(part) for part in re.findall(r"\d+", release))
    return numbers, not dev, date
