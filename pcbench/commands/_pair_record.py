"""Where the pairs of a comparison are kept."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from pcbench.analysis.paired_evidence import newest_pairs, same_code
from pcbench.analysis.paired_verdicts import SameCode
from pcbench.analysis.policy import Policy
from pcbench.analysis.results_index import Entry, index
from pcbench.errors import ResultsError
from pcbench.paired import SUFFIX, Paired, Side, append


@dataclass(frozen=True)
class Kept:
    """Where pairs were kept.

    Attributes:
        found: Whether the gate finds them: beside a result, or anywhere where they are of the same code.
    """

    path: Path
    found: bool


def beside(entries: Sequence[Entry], candidate: Side, profile: str | None = None) -> Path | None:
    """The file of a candidate's pairs beside its one result; None where it has none, or several.

    A result is the candidate's where it is of its commit and of exactly its torch release; of several, the one of the
    profile counts.
    """
    there = [one for one in entries if one.commit == candidate.commit and _is_same_torch(one.torch, candidate.torch)]
    ours = [one for one in there if profile is not None and f"PCBENCH_PROFILE{profile}" in one.environment] or there
    return ours[0].path.with_suffix(SUFFIX) if len(ours) == 1 else None


def keep(results: Path, machine: str, found: Sequence[Paired]) -> Kept | None:
    """Keep what has pairs; None where nothing has, or a side is no commit, so that nothing would say what it was."""
    kept = [one for one in found if one.looks and not one.failed]
    if not kept or kept[0].baseline.commit is None or kept[0].candidate.commit is None:
        return None
    candidate = kept[0].candidate
    path = beside(_entries(results, machine), candidate, os.environ.get("PCBENCH_PROFILE") or "quick")
    name = f"{kept[0].candidate.commit[:8]}-{candidate.env}{SUFFIX}"
    where = Kept(path or results / machine / name, path is not None or kept[0].is_canary)
    append(where.path, kept)
    return where


def _entries(results: Path, machine: str) -> tuple[Entry, ...]:
    try:
        return index(results, machine)[0]
    except ResultsError:  # no result yet
        return ()


def _is_same_torch(one: str | None, other: str | None) -> bool:
    """Whether two versions are of one release, and of one build where both name it; None may be any."""
    if one is None or other is None:
        return True
    return one == other if "+" in one and "+" in other else one.partition("+")[0] == other.partition("+")[0]


def same_code_of(machine: Path, policy: Policy, torch: str | None) -> SameCode:
    """What is on record of pairs of the same code in a machine's folder; what of it cannot be read is said."""
    problems: list[str] = []
    found = same_code(newest_pairs(machine, policy.record_files), torch, problems)
    for problem in problems:
        print(f"not read: {problem}", file=sys.stderr)
    return found
