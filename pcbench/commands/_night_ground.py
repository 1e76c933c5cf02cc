"""Where a night works: the checkout, its results, this machine, the commits, and asv."""

from __future__ import annotations

import importlib.metadata
import os
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from asv.config import Config  # type: ignore[import-untyped]

from pcbench import interpreters, torch_envs
from pcbench.analysis.asv_suite import Benchmark, read_suite
from pcbench.analysis.durations import durations
from pcbench.analysis.gating import Wanted
from pcbench.analysis.paired_verdicts import SameCode
from pcbench.analysis.parsing import expect, load_json, read_text
from pcbench.analysis.policy import Policy
from pcbench.analysis.results_index import Entry, index
from pcbench.analysis.series import Place
from pcbench.commands._pair_record import same_code_of
from pcbench.errors import ResultsError, UsageError
from pcbench.side_trees import git, resolve

PROFILE = "PCBENCH_PROFILE"
"""The variable that chooses a profile; asv names an environment by it."""

_COSTS_OF = 30  # results that tell what the suite takes
_TORCH = 'tell(torch=__import__("importlib.metadata").metadata.version("torch"))'


@dataclass(frozen=True)
class Ground:
    """Where a night works.

    Attributes:
        folder: ``.asv``, which keeps the state and the locks.
        env: The environment whose torch is the candidate, with ``--vary torch``; None for a night over commits.
        torch: Its torch.
        lock: The file descriptor of the night's lock, which asv inherits.
    """

    root: Path
    results: Path
    folder: Path
    machine: str
    profile: str
    policy: Policy
    conf: Any
    env: str | None = None
    torch: str | None = None
    lock: int | None = None

    @property
    def log(self) -> Path:
        """What asv says."""
        return self.root / str(self.conf.env_dir) / "nightly.log"

    def entries(self) -> tuple[Entry, ...]:
        """The results of this machine and profile, by commit date; none where there is no folder yet."""
        if not self.results.is_dir():
            return ()
        found, _ = index(self.results, self.machine)
        return tuple(one for one in found if self._is_ours(one))

    def entry(self, commit: str) -> Entry | None:
        """The result of a commit that was written last: what this night measured of it."""
        there = [one for one in self.entries() if one.commit == commit and self.torch in (None, one.torch)]
        return max(there, key=lambda one: one.path.stat().st_mtime, default=None)

    def suite(self) -> dict[str, Benchmark]:
        """The suite as asv last wrote it; nothing before it has."""
        path = self.results / "benchmarks.json"
        return read_suite(expect(load_json(read_text(path)), dict, str(path))) if path.is_file() else {}

    def version(self, benchmark: str) -> str:
        """The version of a benchmark in the suite; empty where it has none of that name."""
        known = self.suite().get(benchmark)
        return "" if known is None else known.version

    def same_code(self, torch: str | None) -> SameCode:
        """What this machine has on record of pairs of the same code with this torch, as the gate takes it."""
        return same_code_of(self.results / self.machine, self.policy, torch)

    def wanted(self, commit: str, baseline: str | None = None) -> Wanted:
        """What the gate is to judge: all environments that this night measured, or the candidate's build."""
        entry = self.entry(commit)
        if self.env is not None:
            env = None if entry is None else entry.environment
            return Wanted(self.results, commit, baseline, env=env, machine=self.machine, vary=("torch",))
        env = f"{PROFILE}{self.profile}" if entry is not None and PROFILE in entry.environment else None
        return Wanted(self.results, commit, baseline, env=env, machine=self.machine)

    def build(self, place: Place) -> str | None:
        """The torch of a place, where this machine's results are of several; None where one interpreter serves."""
        torches = {one.environment: one.torch for one in self.entries()}
        several = len(set(torches.values())) > 1 or len(getattr(self.conf, "shared_pythons", {})) > 1
        return torches.get(place.environment) if several else None

    def _is_ours(self, entry: Entry) -> bool:
        return PROFILE not in entry.environment or entry.environment.endswith(f"{PROFILE}{self.profile}")


