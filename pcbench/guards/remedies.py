"""What would make a check cheaper: each guard filter and each setting that changes guards, beside the default."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import torch

from pcbench import timing, torch_api
from pcbench.errors import PcbenchError
from pcbench.guard_causes import FILTER, FLAG, Remedy
from pcbench.guard_samples import CHECK, HIT, Census
from pcbench.guards import _flags, subjects
from pcbench.guards.census import census
from pcbench.guards.guarded import Guarded, guarded
from pcbench.guards.request import Emit, Request
from pcbench.guards.subjects import Subject

_SHARED = "cache entries"
_UNKNOWN = "unknown to pcbench"
_GUARD = "_guard"
"""Settings with it in their names are tried, beside those that are known."""

_MANY = {"recompile_limit": 10_000, "accumulated_recompile_limit": 10_000}
"""All variants are in one code's cache, and none may be the one too many."""


@dataclass(frozen=True)
class Variant:
    """A way of compiling.

    Attributes:
        filter: A guard filter; None for the default, all guards.
        config: Settings of Dynamo's config.
    """

    name: str
    kind: str
    unsafe: str
    filter: Callable[..., Any] | None = None
    config: dict[str, Any] = field(default_factory=dict)


def guard_remedies(request: Request, clock: timing.PhaseClock, emit: Emit) -> None:  # noqa: ARG001  # one signature for all requests
    """Emit each remedy for the target's guards as it is measured, and at last the settings that change none of them."""
    emit({"stage": "compiling"})
    target = guarded(request.target, request.size, Path(request.cwd))
    unchanged: list[str] = []
    with torch_api.get("dynamo_config").patch(**_MANY), compiled(target) as default:
        usual = counted(default)
        emit({"default": asdict(usual)})
        for variant in variants():
            emit({"stage": variant.name})
            found = remedy(target, default, usual, variant)
            if found is None:
                unchanged.append(variant.name)
            else:
                emit({"remedy": asdict(found)})
    emit({"remedies": {"unchanged": unchanged}})


def compiled(target: Guarded, variant: Variant | None = None) -> AbstractContextManager[Subject]:
    """The target compiled in one of several ways that do not share what was compiled, nor take it from each other."""
    chosen = variant or Variant("", "", "")

    def own(graph: Callable[..., Any], inputs: Sequence[Any]) -> Callable[..., Any]:
        """A backend of this variant alone: Dynamo tells cache entries of one code apart by their backend."""
        return graph if target.grad else subjects.canned(graph, inputs)

    target = replace(target, config={**target.config, **chosen.config})
    # A dict of this call's own: torch takes the filter out of it.
    options = {} if chosen.filter is None else {"options": {"guard_filter_fn": chosen.filter}}
    return subjects.compiled(target, backend=own, **options)


def counted(subject: Subject) -> Census:
    """Its census, without places, and without what variants in one process share."""
    counts = census(subject)
    return Census(
        {entry: count for entry, count in counts.counts.items() if entry != _SHARED},
        unknown={**counts.unknown, _SHARED: "all ways of compiling share them in this process"},
    )


def remedy(target: Guarded, default: Subject, usual: Census, variant: Variant) -> Remedy | None:
    """A variant beside the default; None where it is a setting under which all guards are as usual."""
    untimed = Remedy(variant.name, variant.kind, variant.unsafe, None)
    try:
        with compiled(target, variant) as subject:
            counts = counted(subject)
            if variant.kind == FLAG and _telling(counts) == _telling(usual):
                return None
            samples, beside = _beside(subject, default)
            return replace(untimed, census=counts, samples=samples, default=beside)
    except PcbenchError as error:
        return replace(untimed, reason=error.problem)


def _telling(counts: Census) -> dict[str, int]:
    """Counts that differ with the guards alone: numbers in their code grow, and metrics tell what came before them."""
    return {entry: n for entry, n in counts.counts.items() if entry != "code bytes" and not entry.startswith("metrics")}


def _beside(subject: Subject, default: Subject) -> tuple[dict[str, tuple[float, ...]], dict[str, tuple[float, ...]]]:
    """Seconds of check and hit of both, taken in turn."""
    before = torch_api.frames_compiled()
    taken = timing.in_turn(
        {
            f"default {CHECK}": default.checking(),
            CHECK: subject.checking(),
            f"default {HIT}": default.call,
            HIT: subject.call,
        }
    )
    if torch_api.frames_compiled() != before:
        raise PcbenchError("a call beside the default's compiled again: its time is not that of a hit")
    for one in (subject, default):
        one.require_valid()
    samples = {measure: tuple(taken[measure]) for measure in (CHECK, HIT)}
    return samples, {measure: tuple(taken[f"default {measure}"]) for measure in (CHECK, HIT)}


def variants() -> Iterator[Variant]:
    """All filters, then all settings, that this torch has."""
    for name, function in sorted(vars(torch.compiler).items()):
        if name.endswith("_unsafe") and _is_filter(function):
            yield Variant(name, FILTER, _unsafe(name, function), function)
    for name, value in _settings():
        if name in _flags.FLAGS or _GUARD in f"_{name}":
            unsafe = _flags.FLAGS.get(name, {}).get(not value, _UNKNOWN)
            yield Variant(f"{name}={not value}", FLAG, unsafe, config={name: not value})


def _settings() -> Iterator[tuple[str, bool]]:
    """Settings of Dynamo's config that are on or off, but those of which torch says that they do nothing any more."""
    config = torch_api.get("dynamo_config")
    for name in sorted(config.get_config_copy()):
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            value = getattr(config, name)
        if isinstance(value, bool) and not said:
            yield name, value


def _is_filter(function: object) -> bool:
    """Whether it can be called with one list, of guard entries; as long as it has none, a filter gives none."""
    if not callable(function):
        return False
    try:
        inspect.signature(function).bind([])
        return bool(function([]) == [])
    except (TypeError, ValueError):
        return False


def _unsafe(name: str, function: Callable[..., Any]) -> str:
    """What is not noticed under a filter: in pcbench's words, or else in torch's."""
    said = " ".join((inspect.getdoc(function) or "").partition("\n\n")[0].split()).partition(". ")[0].rstrip(".")
    return _flags.FILTERS.get(name) or (f"torch's own words: {said}" if said else _UNKNOWN)
