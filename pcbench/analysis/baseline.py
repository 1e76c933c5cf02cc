"""``results/BASELINE``: what was accepted, when and why; a text that people review and git keeps.

JSON, a line for each case::

    {"schema": 1,
     "places": {
      "<environment> on <machine>": {
       "commit": "...", "date": "2026-11-30", "reason": "...",
       "cases": {
        "<case>": {"commit": "...", "date": "...", "reason": "...", "was": "46", "now": "47"}}}}}

``was`` and ``now`` are for the people who review it: numbers are read from the results of the commits that it names.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

from pcbench.analysis.parsing import expect, load_json, read_text
from pcbench.errors import ResultsError

SCHEMA = 1
FILE = "BASELINE"


@dataclass(frozen=True)
class AcceptedCase:
    """A case that was accepted later than the rest."""

    commit: str
    date: str
    reason: str
    was: str = ""
    now: str = ""


@dataclass(frozen=True)
class Accepted:
    """What was accepted at a place: a commit, and the cases for which another counts."""

    commit: str
    date: str
    reason: str
    cases: Mapping[str, AcceptedCase] = field(default_factory=dict)


@dataclass(frozen=True)
class Baseline:
    """Accepted commits by place, as ``str(Place)`` has it."""

    places: Mapping[str, Accepted] = field(default_factory=dict)


def read_baseline(path: Path) -> Baseline:
    """Read the file; an empty baseline where there is none.

    Raises:
        ResultsError: It cannot be read, or has another form.
    """
    if not path.exists():
        return Baseline()
    try:
        raw = expect(load_json(read_text(path)), dict, "it")
        if raw.get("schema") != SCHEMA:
            raise ResultsError(f"has schema {raw.get('schema')!r}; this pcbench reads schema {SCHEMA}")
        places = expect(raw.get("places"), dict, "places")
        return Baseline({place: _accepted(expect(told, dict, place)) for place, told in places.items()})
    except ResultsError as error:
        raise ResultsError(
            f"{path}: {error.problem}",
            hint="git has its earlier states; without the file, all is NEW until it is accepted",
        ) from error


def _accepted(told: Mapping[str, object]) -> Accepted:
    cases = expect(told.get("cases", {}), dict, "cases")
    commit, date, reason = (expect(told.get(name), str, name) for name in ("commit", "date", "reason"))
    return Accepted(commit, date, reason, {case: _case(expect(each, dict, case)) for case, each in cases.items()})


def _case(told: Mapping[str, object]) -> AcceptedCase:
    commit, date, reason = (expect(told.get(name), str, name) for name in ("commit", "date", "reason"))
    was, now = (expect(told.get(name, ""), str, name) for name in ("was", "now"))
    return AcceptedCase(commit, date, reason, was, now)


def accept_all(baseline: Baseline, place: str, commit: str, date: str, reason: str) -> Baseline:
    """The baseline with a commit for all cases of a place; what single cases had is dropped."""
    return Baseline({**baseline.places, place: Accepted(commit, date, reason)})


def accept_cases(baseline: Baseline, place: str, cases: Mapping[str, AcceptedCase]) -> Baseline:
    """The baseline with other commits for some cases of a place that has one.

    Raises:
        ResultsError: The place has no baseline yet.
    """
    known = baseline.places.get(place)
    if known is None:
        raise ResultsError(
            f"there is no baseline yet for {place}", hint="accept all of it first: pcbench accept --reason TEXT"
        )
    return Baseline({**baseline.places, place: replace(known, cases={**known.cases, **cases})})


def drop(baseline: Baseline, places: Collection[str]) -> Baseline:
    """The baseline without some places."""
    return Baseline({place: told for place, told in baseline.places.items() if place not in places})


def written(baseline: Baseline) -> str:
    """The file's text: a line for each case, in order, so that a change of one is a change of one line."""
    places = []
    for place, accepted in sorted(baseline.places.items()):
        head = "".join(f"\n   {json.dumps(key)}: {json.dumps(getattr(accepted, key))}," for key in _HEAD)
        lines = [f"    {json.dumps(case)}: {json.dumps(asdict(each))}" for case, each in sorted(accepted.cases.items())]
        cases = "{\n" + ",\n".join(lines) + "\n   }" if lines else "{}"
        places.append(f'  {json.dumps(place)}: {{{head}\n   "cases": {cases}\n  }}')
    inner = ",\n".join(places)
    return (
        f'{{\n "schema": {SCHEMA},\n "places": {{\n{inner}\n }}\n}}\n'
        if places
        else f'{{"schema": {SCHEMA}, "places": {{}}}}\n'
    )


_HEAD = ("commit", "date", "reason")
