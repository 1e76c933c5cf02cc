"""Which calls are of one kind: told by key, and by metadata where the keys are the same."""

from __future__ import annotations

import enum
from collections import OrderedDict, UserDict, namedtuple
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
import torch

from pcbench import torch_api
from pcbench.errors import UsageError
from pcbench.runner import signature


@dataclass
class Batch:
    ids: Any
    scale: float


class Colour(enum.Enum):
    RED = 1
    BLUE = 2


class Pixels(torch.Tensor):
    pass


Pair = namedtuple("Pair", "left right")


def alike(first: Any, second: Any) -> bool:
    """Whether the calls ``model(first)`` and ``model(second)`` are of one kind."""
    key, tensors = signature.of_call((first,), {})
    other, others = signature.of_call((second,), {})
    ties = signature.ties(tensors)
    if key != other or ties != signature.ties(others):
        return False
    first, second = ([of[place] for place in sorted(set(ties or range(len(of))))] for of in (tensors, others))
    return signature.metadata(first).same(*second)


def marked(size: int, width: int = 4, **limits: int) -> torch.Tensor:
    x = torch.zeros(size, width)
    torch_api.get("mark_dynamic")(x, 0, **limits)
    return x


x = torch.zeros(2, 4)
with torch.inference_mode():
    made_in_inference = torch.zeros(2, 4)
many = marked(8)


DIFFERENT: dict[str, tuple[Any, Any]] = {
    "size": (x, torch.zeros(2, 5)),
    "dtype": (x, x.double()),
    "strides": (x, torch.zeros(4, 2).t()),
    "device": (x, x.to("meta")),
    "requires grad": (x, x.clone().requires_grad_()),
    "made in inference": (x, made_in_inference),
    "subclass": (x, x.as_subclass(Pixels)),
    "parameter": (x, torch.nn.Parameter(x, requires_grad=False)),
    "conjugation": (torch.zeros(2, dtype=torch.cfloat), torch.zeros(2, dtype=torch.cfloat).conj()),
    "no tensor": (x, None),
    "a list": (x, [x]),
    "list and tuple": ([x], (x,)),
    "length": ([x], [x, x]),
    "nesting": ([[x], x], [[x, x]]),
    "given twice": ((x, x.clone()), (x, x)),
    "which is given twice": ((x, x, x.clone()), (x, x.clone(), x)),
    "a marked one given twice": ((many, marked(8)), (many, many)),
    "name": ({"a": x}, {"b": x}),
    "kind of mapping": (UserDict(a=x), {"a": x}),
    "what a mapping holds": (OrderedDict(a=x, b=1), OrderedDict(a=x, b=2)),
    "named tuple": (Pair(x, x), (x, x)),
    "field of a dataclass": (Batch(x, 1.0), Batch(x, 2.0)),
    "int and bool": (1, True),
    "int and float": (1, 1.0),
    "int": (1, 2),
    "sign of zero": (0.0, -0.0),
    "text and bytes": ("a", b"a"),
    "enum": (Colour.RED, Colour.BLUE),
    "a dtype": (torch.float32, torch.float64),
    "torch.Size": (torch.Size([1]), (1,)),
    "a mark": (marked(8), torch.zeros(8, 4)),
    "size 1 in a marked dim": (marked(8), marked(1)),
    "size 0 in a marked dim": (marked(0), marked(1)),
    "size of another dim": (marked(8), marked(8, 5)),
    "range of a mark": (marked(8), marked(8, min=2, max=16)),
}

ALIKE: dict[str, tuple[Any, Any]] = {
    "values": (x, torch.ones(2, 4)),
    "a nest": ([x, {"a": (many, 1)}], [x.clone(), {"a": (marked(8), 1)}]),
    "mappings": ([UserDict(a=x), OrderedDict(a=x + 1)], [UserDict(a=x + 1), OrderedDict(a=x)]),
    "given twice": ((x, x), (x + 1,) * 2),
    "nan": (float("nan"), float("nan")),
    "dataclass": (Batch(x, 1.0), Batch(x.clone(), 1.0)),
    "size of a marked dim": (many, marked(16)),
    "one in a dataclass": (Batch(marked(8), 1.0), Batch(marked(3), 1.0)),
}


@pytest.mark.parametrize("what", DIFFERENT)
@pytest.mark.parametrize("grad", [True, False])
def test_calls_that_differ_are_of_two_kinds(what: str, grad: bool) -> None:
    first, second = DIFFERENT[what]

    with torch.set_grad_enabled(grad):
        assert not alike(first, second)
        assert not alike(second, first)
        assert alike(first, first)


