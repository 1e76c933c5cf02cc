"""Claims of documents as lines of a terminal: a column per torch build, then what is behind the words."""

from __future__ import annotations

from collections.abc import Sequence

from pcbench.analysis.columns import aligned, grouped
from pcbench.analysis.quantities import counted
from pcbench.claims import Checked, Claim, ClaimOutcome

NOT_CHECKED = "-"

_TOLD = (ClaimOutcome.DIFFERS, ClaimOutcome.CRASHED)


def contract_lines(claims: Sequence[Claim], builds: Sequence[Checked]) -> list[str]:
    """A table of claim by build; each claim that differs or crashed, with what happened; reasons; and counts."""
    lines = []
    for document in dict.fromkeys(claim.document for claim in claims):
        own = [claim for claim in claims if claim.document == document]
        rows = [("", document, *(build.name for build in builds))]
        rows += [(f"{claim.number:>3}", claim.id, *(_outcome(build, claim) for build in builds)) for claim in own]
        lines += [*aligned(rows), ""]
    for outcome in _TOLD:
        lines += _evidence(outcome, claims, builds)
    lines += _reasons(claims, builds)
    return [*lines, *(count_line(build) for build in builds)]


def list_lines(claims: Sequence[Claim]) -> list[str]:
    """The claims by document, each with its text."""
    lines = []
    for document in dict.fromkeys(claim.document for claim in claims):
        own = [claim for claim in claims if claim.document == document]
        lines += [f"{document}: {counted(len(own), 'claim')}"]
        for claim in own:
            lines += [f"{claim.number:>3}  {claim.id}", f"     {claim.text}"]
    return lines


def count_line(build: Checked) -> str:
    """``this (torch 2.15.0): 40 claims: 38 hold, 2 differ, 0 unavailable, 0 crashed``."""
    if build.problem is not None:
        return f"{build.name}: {build.problem}"
    verbs = {ClaimOutcome.HOLDS: "hold", ClaimOutcome.DIFFERS: "differ"}
    parts = [f"{build.count(outcome)} {verbs.get(outcome, outcome)}" for outcome in ClaimOutcome]
    return f"{build.name} (torch {build.torch}): {counted(len(build.results), 'claim')}: {', '.join(parts)}"


def _outcome(build: Checked, claim: Claim) -> str:
    result = build.result(claim.id)
    return NOT_CHECKED if result is None else result.outcome


def _evidence(outcome: ClaimOutcome, claims: Sequence[Claim], builds: Sequence[Checked]) -> list[str]:
    """The claims with this outcome in any build, each with its text and what happened where."""
    lines: list[str] = []
    for claim in claims:
        results = [(build.name, build.result(claim.id)) for build in builds]
        said = [(name, result.evidence) for name, result in results if result and result.outcome is outcome]
        if said:
            lines += [f"{claim.document} {claim.number}: {claim.text}", *(f"     {line}" for line in grouped(said))]
    return [f"{outcome}:", *lines, ""] if lines else []


def _reasons(claims: Sequence[Claim], builds: Sequence[Checked]) -> list[str]:
    """Why claims are unavailable: a line per build and reason."""
    lines = []
    for build in builds:
        results = [(claim, build.result(claim.id)) for claim in claims]
        said = [
            (f"{claim.document} {claim.number}", result.evidence)
            for claim, result in results
            if result and result.outcome is ClaimOutcome.UNAVAILABLE
        ]
        lines += [f"     {build.name}: {line}" for line in grouped(said)]
    return [f"{ClaimOutcome.UNAVAILABLE}:", *lines, ""] if lines else []
