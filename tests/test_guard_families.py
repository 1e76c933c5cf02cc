"""Guard families: n more is n more in the census, one guard refuses where one is to, and calls answer as eager does."""

from __future__ import annotations

import inspect
from collections.abc import Iterable
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest
import torch

from pcbench import guard_families, torch_api
from pcbench.errors import ExtensionError, UnavailableError, UsageError
from pcbench.guard_samples import Census
from pcbench.guards import census, subjects
from pcbench.guards.families import data
from pcbench.guards.guarded import Guarded, guarded
from pcbench.guards.subjects import Frame, Subject

HERE = Path(__file__).parent

COMPILED_IN_CPP = "cpp_shape_guards"

ADDS = {
    "closure_cells": "EQUALS_MATCH",
    "constants": "EQUALS_MATCH",
    "dataclasses": "TYPE_MATCH",
    "dict_keys": "EQUALS_MATCH",
    "functions": "ID_MATCH",
    "global_variables": "EQUALS_MATCH",
    "lists": "LENGTH_CHECK",
    "module_attributes": "EQUALS_MATCH",
    "module_depth": "EQUALS_MATCH",
    "module_hooks": "DICT_LENGTH",
    "module_width": "EQUALS_MATCH",
    "nested_dicts": "DICT_LENGTH",
    "object_aliasing": "OBJECT_ALIASING",
    "python_shape_guards": "TENSOR_MATCH",
    "requires_grad": "TENSOR_MATCH",
    "tensors": "TENSOR_MATCH",
    "tuples": "LENGTH_CHECK",
    "types": "ID_MATCH",
    COMPILED_IN_CPP: "SYMBOLIC_SHAPE_GUARD",
}
"""The type of guard that each family adds, and, but for REFUSES, of the one that refuses inside ``breaking``."""

REFUSES = ADDS | {"python_shape_guards": "LAMBDA_GUARD"}


def each(names: Iterable[str]) -> pytest.MarkDecorator:
    slow = pytest.mark.slow
    return pytest.mark.parametrize("name", [pytest.param(n, marks=[slow] * (n == COMPILED_IN_CPP)) for n in names])


def made(name: str, size: int) -> Guarded:
    torch._dynamo.reset()
    return guarded(name, size, HERE)


def counted(name: str, size: int) -> Census:
    with subjects.compiled(made(name, size)) as subject:
        return census.census(subject)


def locals_of(family: Guarded, args: tuple[Any, ...]) -> dict[str, Any]:
    """The locals that the guards of a family's function look at in a call with these args."""
    bound = inspect.signature(family.function).bind(*args, **family.kwargs)
    bound.apply_defaults()
    return dict(bound.arguments) | dict(inspect.getclosurevars(family.function).nonlocals)


def only_frame(subject: Subject) -> Frame:
    (frame,) = subject.frames
    return frame


def refusing(frame: Frame, f_locals: dict[str, Any]) -> list[str]:
    """The types of the guards that refuse these locals.

    Each guard is asked on its own value. Those on several values cannot be: where no other refuses, it is the one that
    the check of all names.
    """
    relational = torch_api.get("relational_guard")
    root = frame.manager.root
    alone = [(guard, f_locals) for guard in root.get_epilogue_lambda_guards()]
    together = []
    for node in census.tree(root).walk():
        source = node.manager.get_source()
        for guard in node.manager.get_leaf_guards():
            if isinstance(guard, relational):
                together.append(guard)
            else:
                value = eval(source, {"L": f_locals, "G": frame.f_globals}) if source else f_locals
                alone.append((guard, value))
    refused = [type(guard).__name__ for guard, value in alone if not guard(value)]
    if refused:
        return refused
    said = frame.manager.check_verbose(f_locals)
    named = {type(guard).__name__ for guard in together if names(guard, said.verbose_code_parts)}
    return [] if said.result else sorted(named)


def names(guard: Any, said: list[str]) -> bool:
    """Whether a refusal is this guard's; one on shapes says their values, too."""
    parts = guard.verbose_code_parts()
    return said[: len(parts)] == parts


