"""What is known of guards: their census, and samples of what they cost. Shared by both halves; needs no torch."""

from __future__ import annotations

import statistics
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

ROOT, EPILOGUE = "root", "epilogue"
"""Where guards are that look at no value of their own: in a frame's root, and after all others."""

PYTHON_GUARDS = ("LAMBDA_GUARD",)
"""Types of guards that call Python; all others are C++."""


@dataclass(frozen=True)
class Place:
    """The guards on one value.

    Attributes:
        guards: Their types, sorted.
        answers: The questions that the value's manager answers with yes, sorted; as ``is_tag_safe``.
    """

    guards: tuple[str, ...]
    answers: tuple[str, ...] = ()


def unnumbered(place: str) -> str:
    """A place of a census without the number that tells it from those of one name: ``root`` for ``root #2``."""
    return place.partition(" #")[0]


def is_value(place: str) -> bool:
    """Whether a place of a census is that of a value."""
    return unnumbered(place) not in (ROOT, EPILOGUE)


@dataclass(frozen=True)
class Census:
    """What a compiled function's guards are.

    Attributes:
        counts: By entry: ``guards`` and ``guards: TENSOR_MATCH``, and the like. An entry that is not there is 0.
        places: By the value that is guarded, as ``L['x'].shape``; where frames share a name, ``#2`` and on follow it.
        unknown: Entries of ``counts`` that this torch does not tell, with the reason.
    """

    counts: Mapping[str, int]
    places: Mapping[str, Place] = field(default_factory=dict)
    unknown: Mapping[str, str] = field(default_factory=dict)


def read_census(stored: Mapping[str, Any]) -> Census:
    """A census from its fields, as :func:`dataclasses.asdict` gives them and JSON keeps them."""
    places = {str(source): Place(tuple(p["guards"]), tuple(p["answers"])) for source, p in stored["places"].items()}
    return Census({str(name): int(n) for name, n in stored["counts"].items()}, places, dict(stored["unknown"]))


@dataclass(frozen=True)
class Counted:
    """A census, taken in two processes with different hash seeds.

    Attributes:
        differing: Entries and places that the two processes tell differently: what each says.
    """

    census: Census
    torch: str
    torch_git: str
    differing: Mapping[str, tuple[str, str]]


CHECK, COLD_CHECK, DIRECT, SKIPPED, HIT = "check", "cold check", "direct", "guards skipped", "hit"
BINDING, LOADED_CHECK, LOADED_CALL, LOADED_UNCHECKED = (
    "loaded: binding",
    "loaded: check",
    "loaded: call",
    "loaded: unchecked call",
)
MEASURES = {
    CHECK: "all guards checked, again and again",
    COLD_CHECK: "all guards checked once after the CPU's caches were flushed; torch's own number",
    DIRECT: "the compiled bytecode on its own, no guards",
    SKIPPED: "a call with the evaluation of guards skipped",
    HIT: "a call: guards, bytecode, and the way to them",
    BINDING: "a loaded function binds its arguments",
    LOADED_CHECK: "a loaded function binds its arguments and checks its guards",
    LOADED_CALL: "a call of a loaded function",
    LOADED_UNCHECKED: "a call of a loaded function after disable_guard_check()",
}
"""What is timed, each per call; with graphs that answer from memory, where the model allows that."""

DIFFERENCES = {
    "hit - direct": (HIT, DIRECT),
    "hit - guards skipped": (HIT, SKIPPED),
    "loaded: call - unchecked call": (LOADED_CALL, LOADED_UNCHECKED),
}
"""Differences of measures, pair by pair."""


def hit_at(entry: int, entries: int) -> str:
    """The name of the time of a hit at the n-th entry of a cache."""
    return f"hit at entry {entry} of {entries}"


@dataclass(frozen=True)
class Cost:
    """Seconds per call by measure, in one process, in which the n-th samples of all belong together.

    Attributes:
        samples: By measure, :data:`MEASURES` and :func:`hit_at`.
        unavailable: Measures without samples, with the reason.
    """

    samples: Mapping[str, tuple[float, ...]]
    unavailable: Mapping[str, str] = field(default_factory=dict)


def seconds_of(cost: Cost, measure: str) -> float | None:
    """A process's number: the least of a measure's blocks, the median of a difference's pairs; None without samples."""
    taken = [cost.samples.get(part, ()) for part in DIFFERENCES.get(measure, (measure,))]
    if not all(taken):
        return None
    first, *others = taken
    if not others:
        return min(first)
    return statistics.median(more - less for more, less in zip(first, others[0], strict=True))


def read_cost(stored: Mapping[str, Any]) -> Cost:
    """A cost from its fields."""
    return Cost({str(k): tuple(v) for k, v in stored["samples"].items()}, dict(stored["unavailable"]))


@dataclass(frozen=True)
class Sweep:
    """A family over sizes, in one process.

    Attributes:
        guards: Guards by size.
        samples: Seconds of a check by size; the n-th samples of all sizes belong together.
    """

    family: str
    guards: Mapping[int, int]
    samples: Mapping[int, tuple[float, ...]]


def read_sweep(stored: Mapping[str, Any]) -> Sweep:
    """A sweep from its fields."""
    return Sweep(
        stored["family"],
        {int(size): int(count) for size, count in stored["guards"].items()},
        {int(size): tuple(taken) for size, taken in stored["samples"].items()},
    )
