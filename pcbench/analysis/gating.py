"""From a results folder to findings: the candidate, what it is compared with, and the evidence in pairs."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from pcbench.analysis.asv_results import read_some, suite_of
from pcbench.analysis.baseline import FILE, Accepted, Baseline, read_baseline
from pcbench.analysis.comparability import difference
from pcbench.analysis.findings import Finding, Judgement, worst_first
from pcbench.analysis.judge import Reference, judge
from pcbench.analysis.neighbours import version_key
from pcbench.analysis.paired_evidence import evidence
from pcbench.analysis.policy import Policy
from pcbench.analysis.records import Case, Problem, Run, Verdict
from pcbench.analysis.results_index import Entry, index
from pcbench.analysis.selection import is_of
from pcbench.analysis.series import Place
from pcbench.errors import ResultsError, UsageError

_TORCH = "torch:"
_COMMIT = len("0123abcd-")  # what a result file's name has before the environment
EVERY_CASE = Case("every case")


@dataclass(frozen=True)
class Wanted:
    """What to judge.

    Attributes:
        candidate: A commit's hash or its beginning, or ``torch:VERSION``; None for the newest.
        baseline: Likewise; None for what results/BASELINE says, which is compared in any case.
        env, machine: Only results of these; patterns with ``*``, or a part of an environment's name.
        vary: What may differ: see :mod:`pcbench.analysis.comparability`.
        newest_first: The commits as git has them. Dates are those of authors, and a commit that was taken over from
            elsewhere may be older than the one before it; without git they are all that tells.
    """

    results: Path
    candidate: str | None = None
    baseline: str | None = None
    env: str | None = None
    machine: str | None = None
    vary: Collection[str] = ()
    newest_first: Sequence[str] = ()


def gate(wanted: Wanted, policy: Policy) -> Judgement:
    """Judge the candidate's results at every place that has them; a place that cannot be judged says why.

    Raises:
        ResultsError: The folder or results/BASELINE cannot be read, or the one result that is to be judged.
        UsageError: Nothing is there of what was named.
    """
    entries, unread = index(wanted.results)
    chosen = candidates(wanted, entries)
    if not chosen and unread:
        raise ResultsError(f"no result in {wanted.results} can be read", hint=f"{unread[0].path} {unread[0].what}")
    accepted = read_baseline(wanted.results / FILE)
    judged = [_judge_or_say(wanted, policy, entry, entries, accepted, alone=len(chosen) == 1) for entry in chosen]
    unknown = [*_unread(wanted, unread), *_places_without_candidate(wanted, accepted, chosen)]
    return Judgement(
        worst_first([finding for one in judged for finding in one.findings] + unknown),
        tuple(dict.fromkeys(each for one in judged for each in one.unavailable)),
        "; ".join(dict.fromkeys(one.baseline for one in judged if one.baseline)),
        "; ".join(dict.fromkeys(one.candidate for one in judged if one.candidate)),
        tuple(dict.fromkeys(note for one in judged for note in one.notes)),
    )


def candidates(wanted: Wanted, entries: Sequence[Entry]) -> tuple[Entry, ...]:
    """The results of the commit that is to be judged: one for each machine and environment that has it.

    With ``vary``, those of them that have the newest torch.

    Raises:
        UsageError: There is none that was named.
    """
    there = [one for one in entries if is_of(one.machine, one.environment, wanted.machine, wanted.env)]
    if entries and not there:
        names = ", ".join(sorted({f"{entry.environment} on {entry.machine}" for entry in entries}))
        raise UsageError("no result is of this machine and environment", hint=f"there are: {names}")
    if wanted.candidate is not None:
        there = select(wanted.candidate, there, "candidate")
    commits = {entry.commit for entry in there}
    newest = next((commit for commit in wanted.newest_first if commit in commits), there[-1].commit if there else None)
    same = [entry for entry in there if entry.commit == newest]
    if wanted.vary and same:
        last = max(version_key(entry.torch or "") for entry in same)
        same = [entry for entry in same if version_key(entry.torch or "") == last]
    return tuple(same)


def select(name: str, entries: Sequence[Entry], what: str) -> list[Entry]:
    """The results of a commit (the beginning of its hash) or of ``torch:VERSION``, by date; at least one.

    Raises:
        UsageError: There is none, or the hash is of several commits.
    """
    version = name.removeprefix(_TORCH)
    if version != name:
        found = [entry for entry in entries if entry.torch is not None and _has_version(entry.torch, version)]
        if not found:
            there = ", ".join(sorted({entry.torch for entry in entries if entry.torch})) or "none that names its torch"
            raise UsageError(f"the {what}: no result is of torch {version}", hint=f"there are: {there}")
        return found
    found = [entry for entry in entries if entry.commit.startswith(name.lower())]
    commits = sorted({entry.commit[:12] for entry in found})
    if not commits:
        newest = entries[-1].commit[:8] if entries else "none"
        raise UsageError(f"the {what}: there is no result of commit {name}", hint=f"the newest is {newest}")
    if len(commits) > 1:
        raise UsageError(f"the {what}: {name} is the beginning of {', '.join(commits)}", hint="write more of it")
    return found


def _has_version(torch: str, version: str) -> bool:
    return torch == version or torch.partition("+")[0] == version


def _judge_or_say(
    wanted: Wanted, policy: Policy, entry: Entry, entries: Sequence[Entry], baseline: Baseline, *, alone: bool
) -> Judgement:
    """One place's judgement; of several, the error of one is its own verdict, and hides no other's."""
    try:
        return _judge_one(wanted, policy, entry, entries, baseline)
    except (ResultsError, UsageError) as error:
        if alone:
            raise
        place = Place(entry.machine, entry.environment)
        return Judgement((Finding(EVERY_CASE, Verdict.UNJUDGED, str(error), place),))


def _judge_one(wanted: Wanted, policy: Policy, entry: Entry, entries: Sequence[Entry], baseline: Baseline) -> Judgement:
    here = [one for one in entries if one.machine == entry.machine]
    known = [one for one in here if one.environment == entry.environment] if not wanted.vary else here
    place = Place(entry.machine, entry.environment)
    own = (entry.commit, entry.environment)
    named = [] if wanted.baseline is None else select(wanted.baseline, known, "baseline")
    places = {str(place): baseline.places[str(place)]} if str(place) in baseline.places else {}
    if wanted.vary and not named:
        suffix = f" on {entry.machine}"
        ours = [(name, told) for name, told in baseline.places.items() if name.endswith(suffix)]
        places = dict(sorted(ours, key=lambda item: item[1].date))
    needed = {entry.path, *(one.path for one in named)}
    for name, told in places.items():
        needed |= set(_paths(told, name, here).values())
    results = read_some(wanted.results, sorted(needed))
    runs = {(run.commit, run.environment): run for run in results.runs}
    candidate = runs.get(own)
    if candidate is None:
        first = next((p.what for p in results.problems if p.path == entry.path), "it is of another commit")
        raise ResultsError(f"{entry.path} {first}", hint="measure it again")
    references = []
    for name, told in places.items():
        if wanted.vary and (told.commit, name.rpartition(" on ")[0]) == own:
            continue  # it was accepted itself: that it is like itself says nothing
        reference = _accepted(name, told, runs)
        if reference.run is None or not wanted.vary or difference(reference.run, candidate, wanted.vary) is None:
            references.append(reference)
    if wanted.vary:
        references = references[-1:]
    if named:
        run = runs.get((named[-1].commit, named[-1].environment))
        if named[-1] == entry:
            raise UsageError(
                f"the baseline is the candidate, {entry.commit[:8]} in {place}", hint="name another commit"
            )
        references.append(Reference("baseline", run))
    if not references:
        references = [Reference("baseline", None)]
    found = evidence(entry.path, candidate, suite_of(wanted.results), policy)
    judged = judge(candidate, references, policy, found, wanted.vary)
    notes = [f"not read: {problem.path} {problem.what}" for problem in results.problems]
    notes += [f"not read: {problem}" for problem in found.problems]
    if all(reference.run is candidate for reference in references):
        notes.append(f"{entry.commit[:8]} is what was accepted: no newer result is there to be judged")
    return replace(
        judged,
        baseline=", ".join(_told(reference) for reference in references),
        candidate=f"{candidate.commit[:8]} in {place}",
        notes=tuple(notes),
    )


def _paths(accepted: Accepted, place: str, here: Iterable[Entry]) -> dict[str, Path]:
    """The files of the commits that a place's baseline names, by commit."""
    commits = {accepted.commit, *(case.commit for case in accepted.cases.values())}
    environment = place.rpartition(" on ")[0]
    return {one.commit: one.path for one in here if one.commit in commits and one.environment == environment}


