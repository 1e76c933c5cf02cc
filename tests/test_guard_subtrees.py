"""Where the time of a guard check goes: parts of the tree of guards in copies of their own, and what a type takes."""

from __future__ import annotations

import json
import statistics
from collections.abc import Iterator
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

from pcbench.errors import PcbenchError
from pcbench.guard_causes import ALONE, ESTIMATED, Subtrees, read_subtrees
from pcbench.guard_samples import EPILOGUE
from pcbench.guards import _values, subjects, subtrees
from pcbench.guards.census import census
from pcbench.guards.guarded import Guarded
from pcbench.guards.request import Request
from pcbench.guards.subjects import Subject
from pcbench.timing import PhaseClock


class _Model(nn.Module):
    """A module with many weights beside one with few, a shared weight, and a dict that is walked."""

    def __init__(self) -> None:
        super().__init__()
        self.many = nn.ParameterList([nn.Parameter(torch.ones(1)) for _ in range(30)])
        self.few = nn.Linear(1, 1)
        self.twin = nn.Linear(1, 1)
        self.twin.weight = self.few.weight

    def forward(self, x: torch.Tensor, y: torch.Tensor, more: dict[str, torch.Tensor]) -> torch.Tensor:
        for one in self.many:
            x = x * one
        for value in more.values():
            x = x + value
        return self.twin(self.few(x + y))  # type: ignore[no-any-return]


@pytest.fixture(scope="module")
def subject() -> Iterator[Subject]:
    more = {"a": torch.ones(2, 1), "b": torch.ones(2, 1)}
    with subjects.compiled(Guarded(_Model(), (torch.ones(2, 1), torch.ones(2, 1), more))) as compiled:
        yield compiled


@pytest.fixture(scope="module")
def found(subject: Subject) -> Subtrees:
    return subtrees.subtrees(subject)


def test_the_values_are_the_census_s_places(subject: Subject) -> None:
    places = census(subject).places

    assert [value.name for value in _values.values_of(subject)] == [name for name in places if name != EPILOGUE]


def test_frames_have_values_of_their_own_and_are_timed_together() -> None:
    def function(x: torch.Tensor) -> torch.Tensor:
        y = x + 1
        torch._dynamo.graph_break()
        return x * y

    with subjects.compiled(Guarded(function, (torch.ones(2),))) as broken:
        assert len(broken.frames) == 2
        names = [value.name for value in _values.values_of(broken)]
        found = subtrees.subtrees(broken, rounds=5)

        assert len(set(names)) == len(names)
        assert {"L['x']", "L['x'] #2"} < set(names) == {name for name in census(broken).places if name != EPILOGUE}
        assert {"x", "x (frame 2)", "y (frame 2)"} <= {part.name for part in found.modules}
        assert found.places.keys() == {value.name for value in _values.values_of(broken) if value.parent}


def test_a_copy_of_any_part_has_its_guards_alone_and_takes_the_call_again_and_again(subject: Subject) -> None:
    values = list(_values.values_of(subject))
    assert {"dict keys", "dict values"} < {value.step for value in values}

    for value in values:
        for kept in (value.path, (*value.path, *value.node.walk())):
            check: Any = _values.check_of(value.frame, kept)
            copied = subjects.Frame(_Holder(check.func.__self__), value.frame.code, {}, {})
            copies = list(_values.values_of(replace(subject, frames=(copied,))))
            assert {copy.name for copy in copies} == {_name(node, values) for node in kept}
            assert all(check() for _ in range(3))
    assert subject.frames[0].check()


class _Holder:
    def __init__(self, root: Any) -> None:
        self.root = root


def _name(node: Any, values: list[_values.Value]) -> str:
    return next(value.name for value in values if value.node is node)


def test_a_copy_that_refuses_the_call_says_which_guard_did(subject: Subject) -> None:
    value = next(value for value in _values.values_of(subject) if value.name == "L['x']")
    frame = replace(value.frame, f_locals={**value.frame.f_locals, "x": 3})

    assert "L['x']" in str(_values.check_of(frame, value.path))
    assert callable(_values.check_of(frame, value.path[:-1]))


def test_modules_part_all_guards_but_the_roots(subject: Subject, found: Subtrees) -> None:
    root = next(_values.values_of(subject))
    counts = census(subject).counts
    guards = counts["guards"] - counts["epilogue guards"] - len(root.node.manager.get_leaf_guards())

    assert sum(part.guards for part in found.modules) == guards
    modules = {"self", "self.many", "self.few", "self.twin"}
    assert {part.name for part in found.modules} == {*modules, "x", "y", "more", "globals"}


