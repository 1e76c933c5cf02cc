"""Runs of several torch builds on one machine, side by side: the build is the axis."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pcbench.analysis.comparability import difference
from pcbench.analysis.neighbours import UNKNOWN, torch_of, version_key
from pcbench.analysis.records import Absence, Case, Measurement, Run
from pcbench.errors import UsageError

VARY = ("torch",)


@dataclass(frozen=True)
class Releases:
    """What a machine measured with several torch builds, all else alike.

    Attributes:
        builds: torch's version to its run, oldest version first; at least two.
        against: The version that the others are compared with.
        rows: Each case that two builds or more have a number of, those that changed most first.
    """

    builds: Mapping[str, Run]
    against: str
    rows: tuple[Case, ...]

    def measured(self, case: Case, build: str) -> Measurement | None:
        """The number of a case with a build."""
        return self.builds[build].measurements.get(case)

    def absence(self, case: Case, build: str) -> Absence | None:
        """Why it has none, where the run says."""
        return self.builds[build].absences.get(case)

    def ratio(self, case: Case, build: str) -> float | None:
        """The build's number / that of ``against``; None where either is missing, or is not above 0."""
        one, other = self.measured(case, self.against), self.measured(case, build)
        if one is None or other is None or one.unit != other.unit or one.value <= 0 or other.value <= 0:
            return None
        return other.value / one.value

    def moved(self, case: Case) -> float:
        """The largest |ln ratio| of a case over the builds; infinite where a count left or became 0."""
        found = [0.0]
        for build in self.builds:
            ratio = self.ratio(case, build)
            one, other = self.measured(case, self.against), self.measured(case, build)
            if ratio is not None:
                found.append(abs(math.log(ratio)))
            elif one is not None and other is not None and one.value != other.value:
                found.append(math.inf)
        return max(found)


def releases(runs: Sequence[Run], against: str | None = None) -> list[Releases]:
    """The groups of runs that differ in torch and triton alone, each build by its newest run; the newest group first.

    Args:
        against: The torch version to compare with; None for the oldest.

    Raises:
        UsageError: No run is of that version.
    """
    groups: list[list[Run]] = []
    for run in sorted(runs, key=lambda run: (run.date, run.commit), reverse=True):
        if torch_of(run) == UNKNOWN or not run.measurements:
            continue
        fitting = (group for group in groups if difference(group[0], run, VARY) is None)
        group = next(fitting, None)
        if group is None:
            groups.append([run])
        else:
            group.append(run)
    known = dict.fromkeys(torch_of(run) for group in groups for run in group)
    if against is not None and against not in known:
        raise UsageError(f"no result is of torch {against}", hint=f"there are: {', '.join(sorted(known)) or 'none'}")
    found = [_group(group, against) for group in groups]
    return [one for one in found if len(one.builds) > 1]


def _group(runs: Sequence[Run], against: str | None) -> Releases:
    """Runs newest first; where one commit was measured with most of the builds, it is that commit's numbers."""
    by_commit: dict[str, dict[str, Run]] = {}
    newest: dict[str, Run] = {}
    for run in runs:
        by_commit.setdefault(run.commit, {}).setdefault(torch_of(run), run)
        newest.setdefault(torch_of(run), run)
    widest = max(by_commit.values(), key=len)
    versions = sorted(newest, key=version_key)
    builds = {version: widest.get(version, newest[version]) for version in versions}
    made = Releases(builds, against if against in builds else versions[0], ())
    counts: dict[Case, int] = {}
    for run in builds.values():
        for case in run.measurements:
            counts[case] = counts.get(case, 0) + 1
    cases = [case for case, count in counts.items() if count > 1]
    return Releases(builds, made.against, tuple(sorted(cases, key=lambda case: (-made.moved(case), str(case)))))
