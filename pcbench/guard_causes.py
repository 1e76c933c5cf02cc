"""Where the time of a guard check goes, and what would spare it. Shared by both halves; needs no torch."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pcbench.guard_samples import Census, read_census

ALONE, ESTIMATED = "timed alone", "estimated from its guards"
"""How a part's seconds were found: in a copy of the tree that has nothing else, or by the types of its guards."""


@dataclass(frozen=True)
class Part:
    """Some of the values that are guarded, and what checking them takes.

    Attributes:
        name: Of a subtree, the place of its top, as the census names it; of a module, its path from the variable that
            holds it (``self.encoder.0``), and else the variable, ``globals`` or ``root``.
        managers: How many values.
        guards: How many guards on them.
        how: :data:`ALONE` or :data:`ESTIMATED`.
        samples: Seconds per check; a single one where they are estimated.
        note: What makes the samples other than in the whole check; empty where nothing is known to.
    """

    name: str
    managers: int
    guards: int
    how: str
    samples: tuple[float, ...]
    note: str = ""


@dataclass(frozen=True)
class KindCost:
    """What one guard of a type takes, or one step from a value to a value below it.

    Attributes:
        kinds: The census's entries, as ``guards: TENSOR_MATCH``; more than one where they are always together.
        count: How many there are of each.
        seconds: Of one of each among others, by least squares over the parts that were timed, each by the least of its
            samples; None where there are none.
        error_s: Its standard error, as if no part held another; None where there is none.
        reason: Why there are no seconds; empty where there are.
    """

    kinds: tuple[str, ...]
    count: int
    seconds: float | None
    error_s: float | None = None
    reason: str = ""


@dataclass(frozen=True)
class Subtrees:
    """Where the time of a check goes, in one process, in which the n-th samples of all belong together.

    The ten of ``dearest`` are the exception: they were timed once more, each in turn with what is above it.

    Attributes:
        check: Seconds of the whole check.
        copy: Seconds of the check of a copy of all; where it differs from ``check``, so do copies of parts.
        entry: Seconds of the check of no guards: the way there and back.
        root: Seconds of the guards of the roots, and of those after all others.
        places: Seconds of a value's own guards and of the step to it, by the census's places; not all of a large tree.
        dearest: The ten most expensive, without those of which another has nearly all.
        modules: Own seconds, without those of the modules below.
        kinds: By type of guard and of step.
        explained: The share of the least ``check`` that ``entry``, ``root`` and ``kinds`` add up to: 1 where parts
            explain the whole.
        untimed: Places whose copy refused the call that the whole takes, with what it said.
    """

    check: tuple[float, ...]
    copy: tuple[float, ...]
    entry: tuple[float, ...]
    root: tuple[float, ...]
    places: Mapping[str, tuple[float, ...]]
    dearest: tuple[Part, ...]
    modules: tuple[Part, ...]
    kinds: tuple[KindCost, ...]
    explained: float
    untimed: Mapping[str, str] = field(default_factory=dict)


def read_subtrees(stored: Mapping[str, Any]) -> Subtrees:
    """Subtrees from their fields, as :func:`dataclasses.asdict` gives them and JSON keeps them."""
    return Subtrees(
        check=tuple(stored["check"]),
        copy=tuple(stored["copy"]),
        entry=tuple(stored["entry"]),
        root=tuple(stored["root"]),
        places={str(place): tuple(taken) for place, taken in stored["places"].items()},
        dearest=tuple(_part(part) for part in stored["dearest"]),
        modules=tuple(_part(part) for part in stored["modules"]),
        kinds=tuple(KindCost(**{**kind, "kinds": tuple(kind["kinds"])}) for kind in stored["kinds"]),
        explained=stored["explained"],
        untimed=dict(stored["untimed"]),
    )


def _part(stored: Mapping[str, Any]) -> Part:
    return Part(**{**stored, "samples": tuple(stored["samples"])})


FILTER, FLAG = "guard filter", "config flag"
"""What a remedy is: an option of ``torch.compile``, or a setting of Dynamo's config."""


@dataclass(frozen=True)
class Remedy:
    """A way of compiling that gives other guards, beside the default.

    Attributes:
        name: ``skip_all_guards_unsafe``, or ``specialize_float=True``.
        kind: :data:`FILTER` or :data:`FLAG`.
        unsafe: What change of the program then goes unnoticed.
        census: Its counts, without places; None where it could not be compiled.
        samples: Seconds by measure, ``check`` and ``hit`` of :data:`pcbench.guard_samples.MEASURES`.
        default: The same of the default, taken in turn with it: the n-th samples of both belong together.
        reason: Why there are no samples; empty where there are.
    """

    name: str
    kind: str
    unsafe: str
    census: Census | None
    samples: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    default: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    reason: str = ""


@dataclass(frozen=True)
class Remedies:
    """What one process says of the ways to compile a target with other guards.

    Attributes:
        default: Counts of the guards without any of them.
        unchanged: Settings that change none of this target's guards.
    """

    default: Census
    remedies: tuple[Remedy, ...]
    unchanged: tuple[str, ...]


def read_remedy(stored: Mapping[str, Any]) -> Remedy:
    """A remedy from its fields."""
    return Remedy(
        stored["name"],
        stored["kind"],
        stored["unsafe"],
        None if stored["census"] is None else read_census(stored["census"]),
        {str(measure): tuple(taken) for measure, taken in stored["samples"].items()},
        {str(measure): tuple(taken) for measure, taken in stored["default"].items()},
        stored["reason"],
    )