def _accepted(place: str, told: Accepted, runs: Mapping[tuple[str, str], Run]) -> Reference:
    """What a place's baseline names.

    Raises:
        ResultsError: The results of a commit that it names are gone: numbers that were accepted are not made up.
    """
    environment = place.rpartition(" on ")[0]
    named = {told.commit, *(case.commit for case in told.cases.values())}
    gone = sorted(commit[:8] for commit in named if (commit, environment) not in runs)
    if gone:
        raise ResultsError(
            f"{FILE} names {', '.join(gone)} in {place}, whose result is not there",
            hint="bring the result file back, or accept another commit",
        )
    cases = {case: runs[one.commit, environment] for case, one in told.cases.items()}
    return Reference("accepted", runs[told.commit, environment], cases)


def _told(reference: Reference) -> str:
    if reference.run is None:
        return "no baseline"
    cases = f" and {len(reference.cases)} cases accepted later" if reference.cases else ""
    return f"{reference.name} {reference.run.commit[:8]}{cases}"


def _unread(wanted: Wanted, unread: Sequence[Problem]) -> list[Finding]:
    """A result that cannot be read may be the newest: unless one was named, that is not passed over."""
    if wanted.candidate is not None:
        return []
    there = [(problem, Place(problem.path.parent.name, problem.path.stem[_COMMIT:])) for problem in unread]
    return [
        Finding(EVERY_CASE, Verdict.UNJUDGED, f"{problem.path} {problem.what}", place)
        for problem, place in there
        if is_of(place.machine, place.environment, wanted.machine, wanted.env)
    ]


def _places_without_candidate(wanted: Wanted, baseline: Baseline, chosen: Sequence[Entry]) -> list[Finding]:
    """Places that have a baseline, and no result of the candidate: their nightly job did not run, say."""
    if wanted.vary:
        return []
    measured = {f"{entry.environment} on {entry.machine}" for entry in chosen}
    missing = []
    for name, accepted in baseline.places.items():
        environment, _, machine = name.rpartition(" on ")
        if name not in measured and is_of(machine, environment, wanted.machine, wanted.env):
            commit = chosen[0].commit[:8] if chosen else "the candidate"
            reason = f"{commit} was not measured there; pcbench accept --gone drops a place for good"
            against = f"accepted {accepted.commit[:8]}"
            place = Place(machine, environment)
            missing.append(Finding(EVERY_CASE, Verdict.MISSING, reason, place, against=against))
    return missing