@pytest.mark.parametrize("what", ALIKE)
def test_calls_that_differ_in_values_of_tensors_or_sizes_of_marked_dims_are_of_one_kind(what: str) -> None:
    assert alike(*ALIKE[what])


def test_strides_of_a_marked_tensor_key_by_contiguity() -> None:
    wide = torch.zeros(8, 8)[:, :4]
    torch_api.get("mark_dynamic")(wide, 0)

    assert not alike(marked(8), wide)


def test_an_attribute_that_is_no_mark_of_dynamo_s_does_not_key() -> None:
    named = torch.zeros(2, 4)
    named.name_of_mine = "x"  # type: ignore[attr-defined]

    assert alike(named, x)


def test_inputs_become_args_and_kwargs() -> None:
    assert signature.arguments(x, None) == ((x,), {})
    assert signature.arguments(x, {"b": 1}) == ((x,), {"b": 1})
    assert signature.arguments([1, 2], None) == ((1, 2), {})
    assert signature.arguments((1,), {"b": 2}) == ((1,), {"b": 2})
    assert signature.arguments({"a": 1}, None) == ((), {"a": 1})
    assert signature.arguments(UserDict(a=1), None) == ((), {"a": 1})


@pytest.mark.parametrize(
    ("inputs", "kwargs", "told"),
    [
        ("text", None, "example inputs are a str"),
        (None, None, "example inputs are a NoneType"),
        ({"a": 1}, {"b": 1}, "given twice"),
        ({1: 1}, None, "the keyword 1 is no string"),
    ],
)
def test_inputs_of_another_form_are_refused_in_words(inputs: Any, kwargs: Any, told: str) -> None:
    with pytest.raises(UsageError, match=told):
        signature.arguments(inputs, kwargs)


@pytest.mark.parametrize(
    ("leaf", "told"),
    [
        (object(), "type builtins.object cannot be keyed"),
        ({"a": {1, 2}}, "type builtins.set cannot be keyed"),
        (torch.eye(2).to_sparse(), "layout torch.sparse_coo cannot be keyed"),
        (torch.nested.nested_tensor([torch.ones(1)], layout=torch.jagged), "inner tensors"),
    ],
    ids=["object", "set", "sparse", "nested"],
)
@pytest.mark.filterwarnings("ignore")
def test_inputs_that_cannot_be_keyed_are_refused_in_words(leaf: Any, told: str) -> None:
    with pytest.raises(UsageError, match=told):
        alike(leaf, leaf)


@pytest.mark.parametrize(
    "enter",
    [
        torch.no_grad,
        lambda: torch.autocast("cpu", dtype=torch.bfloat16),
        lambda: torch.autocast("cpu", dtype=torch.float16),
        lambda: torch.autocast("cpu", cache_enabled=False),
    ],
    ids=["no grad", "autocast to bfloat16", "autocast to float16", "autocast without cache"],
)
def test_a_mode_is_told_from_the_plain_one_and_known_again(enter: Callable[[], Any]) -> None:
    plain = signature.mode()
    with enter():
        there = signature.mode()
        assert there()
        assert not plain()

    assert plain()
    assert not there()
    with enter():
        assert there()


def test_autocast_modes_are_told_apart_by_dtype() -> None:
    with torch.autocast("cpu", dtype=torch.bfloat16):
        there = signature.mode()
    with torch.autocast("cpu", dtype=torch.float16):
        assert not there()


def test_autocast_of_another_device_type_is_another_mode() -> None:
    plain = signature.mode()
    torch.set_autocast_enabled("cuda", True)
    try:
        assert not plain()
    finally:
        torch.set_autocast_enabled("cuda", False)


@pytest.mark.parametrize(
    ("change", "back"),
    [
        (
            lambda: torch.set_num_threads(1 + torch.get_num_threads()),
            lambda: torch.set_num_threads(torch.get_num_threads() - 1),
        ),
        (lambda: torch.set_default_dtype(torch.float64), lambda: torch.set_default_dtype(torch.float32)),
        (lambda: torch.use_deterministic_algorithms(True), lambda: torch.use_deterministic_algorithms(False)),
    ],
    ids=["threads", "default dtype", "deterministic algorithms"],
)
def test_threads_default_dtype_and_deterministic_algorithms_count(
    change: Callable[[], None], back: Callable[[], None]
) -> None:
    same = signature.mode()
    change()
    try:
        assert not same()
    finally:
        back()
    assert same()


def test_options_key_by_name_and_value_in_any_order() -> None:
    assert signature.of_options({"a": 1, "b": 2}) == signature.of_options({"b": 2, "a": 1})
    assert signature.of_options({"a": 1}) != signature.of_options({"a": True})
    assert signature.of_options(None) == signature.of_options({}) == ()
