"""The cache of runners over strategies that compile nothing: which call gets which runner."""

from __future__ import annotations

from collections import UserDict
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
import torch
from torch import nn
from toy_strategies import Toys
from toy_strategies import toys as toys

import pcbench
from pcbench.errors import RunnerError, UsageError
from pcbench.runner.cache import PROCESS_WIDE

pytestmark = pytest.mark.usefixtures("toys")

Cache = pcbench.ModelRunnerCache


class Sum(nn.Module):
    def forward(self, a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        return a + b


class Named(nn.Module):
    """Takes its keywords in the order in which they come."""

    def forward(self, **named: torch.Tensor) -> torch.Tensor:
        first, second = named.values()
        return first - second


class Growing(nn.Module):
    def forward(self, batch: Any) -> torch.Tensor:
        grown: torch.Tensor = batch["x"].add_(1)
        return grown


class Valued(nn.Linear):
    """Equal to every other: a look-up by ``__eq__`` takes two of these for one."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Valued)

    def __hash__(self) -> int:
        return 1


class Raising(nn.Linear):
    def __eq__(self, other: object) -> bool:
        raise ArithmeticError("models are not compared")

    __hash__ = nn.Linear.__hash__


class Unhashable(nn.Linear):
    def __eq__(self, other: object) -> bool:
        return self is other


@dataclass
class Inner:
    y: torch.Tensor


@dataclass
class Outer:
    inner: Inner


class Nested(nn.Module):
    def forward(self, x: torch.Tensor) -> Outer:
        return Outer(Inner(x + 1))


x = torch.ones(2, 4)


def test_the_class_has_one_cache_for_the_process_and_each_instance_its_own() -> None:
    model, cache = nn.Linear(4, 4), Cache(strategy="baked")
    first = Cache.load(model, x, strategy="baked")

    assert Cache.load(model, x, strategy="baked") is first
    assert cache.load(model, x) is not first
    assert (cache.hits, cache.misses, len(cache)) == (0, 1, 1)
    del model
    assert len(PROCESS_WIDE) == 0


def test_a_runner_is_called_as_the_model_and_by_run() -> None:
    model = Sum()
    runner = Cache(strategy="baked").load(model, (x,), {"b": x})

    assert torch.equal(runner(x, b=x), 2 * x)
    assert torch.equal(runner.run(x, b=x), 2 * x)


@pytest.mark.parametrize(
    ("given", "kwargs"),
    [((x, x), None), ([x, x], None), ({"a": x, "b": x}, None), (UserDict(a=x, b=x), None), (x, {"b": x})],
)
def test_inputs_may_be_a_tensor_a_sequence_or_any_mapping(given: Any, kwargs: Any) -> None:
    model, cache = Sum(), Cache(strategy="baked")

    assert cache.load(model, given, kwargs) is cache.load(model, given, kwargs)
    assert (cache.hits, cache.misses) == (1, 1)


def test_keywords_are_of_one_kind_in_any_order_and_reach_the_model_in_the_captured_one() -> None:
    model, cache = Named(), Cache(strategy="baked")
    runner = cache.load(model, {"b": x, "a": 2 * x})

    assert cache.load(model, {"a": 2 * x, "b": x}) is runner
    assert torch.equal(runner(a=2 * x, b=x), x - 2 * x)
    assert torch.equal(runner(b=x, a=2 * x), x - 2 * x)


def test_tensors_in_a_mapping_that_pytrees_do_not_see_are_left_as_they_were() -> None:
    model, cache = Growing(), Cache(strategy="baked")
    batch = UserDict(x=x.clone())
    runner = cache.load(model, (batch,))

    assert torch.equal(batch["x"], x)
    assert cache.load(model, (UserDict(x=x),)) is runner
    assert cache.load(model, ({"x": x.clone()},)) is not runner


def test_an_input_given_twice_has_a_runner_of_its_own(toys: Toys) -> None:
    model, cache = Sum(), Cache(strategy="baked")
    runners = [cache.load(model, given) for given in ((x, x.clone()), (x, x), (x + 1, x + 1), (x + 1,) * 2)]

    assert runners[0] is runners[2]
    assert runners[1] is runners[3]
    assert len(toys.captures) == 2


def test_a_bare_tensor_is_one_argument() -> None:
    model = nn.Linear(4, 4)

    assert torch.equal(Cache(strategy="baked").load(model, x)(x), model(x))


@pytest.mark.parametrize("kind", [Valued, Raising])
def test_models_are_told_apart_by_identity_whatever_they_say_of_equality(kind: Callable[[int, int], nn.Module]) -> None:
    cache = Cache(strategy="baked")
    models = [kind(4, 4) for _ in range(3)]
    runners = [cache.load(model, x) for model in models]

    for model, runner in zip(models, runners, strict=True):
        assert cache.load(model, x) is runner
        assert torch.equal(runner(x), model(x))
    assert (cache.hits, cache.misses) == (3, 3)


def test_a_model_that_torch_cannot_hash_is_refused_with_what_to_add() -> None:
    with pytest.raises(RunnerError, match=r"Unhashable is unhashable .*__hash__ = torch.nn.Module.__hash__"):
        Cache(strategy="baked").load(Unhashable(4, 4), x)


@pytest.mark.parametrize(
    "enter", [torch.no_grad, torch.inference_mode, lambda: torch.autocast("cpu", dtype=torch.bfloat16)]
)
def test_each_mode_has_its_runner(enter: Callable[[], Any]) -> None:
    model, cache = nn.Linear(4, 4), Cache(strategy="baked")
    plain = cache.load(model, x)
    with enter():
        other = cache.load(model, x)
        assert cache.load(model, x) is other

    assert other is not plain
    assert cache.load(model, x) is plain
    assert (cache.hits, cache.misses) == (2, 2)


def test_training_flags_of_submodules_key_and_a_mode_that_comes_back_is_a_hit() -> None:
    model, cache = nn.Sequential(nn.Linear(4, 4), nn.Dropout()).eval(), Cache(strategy="baked")
    runners = [cache.load(model, x)]
    for change in (model[1].train, model.train, model.eval):
        change()
        runners.append(cache.load(model, x))

    assert len(set(map(id, runners[:3]))) == 3
    assert runners[3] is runners[0]


def test_strategy_and_options_key_and_options_are_in_effect_during_the_capture(toys: Toys) -> None:
    model, cache = nn.Linear(4, 4), Cache(strategy="baked")
    runners = {
        id(cache.load(model, x)),
        id(cache.load(model, x, strategy="passed")),
        id(cache.load(model, x, options={"max_autotune": True})),
        id(cache.load(model, x, options={"max_autotune": False})),
    }

    assert len(runners) == 4
    assert toys.captures == [("baked", False), ("passed", False), ("baked", True), ("baked", False)]
    tuned = Cache(strategy="baked", options={"max_autotune": True})
    tuned.load(model, x)
    assert toys.captures[-1] == ("baked", True)


def test_options_that_make_no_difference_or_do_not_exist_are_refused() -> None:
    cache = Cache()
    with pytest.raises(UsageError, match="passed takes no options"):
        cache.load(nn.Linear(4, 4), x, strategy="passed", options={"max_autotune": True})
    with pytest.raises(UsageError, match=r"no entry .* 'max_autotuen'.*did you mean 'max_autotune'"):
        cache.load(nn.Linear(4, 4), x, strategy="baked", options={"max_autotuen": True})
    assert len(cache) == 0


def test_what_is_no_model_is_refused() -> None:
    looped = nn.Module()
    looped.add_module("self", looped)
    for wrong in (lambda x: x, looped):
        with pytest.raises(UsageError, match=r"cannot be looked into|is it a part of itself"):
            Cache(strategy="baked").load(wrong, x)  # type: ignore[arg-type]
    looped.__dict__["_modules"].clear()


def test_dataclasses_that_become_pytree_nodes_are_told() -> None:
    cache, later = Cache(strategy="baked"), Cache(strategy="baked")
    answer = cache.load(Nested(), x)(x)
    later.load(Nested(), x)

    assert torch.equal(answer.inner.y, x + 1)
    assert cache.registered == (f"{__name__}:Outer", f"{__name__}:Inner")
    assert later.registered == ()


def test_loading_changes_neither_the_model_nor_random_state() -> None:
    model = nn.Sequential(nn.Linear(4, 4), nn.BatchNorm1d(4), nn.Dropout()).train()
    state = {name: value.clone() for name, value in model.state_dict().items()}
    random_state = torch.get_rng_state()
    Cache(strategy="baked").load(model, x)

    assert all(torch.equal(value, state[name]) for name, value in model.state_dict().items())
    assert all(parameter.grad is None for parameter in model.parameters())
    assert torch.equal(torch.get_rng_state(), random_state)
