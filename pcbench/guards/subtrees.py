"""Where the time of a check goes: parts of the tree of guards timed alone, in copies of it that have nothing else."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path

from pcbench import timing
from pcbench.errors import PcbenchError
from pcbench.guard_causes import ALONE, ESTIMATED, Part, Subtrees
from pcbench.guards import _kinds, _values, subjects
from pcbench.guards._values import Value
from pcbench.guards.guarded import guarded
from pcbench.guards.request import Emit, Request
from pcbench.guards.subjects import Subject

LIMIT = 400
"""So many values are timed on their own: the ones above most guards, and an even choice of the rest; beside them, what
is above these."""

_SHOWN = 10
_NEARLY_ALL = 0.8
_NOTE = "relational guards: a copy forgets what they saw once for each of their places, the whole only once"
_CHECK, _COPY, _ENTRY = "check", "copy", "entry"

Calls = dict[str, Callable[[], object]]
Taken = Mapping[str, Sequence[float]]


def guard_subtrees(request: Request, clock: timing.PhaseClock, emit: Emit) -> None:  # noqa: ARG001  # one signature for all requests
    """Emit where the time of the target's check goes."""
    emit({"stage": "compiling"})
    with subjects.compiled(guarded(request.target, request.size, Path(request.cwd))) as subject:
        emit({"stage": "timing parts of the guards"})
        emit({"subtrees": asdict(subtrees(subject))})


def subtrees(subject: Subject, *, limit: int = LIMIT, rounds: int = 9, block_s: float = 0.0003) -> Subtrees:
    """Time parts of the subject's guards alone, in turn.

    Args:
        limit: As :data:`LIMIT`.

    Raises:
        PcbenchError: A copy of all guards, or of the roots' alone, refuses the call that the guards take.
    """
    values = list(_values.values_of(subject))
    untimed: dict[str, str] = {}
    calls = _wholes(subject, values) | _parts(values, chosen(values, limit), untimed)
    taken = timing.in_turn(calls, rounds=rounds, block_s=block_s, budget_s=30.0)
    subject.require_valid()
    own = dict(_own(values, taken))
    rows = {id(value.node): _kinds.row(value.node, value.step) for value in values if value.parent}
    timed = [(rows[id(value.node)], _least(*pair)) for value, pair in own.items() if value.parent]
    timed += [(_row_below(value, rows), _least(*pair)) for value, pair in _below(values, taken) if value.node.children]
    fit = _kinds.fit(timed)
    entry = [len(subject.frames) * one for one in taken[_ENTRY]]
    roots = [own[value] for value in values if not value.parent]
    modelled = min(entry) + sum(_least(*pair) for pair in roots) + fit.seconds(_kinds.together(rows.values()))
    return Subtrees(
        check=tuple(taken[_CHECK]),
        copy=tuple(taken[_COPY]),
        entry=tuple(entry),
        root=tuple(sum(frames) for frames in zip(*(_minus(*pair) for pair in roots), strict=True)),
        places={value.name: tuple(_minus(*pair)) for value, pair in own.items() if value.parent},
        dearest=tuple(
            _dearest(values, taken, {v: fit.seconds(_row_below(v, rows)) for v in values if v.parent}, rounds)
        ),
        modules=tuple(_modules(values, taken)),
        kinds=tuple(fit.costs(list(rows.values()))),
        explained=modelled / min(taken[_CHECK]),
        untimed=untimed,
    )