def configuration(root: Path) -> Any:
    """asv's.

    Raises:
        UsageError: There is none, or this is no checkout.
    """
    if not (root / "asv.conf.json").is_file():
        raise UsageError(f"there is no asv.conf.json in {root}", hint="run it at the top of a checkout with a suite")
    if resolve(root, "HEAD") is None:
        raise UsageError(f"{root} is no git checkout with a commit", hint="asv measures commits")
    return Config.load(str(root / "asv.conf.json"))


def torch_of(conf: Any, env: str) -> tuple[str, str]:
    """The interpreter and the torch of an environment of ``shared_pythons`` or of ``pcbench env``."""
    table: Mapping[str, str] = getattr(conf, "shared_pythons", {})
    python = os.path.expandvars(table[env]) if env in table else torch_envs.find(env).python
    return python, interpreters.told(python, _TORCH)["torch"]


def environment_of(conf: Any, torch: str) -> str:
    """The name of an environment with this torch: of ``shared_pythons``, of ``pcbench env``, or ``this``.

    Raises:
        UsageError: There is none.
    """
    table: Mapping[str, str] = getattr(conf, "shared_pythons", {})
    named = next((name for name in (torch, torch.partition("+")[0]) if name in table), None)
    if named is not None:
        return named
    found = torch_envs.serving(torch)
    if found is not None:
        return found.name
    if torch == importlib.metadata.version("torch"):
        return torch_envs.THIS
    raise UsageError(f"no environment has torch {torch}", hint=f"pcbench env add {torch} makes one")


def new_commits(ground: Ground) -> tuple[list[str], str | None]:
    """The commits of the branch, newest first, down to the newest that this machine has measured, and that one.

    Without any that it has measured, the newest alone.
    """
    measured = {one.commit for one in ground.entries()}
    told = git(ground.root, "rev-list", "--first-parent", "HEAD")
    found: list[str] = []
    for commit in (told or "").split():
        if commit in measured:
            return found, commit
        if not _stores_results(ground, commit):
            found.append(commit)
    return found[:1], None


def uncommitted(ground: Ground) -> list[str]:
    """Files that git knows and that differ from the last commit; not the results."""
    kept = f":(exclude){ground.results.relative_to(ground.root).as_posix()}"
    told = git(ground.root, "diff", "--name-only", "HEAD", "--", ".", kept)
    return (told or "").splitlines()


def _stores_results(ground: Ground, commit: str) -> bool:
    """Whether a commit changes nothing but results: what a night adds itself is not measured by the next."""
    names = (git(ground.root, "diff-tree", "--no-commit-id", "--name-only", "--relative", "-r", commit) or "").split(
        "\n"
    )
    folder = f"{ground.results.relative_to(ground.root).as_posix()}/"
    return names != [""] and all(name.startswith(folder) for name in names)


def between(root: Path, first: str, last: str) -> list[str]:
    """The commits after ``first`` up to ``last``, oldest first; none where ``last``'s own line does not hold ``first``.

    That line is of first parents: what came in by a merge is one commit of it.
    """
    told = git(root, "rev-list", "--first-parent", "--reverse", f"{first}..{last}")
    found = (told or "").split()
    # Of branches that went apart git lists what came since they did.
    return found if found and resolve(root, f"{found[0]}^") == first else []


def about(root: Path, commit: str) -> tuple[str, str]:
    """A commit's date and its subject line."""
    told = git(root, "show", "-s", "--format=%cs%x00%s", commit)
    date, _, subject = (told or "\0").partition("\0")
    return date, subject


def earlier_costs(ground: Ground, short: Mapping[str, Collection[str]]) -> list[dict[str, tuple[float, bool]]]:
    """What the benchmarks of the last results took, newest first: seconds, and whether they were repeated less."""
    found = []
    newest = sorted(ground.entries(), key=lambda one: one.path.stat().st_mtime, reverse=True)
    for entry in newest[:_COSTS_OF]:
        few = short.get(entry.commit, ())
        try:
            found.append({name: (seconds, name in few) for name, seconds in durations(entry.path).items()})
        except ResultsError:
            continue  # the gate names files that cannot be read
    return found