@pytest.mark.parametrize("size", [1, 9])
@each(guard_families.names())
def test_one_guard_refuses_where_a_family_breaks_one_and_none_before_and_after(name: str, size: int) -> None:
    family = made(name, size)
    with subjects.compiled(family) as subject:
        frame = only_frame(subject)
        before = locals_of(family, family.args)
        assert frame.manager.check(before)
        assert refusing(frame, before) == []

        with family.breaking() as args:
            broken = locals_of(family, args)
            assert not frame.manager.check(broken)
            assert len(refusing(frame, broken)) == 1

        after = locals_of(family, family.args)
        assert frame.manager.check(after)
        assert refusing(frame, after) == []


@each(guard_families.names())
def test_each_more_of_a_family_adds_the_same_number_of_guards(name: str) -> None:
    eight, nine, forty = (counted(name, size).counts["guards"] for size in (8, 9, 40))  # 40 is more than a chain of 32

    assert nine > eight
    assert forty - eight == 32 * (nine - eight)


@each(ADDS)
def test_a_family_adds_and_breaks_guards_of_its_type(name: str) -> None:
    eight = counted(name, 8).counts
    family = made(name, 9)
    with subjects.compiled(family) as subject:
        nine = census.census(subject).counts
        with family.breaking() as args:
            refused = refusing(only_frame(subject), locals_of(family, args))

    assert nine[f"guards: {ADDS[name]}"] > eight.get(f"guards: {ADDS[name]}", 0)
    assert refused == [REFUSES[name]]


@each(guard_families.names())
def test_a_familys_compiled_function_answers_as_eager_does_whatever_its_guards_say(name: str) -> None:
    family = made(name, 9)
    with subjects.compiled(family, "eager") as subject:
        assert torch.equal(subject.call(), family.function(*family.args))

        with family.breaking() as args:
            broken = family.function(*args)
            assert torch.equal(subject.compiled(*args), broken)

        assert torch.equal(subject.call(), family.function(*family.args))


def test_shape_guards_in_python_are_one_guard_with_a_condition_for_each_tensor() -> None:
    def conditions(size: int) -> int:
        with subjects.compiled(made("python_shape_guards", size)) as subject:
            (guard,) = only_frame(subject).manager.root.get_epilogue_lambda_guards()
            return len(guard.verbose_code_parts())

    assert [conditions(size) for size in (1, 2, 9)] == [1, 2, 9]


@pytest.mark.slow
def test_shape_guards_in_cpp_leave_none_to_python() -> None:
    counts = counted(COMPILED_IN_CPP, 8).counts

    assert counts["guards: SYMBOLIC_SHAPE_GUARD"] == 8
    assert counts.get("epilogue guards", 0) == 0


def test_without_a_compiler_shape_guards_in_cpp_are_unavailable_rather_than_in_python(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    torch_api.get("cpp_compiler")
    errors: list[Exception] = [torch._inductor.exc.InvalidCxxCompiler(), RuntimeError("no disk")]
    monkeypatch.setattr(torch._inductor.cpp_builder, "get_cpp_compiler", Mock(side_effect=errors))

    with pytest.raises(UnavailableError, match=r"need a C\+\+ compiler"):
        guarded(COMPILED_IN_CPP, 8, HERE)
    with pytest.raises(RuntimeError, match="no disk"):
        guarded(COMPILED_IN_CPP, 8, HERE)


def test_guards_on_hooks_are_six_more_a_module_than_without() -> None:
    def a_module(name: str) -> int:
        return counted(name, 9).counts["guards"] - counted(name, 8).counts["guards"]

    assert a_module("module_hooks") == a_module("module_width") + 6


def test_a_change_is_put_back_where_what_is_inside_raises() -> None:
    for name in ("closure_cells", "global_variables", "module_hooks", "module_width", "nested_dicts"):
        family = made(name, 3)
        with subjects.compiled(family) as subject:
            with pytest.raises(ValueError, match="inside"), family.breaking():
                raise ValueError("inside")
            assert only_frame(subject).manager.check(locals_of(family, family.args)), name


def test_a_family_of_no_size_is_refused() -> None:
    with pytest.raises(UsageError, match="0 is no size of family tensors"):
        guarded("tensors", 0, HERE)


def test_a_family_that_gives_something_else_is_told_what_to_return(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(data, "tensors", lambda n: n)

    with pytest.raises(ExtensionError, match=r"family tensors gave a int \(return a Guarded"):
        guarded("tensors", 3, HERE)