def chosen(values: Sequence[Value], limit: int) -> list[Value]:
    """The values to time on their own, in their order; all where they are no more than ``limit``."""
    ranked = sorted(values, key=lambda value: -len(_values.guards_of(value.node.walk())))
    half = limit if len(values) <= limit else limit // 2
    rest = ranked[half:]
    kept: set[Value] = set()
    for value in (*ranked[:half], *rest[:: max(1, -(-len(rest) // (limit - half or 1)))]):
        above: Value | None = value
        while above is not None and above not in kept:
            kept.add(above)
            above = above.parent
    return [value for value in values if value in kept]


def _wholes(subject: Subject, values: Sequence[Value]) -> Calls:
    copies = []
    for root in (value for value in values if value.parent is None):
        for kept in (list(root.node.walk()), root.path):
            check = _values.check_of(root.frame, kept)
            if isinstance(check, str):
                raise PcbenchError(f"a copy of its guards refuses the call that they take: {check}")
            copies.append(check)
    return {
        _CHECK: subject.checking(),
        _COPY: subjects.all_of(copies[::2]),
        _ENTRY: _values.empty_check(subject.frames[0].f_locals),
    }


def _parts(values: Sequence[Value], picked: Sequence[Value], untimed: dict[str, str]) -> Calls:
    """Checks of parts: of the way to a value, of all of it with the way to it, and of modules."""
    checks: dict[str, Callable[[], object] | str] = {}
    for value in picked:
        checks[_to(value)] = _values.check_of(value.frame, value.path)
        if value.parent and value.node.children:
            checks[_all(value)] = _values.check_of(value.frame, (*value.path, *value.node.walk()))
    for name, group in _by_module(values).items():
        members = {id(value.node) for value in group}
        above = [node for node in {id(n): n for value in group for n in value.path}.values() if id(node) not in members]
        checks[f"above module {name}"] = _values.check_of(group[0].frame, above)
        checks[f"module {name}"] = _values.check_of(group[0].frame, (*above, *(value.node for value in group)))
    untimed |= {name: check for name, check in checks.items() if isinstance(check, str)}
    return {name: check for name, check in checks.items() if not isinstance(check, str)}


def _to(value: Value) -> str:
    return f"the way to {value.name}"


def _all(value: Value) -> str:
    return f"all of {value.name}" if value.node.children else _to(value)


def _by_module(values: Sequence[Value]) -> dict[str, list[Value]]:
    groups: dict[str, list[Value]] = {}
    for value in values:
        if value.parent:
            groups.setdefault(value.module, []).append(value)
    return groups


def _own(values: Sequence[Value], taken: Taken) -> Iterator[tuple[Value, tuple[Sequence[float], Sequence[float]]]]:
    """Seconds of the way to a value, and of the way to its parent: what is between is its guards and the step to it."""
    for value in values:
        with_it, without = taken.get(_to(value)), taken.get(_to(value.parent) if value.parent else _ENTRY)
        if with_it and without:
            yield value, (with_it, without)


def _below(values: Sequence[Value], taken: Taken) -> Iterator[tuple[Value, tuple[Sequence[float], Sequence[float]]]]:
    """Seconds of the way to all of a value, itself and what is below it, and of the way to its parent."""
    for value in values:
        if value.parent:
            with_it, without = taken.get(_all(value)), taken.get(_to(value.parent))
            if with_it and without:
                yield value, (with_it, without)


def _row_below(value: Value, rows: Mapping[int, _kinds.Row]) -> _kinds.Row:
    return _kinds.together(rows[id(node)] for node in value.node.walk())


def _dearest(values: Sequence[Value], taken: Taken, estimates: Mapping[Value, float], rounds: int) -> Iterator[Part]:
    """The most expensive subtrees, the dearest first.

    One timing, or the estimate, ranks them; their samples are of another, so that none is dear by chance.
    """
    timed = {value: _least(*pair) for value, pair in _below(values, taken)}
    ranked = {**estimates, **timed}
    shown = dearest(ranked)
    calls: Calls = {}
    for value in filter(timed.__contains__, shown):
        for name, kept in (("above", value.path[:-1]), ("with", (*value.path, *value.node.walk()))):
            check = _values.check_of(value.frame, kept)
            if not isinstance(check, str):
                calls[f"{name} {value.name}"] = check
    again = timing.in_turn(calls, rounds=2 * rounds, block_s=0.001, budget_s=10.0)
    for value in shown:
        with_it, without = again.get(f"with {value.name}"), again.get(f"above {value.name}")
        nodes = list(value.node.walk())
        count, note = len(_values.guards_of(nodes)), _NOTE if _values.related(nodes) else ""
        if with_it and without:
            yield Part(value.name, len(nodes), count, ALONE, tuple(_minus(with_it, without)), note)
        else:
            yield Part(value.name, len(nodes), count, ESTIMATED, (ranked[value],), note)


def dearest(seconds: Mapping[Value, float], shown: int = _SHOWN) -> list[Value]:
    """The values with most seconds below them, without those of which one child has nearly all."""
    held: dict[Value, float] = {}
    for value, cost in seconds.items():
        if value.parent:
            held[value.parent] = max(held.get(value.parent, 0.0), cost)
    apart = [value for value, cost in seconds.items() if held.get(value, 0.0) < _NEARLY_ALL * cost]
    return sorted(apart, key=lambda value: -seconds[value])[:shown]


def _modules(values: Sequence[Value], taken: Taken) -> Iterator[Part]:
    for name, group in _by_module(values).items():
        with_it, without = taken.get(f"module {name}"), taken.get(f"above module {name}")
        nodes = [value.node for value in group]
        if with_it and without:
            count, note = len(_values.guards_of(nodes)), _NOTE if _values.related(nodes) else ""
            yield Part(name, len(nodes), count, ALONE, tuple(_minus(with_it, without)), note)


def _least(minuend: Sequence[float], subtrahend: Sequence[float]) -> float:
    """The difference of what both take undisturbed, to rank and to fit by; its samples are those of :func:`_minus`."""
    return min(minuend) - min(subtrahend)


def _minus(minuend: Sequence[float], subtrahend: Sequence[float]) -> list[float]:
    return [more - less for more, less in zip(minuend, subtrahend, strict=True)]
