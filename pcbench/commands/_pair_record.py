"""Where pairs are kept, and what is on record of pairs of the same code."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from pcbench.analysis.gating import same_code
from pcbench.analysis.results_index import index
from pcbench.errors import ResultsError
from pcbench.paired import SUFFIX, Paired, Side, append


def same_code_on(machine: Path) -> dict[str, list[float]]:
    """ln ratios of pairs of the same code by case id, from what a machine's results folder keeps.

    Raises:
        ResultsError: A file of pairs there cannot be read.
    """
    return same_code(sorted(machine.glob(f"*{SUFFIX}")))


def file_for(results: Path, machine: str, candidate: Side, profile: str) -> Path:
    """The file of a candidate that is a commit: beside its result where there is one, so that the gate finds it.

    Of several results of the commit with the candidate's torch, it is that of the profile.
    """
    assert candidate.commit is not None
    name = f"{candidate.commit[:8]}-{candidate.env}{SUFFIX}"
    try:
        entries, _ = index(results, machine)
    except ResultsError:  # no result yet
        entries = ()
    release = (candidate.torch or "").partition("+")[0]
    beside = [one for one in entries if one.commit == candidate.commit and (one.torch or "").startswith(release)]
    ours = [one for one in beside if f"PCBENCH_PROFILE{profile}" in one.environment] or beside
    return ours[0].path.with_suffix(SUFFIX) if len(ours) == 1 else results / machine / name


def keep(results: Path, machine: str, found: Sequence[Paired]) -> Path | None:
    """Keep what has pairs; None where nothing has, or a side is no commit, so that nothing would say what it was."""
    kept = [one for one in found if one.looks and not one.failed]
    if not kept or any(side.commit is None for side in (kept[0].baseline, kept[0].candidate)):
        return None
    path = file_for(results, machine, kept[0].candidate, os.environ.get("PCBENCH_PROFILE") or "quick")
    append(path, kept)
    return path
