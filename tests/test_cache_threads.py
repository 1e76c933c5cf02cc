"""The cache under threads and garbage collection at the worst of times."""

from __future__ import annotations

import gc
import sys
import threading
from collections.abc import Iterator

import pytest
import torch
from torch import nn
from toy_strategies import Toys, together
from toy_strategies import toys as toys

import pcbench

Cache = pcbench.ModelRunnerCache

x = torch.ones(2, 4)


@pytest.fixture(autouse=True)
def switching_all_the_time() -> Iterator[None]:
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


def test_eight_threads_that_ask_for_the_same_capture_once(toys: Toys) -> None:
    model, cache = nn.Linear(4, 4), Cache(strategy="baked")
    toys.slow_s = 0.05
    runners = together(8, lambda place: cache.load(model, x))

    assert len(set(map(id, runners))) == 1
    assert (len(toys.captures), cache.misses, cache.hits) == (1, 1, 7)


def test_captures_of_all_caches_happen_one_at_a_time(toys: Toys) -> None:
    toys.slow_s = 0.02
    models = [nn.Linear(4, 4) for _ in range(8)]
    together(8, lambda place: Cache(strategy="baked").load(models[place], x))

    assert len(toys.captures) == 8
    assert toys.most_at_once == 1


def test_a_hit_does_not_wait_for_a_capture(toys: Toys) -> None:
    model, other, cache = nn.Linear(4, 4), nn.Linear(4, 4), Cache(strategy="baked")
    first = cache.load(model, x)
    capturing, go_on = threading.Event(), threading.Event()

    def during() -> None:
        capturing.set()
        assert go_on.wait(60)

    toys.during = during
    thread = threading.Thread(target=lambda: cache.load(other, x))
    thread.start()
    assert capturing.wait(60)
    try:
        (found,) = together(1, lambda place: cache.load(model, x))
        assert found is first
        assert thread.is_alive()
    finally:
        go_on.set()
        thread.join(60)
    assert len(cache) == 2


def test_a_model_may_ask_the_cache_while_it_is_captured(toys: Toys) -> None:
    inner, cache = nn.Linear(4, 4), Cache(strategy="baked")
    toys.during = lambda: (setattr(toys, "during", lambda: None), cache.load(inner, x))

    cache.load(nn.Linear(4, 4), x)

    assert [name for name, _ in toys.captures] == ["baked", "baked"]


def test_hits_of_many_threads_are_all_counted(toys: Toys) -> None:
    model, cache = nn.Linear(4, 4), Cache(strategy="baked")
    cache.load(model, x)
    together(8, lambda place: [cache.load(model, x) for _ in range(500)])

    assert (cache.hits, cache.misses, len(toys.captures)) == (4000, 1, 1)


@pytest.mark.usefixtures("toys")
def test_a_model_that_dies_while_the_lock_is_held_goes_when_it_is_released() -> None:
    cache = Cache(strategy="baked")
    model = nn.Linear(4, 4)
    cache.load(model, x)
    with cache._kept._lock:
        del model
        gc.collect()
        assert len(cache) == 1
    assert cache.hits == 0

    assert len(cache) == 0


def test_models_that_die_in_cycles_during_look_ups_leave_nothing_and_block_nobody(toys: Toys) -> None:
    cache = Cache(64, strategy="baked")
    kept = [nn.Linear(4, 4) for _ in range(4)]
    before = gc.get_threshold()
    gc.set_threshold(20, 2, 2)

    def work(place: int) -> bool:
        right = True
        for number in range(25):
            model = nn.Linear(4, 4)
            nn.init.constant_(model.weight, 100 * place + number)
            model.itself = [model]  # type: ignore[assignment]  # a cycle: only the collector frees it, in any thread
            runner = cache.load(model, x)
            right = right and torch.equal(runner(x), model(x))
            right = right and torch.equal(cache.load(kept[number % 4], x)(x), kept[number % 4](x))
        return right

    try:
        results = together(8, work)
    finally:
        gc.set_threshold(*before)
    toys._shelf.clear()
    gc.collect()
    assert results == [True] * 8
    assert cache.hits + cache.misses == 8 * 25 * 2
    assert len(cache) == 4