def test_the_module_with_more_weights_takes_more(found: Subtrees) -> None:
    middle = {part.name: statistics.median(part.samples) for part in found.modules}

    assert middle["self.many"] > middle["self.few"]
    assert any("many" in part.name for part in found.dearest[:5])


def test_samples_belong_together_and_nothing_is_left_untimed(subject: Subject, found: Subtrees) -> None:
    lists = [found.check, found.copy, found.entry, found.root, *found.places.values()]
    lists += [part.samples for part in found.modules]

    assert len({len(samples) for samples in lists}) == 1
    assert len(found.places) == len(list(_values.values_of(subject))) - 1
    assert not found.untimed
    assert {part.how for part in (*found.dearest, *found.modules)} == {ALONE}


def test_what_holds_relational_guards_is_said_to_take_more_in_a_copy(found: Subtrees) -> None:
    notes = {part.name: part.note for part in found.modules}

    assert notes["x"]
    assert not notes["self.many"]


def test_kinds_are_the_census_s_entries_with_its_counts_but_for_the_roots(subject: Subject, found: Subtrees) -> None:
    counts = census(subject).counts

    told = {kind: cost.count for cost in found.kinds for kind in cost.kinds}
    assert {kind for kind in told if kind.startswith("accessors: ")} == {
        k for k in counts if k.startswith("accessors: ")
    }
    assert all(told[kind] == counts[kind] for kind in told)


def test_of_a_larger_tree_some_values_are_timed_and_the_rest_is_estimated(subject: Subject) -> None:
    values = list(_values.values_of(subject))
    some = subtrees.chosen(values, 8)

    assert len(subtrees.chosen(values, len(values))) == len(values)
    assert 8 <= len(some) < len(values)
    assert all(value.parent in some for value in some if value.parent)
    assert max(some, key=lambda value: len(value.path)).name.count("many") == 1
    found = subtrees.subtrees(subject, limit=8, rounds=5)
    assert len(found.places) == len(some) - 1
    assert {len(part.samples) for part in found.dearest if part.how == ESTIMATED} <= {1}


def test_what_a_tree_refuses_where_it_is_copied_is_an_error_that_says_so(
    subject: Subject, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_values, "check_of", lambda frame, kept: "x is not 3")

    with pytest.raises(PcbenchError, match="a copy of its guards refuses the call that they take: x is not 3"):
        subtrees.subtrees(subject)


def test_a_value_of_which_one_child_has_nearly_all_is_not_among_the_dearest(subject: Subject) -> None:
    by_name = {value.name: value for value in _values.values_of(subject)}
    chain = [by_name[name] for name in ("L['self']", "L['self'].__dict__", "L['self']._modules")]
    few, many = by_name["L['self']._modules['few']"], by_name["L['self']._modules['many']"]

    seconds = dict(zip((*chain, few, many), (10.0, 9.0, 8.9, 3.0, 5.0), strict=True))

    assert subtrees.dearest(seconds) == [chain[2], many, few]
    assert subtrees.dearest(seconds, shown=1) == [chain[2]]


@pytest.mark.parametrize(
    ("source", "module"),
    [
        ("L['self']._modules['encoder']._modules['0'].eps", "self.encoder.0"),
        ("list(dict.keys(L['fn']._modules['layers']._modules))[0]", "fn.layers"),
        ("dict(type(L['self']._modules['a']).__dict__)['forward'].__closure__[4]", "self.a"),
        ("L['args'][0]", "args"),
        ("G['__import_torch']._modules['x']", "globals"),
        ("G", "globals"),
        ("L", "root"),
        ("", "root"),
    ],
)
def test_a_source_names_the_module_that_it_is_in(source: str, module: str) -> None:
    assert _values.module_of(source) == module


def test_a_process_answers_with_subtrees_that_json_keeps() -> None:
    told: list[dict[str, Any]] = []

    subtrees.guard_subtrees(
        Request("tensors", 1, str(Path.cwd()), size=2), PhaseClock(sees_compilers=False), told.append
    )

    assert [next(iter(message)) for message in told] == ["stage", "stage", "subtrees"]
    read = read_subtrees(json.loads(json.dumps(told[-1]["subtrees"])))
    assert asdict(read) == told[-1]["subtrees"]
    assert read.dearest[0].samples
