"""What differs between two censuses of guards: in numbers by entry, and in words by the values that are guarded."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from pcbench.analysis.quantities import counted, digits, listed
from pcbench.guard_samples import EPILOGUE, PYTHON_GUARDS, ROOT, Census, Place, is_value, unnumbered

_FIRST = (
    "guards",
    "guards in Python",
    "guards in C++",
    "epilogue guards",
    "relational guards",
    "differential guards",
    "frames",
    "cache entries",
    "guards: ",
    "epilogue guards: ",
    "answers: ",
    "managers",
    "accessors",
    "depth",
    "dict ",
    "code ",
    "metrics: ",
)
"""Entries, or how they begin, in the order in which people act on them; all others come after them."""

_ASKED = "answers: "
_WHERE = {ROOT: "in the root", EPILOGUE: "after all others"}
_NAMED = 3

_Move = tuple[tuple[str, ...], tuple[str, ...]]


@dataclass(frozen=True)
class CensusChange:
    """An entry of two censuses that differs.

    Attributes:
        old, new: The counts; None where that side's torch does not tell.
        reason: Why one side does not tell; None where both do.
    """

    entry: str
    old: int | None
    new: int | None
    reason: str | None = None

    @property
    def delta(self) -> int | None:
        """How many more there are now; None where one side does not tell."""
        return None if self.old is None or self.new is None else self.new - self.old


def changes(baseline: Census, candidate: Census) -> tuple[CensusChange, ...]:
    """The entries that differ, those that people act on first; at the end those that one side alone tells."""
    found = []
    for entry in {*baseline.counts, *candidate.counts}:
        untold = next((why for c in (baseline, candidate) if (why := _untold(c, entry))), None)
        old, new = (None if _untold(c, entry) else c.counts.get(entry, 0) for c in (baseline, candidate))
        if old != new:
            found.append(CensusChange(entry, old, new, untold))
    return tuple(sorted(found, key=_rank))


def sentences(
    baseline: Census, candidate: Census, old_name: str = "baseline", new_name: str = "candidate"
) -> tuple[str, ...]:
    """What changed, in words: types of guards and the values they are on, values, answers, and the other counts."""
    moved, fewer, more = _guards(baseline.places, candidate.places)
    found = changes(baseline, candidate)
    return (
        *(f"{_types(old)} became {_types(new)}{_way(old, new, on)}: {_on(on)}" for (old, new), on in moved.items()),
        *(_sentence(kind, "fewer", fewer[kind]) for kind in sorted(fewer)),
        *(_sentence(kind, "more", more[kind]) for kind in sorted(more)),
        *_values(baseline.places, candidate.places),
        *_answers(baseline, candidate),
        *_others(found),
        *_told_by_one(found, old_name, new_name),
    )


def _untold(census: Census, entry: str) -> str | None:
    """Why a census does not tell an entry, or None: that it has none is told as well."""
    if entry in census.unknown:
        return census.unknown[entry]
    if entry.startswith(_ASKED) and entry not in census.counts:
        return "its torch has no such question"
    return None


def _rank(change: CensusChange) -> tuple[bool, int, int, str]:
    return change.delta is None, _place(change.entry), -abs(change.delta or 0), change.entry


def _place(entry: str) -> int:
    begins = [begin for begin in _FIRST if entry.startswith(begin)]
    return _FIRST.index(max(begins, key=len)) if begins else len(_FIRST)


def _guards(
    before: Mapping[str, Place], after: Mapping[str, Place]
) -> tuple[dict[_Move, list[str]], dict[str, list[str]], dict[str, list[str]]]:
    """Types that took another's place on the same value, types that went and types that came, with their values.

    A value is named as often as it has guards of the type.
    """
    moved: dict[_Move, list[str]] = {}
    fewer: dict[str, list[str]] = {}
    more: dict[str, list[str]] = {}
    for source in dict.fromkeys((*before, *after)):
        old, new = (Counter(places[source].guards if source in places else ()) for places in (before, after))
        gone, come = tuple(sorted((old - new).elements())), tuple(sorted((new - old).elements()))
        if gone and come:
            moved.setdefault((gone, come), []).append(source)
            continue
        for kinds, lists in ((gone, fewer), (come, more)):
            for kind in kinds:
                lists.setdefault(kind, []).append(source)
    return moved, fewer, more


def _types(kinds: Sequence[str]) -> str:
    return listed([kind if n == 1 else f"{n} {kind}" for kind, n in Counter(kinds).items()])


def _way(old: Sequence[str], new: Sequence[str], on: Sequence[str]) -> str:
    """``, C++ to Python`` where the language changed."""
    if EPILOGUE in map(unnumbered, on):
        return ""
    was, now = (any(kind in PYTHON_GUARDS for kind in kinds) for kinds in (old, new))
    return "" if was == now else f", {'Python to C++' if was else 'C++ to Python'}"


def _sentence(kind: str, how: str, on: Sequence[str]) -> str:
    python = " (Python)" if kind in PYTHON_GUARDS else ""
    return f"{digits(len(on))} {kind}{python} {how}: {_on(on)}"


def _on(sources: Sequence[str], noun: str = "value") -> str:
    """``on 5 values (a, b, c and 2 more)``, and the places that are no values."""
    values = [source for source in dict.fromkeys(sources) if is_value(source)]
    said = [f"on {counted(len(values), noun)} ({_some(values)})"] if values else []
    places = set(map(unnumbered, sources))
    return listed([*said, *(where for place, where in _WHERE.items() if place in places)])


def _some(names: Sequence[str]) -> str:
    more = len(names) - _NAMED
    return listed(names) if more <= 0 else f"{', '.join(names[:_NAMED])} and {digits(more)} more"


def _values(before: Mapping[str, Place], after: Mapping[str, Place]) -> Iterator[str]:
    old, new = ([s for s, place in places.items() if place.guards and is_value(s)] for places in (before, after))
    for these, those, what in ((old, new, "no longer guarded"), (new, old, "newly guarded")):
        found = _without(these, those)
        if found:
            yield f"{counted(len(found), 'value')} {what}: {_some(found)}"


def _without(these: Iterable[str], those: Iterable[str]) -> list[str]:
    known = set(those)
    return [source for source in these if source not in known]


def _answers(baseline: Census, candidate: Census) -> Iterator[str]:
    """Questions that the managers of the same values answer otherwise, where both sides have the question."""
    lost: dict[str, list[str]] = {}
    won: dict[str, list[str]] = {}
    for source, old in baseline.places.items():
        new = candidate.places.get(source)
        if new is not None:
            for answers, others, found in ((old.answers, new.answers, lost), (new.answers, old.answers, won)):
                for question in _without(answers, others):
                    found.setdefault(question, []).append(source)
    for found, what in ((lost, "lost"), (won, "now true")):
        for question, sources in sorted(found.items()):
            if not any(_untold(census, _ASKED + question) for census in (baseline, candidate)):
                yield f"{question} {what}: {_on(sources, 'manager')}"


def _others(found: Sequence[CensusChange]) -> Iterator[str]:
    """The counts that are no matter of one value."""
    told = [c for c in found if c.delta is not None and ": " not in c.entry]
    if told:
        yield f"counts: {', '.join(f'{c.entry} {digits(c.old or 0)} to {digits(c.new or 0)}' for c in told)}"


def _told_by_one(found: Sequence[CensusChange], old_name: str, new_name: str) -> Iterator[str]:
    for change in found:
        if change.delta is None:
            told, untold, count = new_name, old_name, change.new
            if count is None:
                told, untold, count = old_name, new_name, change.old
            yield f"{change.entry} is {digits(count or 0)} in {told}, unknown in {untold}: {change.reason}"
