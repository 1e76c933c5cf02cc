"""What the cache of runners keeps, for how long, and what it leaves when something fails."""

from __future__ import annotations

import gc
import os
import weakref
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn
from toy_strategies import Toys
from toy_strategies import toys as toys

import pcbench
from pcbench.errors import RunnerError, UsageError
from pcbench.runner import weights

pytestmark = pytest.mark.usefixtures("toys")

Cache = pcbench.ModelRunnerCache

x = torch.ones(2, 4)


class Scale(nn.Module):
    def __init__(self, by: float) -> None:
        super().__init__()
        self.by = by

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x * self.by


def files(cache: Any) -> list[Path]:
    folder = cache._kept._folder
    return sorted(p for p in folder.iterdir() if not p.name.startswith(".")) if folder else []


def test_an_entry_and_its_files_die_with_the_model() -> None:
    cache = Cache(strategy="baked")
    model, other = nn.Linear(4, 4), nn.Linear(4, 4)
    for each in (model, other):
        cache.load(each, x)
        cache.load(each, x.double().float().t().contiguous().t())
    assert (len(cache), len(files(cache))) == (4, 4)
    del model, each
    gc.collect()

    assert (len(cache), len(files(cache))) == (2, 2)
    assert cache.evictions == 0


def test_a_model_at_a_dead_one_s_address_does_not_get_its_runner() -> None:
    cache = Cache(strategy="baked")
    seen: set[int] = set()
    for value in range(200):
        model = nn.Linear(4, 4)
        nn.init.constant_(model.weight, value)
        seen.add(id(model))
        assert torch.equal(cache.load(model, x)(x), model(x))
        del model

    assert len(seen) < 200, "no address was used again"
    assert cache.misses == 200


def test_the_cache_keeps_no_model_and_no_parameter_alive() -> None:
    model, cache = nn.Sequential(nn.Linear(4, 4)), Cache(strategy="passed")
    cache.load(model, x)
    old = [weakref.ref(model[0].weight), weakref.ref(model[0]), weakref.ref(model[0].bias.untyped_storage())]
    model[0] = nn.Linear(4, 4)
    gc.collect()
    assert [ref() for ref in old] == [None] * 3
    gone = weakref.ref(model)
    del model

    assert gone() is None


def test_beyond_the_bound_the_runner_that_was_not_used_for_longest_makes_room() -> None:
    cache = Cache(2, strategy="baked")
    models = [nn.Linear(4, 4) for _ in range(3)]
    first, second = (cache.load(model, x) for model in models[:2])
    assert cache.load(models[0], x) is first
    cache.load(models[2], x)

    assert (len(cache), len(files(cache)), cache.evictions) == (2, 2, 1)
    assert cache.load(models[0], x) is first
    assert cache.load(models[1], x) is not second
    assert torch.equal(second(x), models[1](x))
    with pytest.raises(UsageError, match="bound to 0"):
        Cache(0)


def test_hits_misses_and_evictions_are_counted_and_reading_them_changes_nothing() -> None:
    model, cache = nn.Linear(4, 4), Cache(strategy="baked")
    for _ in range(5):
        cache.load(model, x)
        assert cache.hits == cache.hits
    cache.clear()

    assert (cache.hits, cache.misses, cache.evictions, len(cache), files(cache)) == (4, 1, 0, 0, [])


def test_the_files_go_with_the_cache() -> None:
    model, cache = nn.Linear(4, 4), Cache(strategy="baked")
    runner = cache.load(model, x)
    (file,) = files(cache)
    del cache
    gc.collect()

    assert not file.parent.exists()
    assert torch.equal(runner(x), model(x))


@pytest.mark.parametrize("stage", ["capture", "save", "load"])
def test_a_failure_names_strategy_model_and_reason_and_leaves_nothing(toys: Toys, stage: str) -> None:
    cache, model = Cache(strategy="broken"), nn.Linear(4, 4)
    toys.fails = stage
    with pytest.raises(
        RunnerError, match=f"broken could not {stage} Linear: ArithmeticError: no {stage} today$"
    ) as told:
        cache.load(model, x)

    assert isinstance(told.value.__cause__, ArithmeticError)
    assert (len(cache), cache.misses, files(cache)) == (0, 1, [])
    toys.fails = ""
    cache.load(model, x)
    assert len(cache) == 1


def test_an_interrupted_capture_leaves_nothing(toys: Toys) -> None:
    def interrupt() -> None:
        raise KeyboardInterrupt

    toys.during = interrupt
    cache = Cache(strategy="baked")
    with pytest.raises(KeyboardInterrupt):
        cache.load(nn.Linear(4, 4), x)

    assert (len(cache), files(cache)) == (0, [])


def test_an_entry_that_outlives_its_model_is_not_that_of_another_at_its_address() -> None:
    model, cache = Scale(2.0), Cache(strategy="baked")
    cache.load(model, x)
    (key,) = cache._kept._entries
    with cache._kept._lock:  # held, so that nothing can be dropped
        address = id(model)
        del model
        others = [Scale(3.0)]
        while id(others[-1]) != address:
            assert len(others) < 10_000, "the address was not used again"
            others.append(Scale(3.0))

        assert len(cache) == 1
        assert cache._kept.find(key, [x], others[-1], weights.walk(others[-1])) is None


def test_a_forked_child_captures_into_a_folder_of_its_own() -> None:
    cache = Cache(strategy="baked")
    model = nn.Linear(4, 4)
    cache.load(model, x)
    before = files(cache)
    child = os.fork()
    if child == 0:
        try:
            cache.load(nn.Linear(4, 4), x)
            cache.clear()
        finally:
            os._exit(0 if set(files(cache)).isdisjoint(before) else 1)
    _, status = os.waitpid(child, 0)

    assert status == 0
    assert files(cache) == before
