"""What guards cost: that each measure runs what its name says, and that a sweep grows with its size."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

from pcbench import guard_sampling, timing, torch_api
from pcbench.asking import Setting
from pcbench.errors import PcbenchError, UnavailableError
from pcbench.guard_samples import (
    BINDING,
    COLD_CHECK,
    DIRECT,
    HIT,
    LOADED_CALL,
    LOADED_CHECK,
    LOADED_UNCHECKED,
    MEASURES,
    SKIPPED,
    hit_at,
)
from pcbench.guards import cost, entries, loaded, subjects
from pcbench.guards.guarded import Guarded

HOME = Path(__file__).parent
FACTOR = 2.0


def scaled(x: torch.Tensor) -> torch.Tensor:
    return x * FACTOR


def breaking_the_graph(x: torch.Tensor) -> torch.Tensor:
    x = x + 1
    torch._dynamo.graph_break()
    return x * 2


def without_inputs() -> torch.Tensor:
    return torch.ones(2) * FACTOR


class Small(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(2, 2)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.linear(x)


@pytest.fixture(autouse=True)
def _nothing_compiled_before() -> None:
    torch._dynamo.reset()


def test_the_direct_call_answers_what_its_guards_would_refuse(monkeypatch: pytest.MonkeyPatch) -> None:
    with subjects.compiled(Guarded(scaled, (torch.ones(2),)), backend="eager") as subject:
        direct, check = subject.frames[0].direct(), subject.checking()
        assert check() is True
        monkeypatch.setitem(globals(), "FACTOR", 3.0)

        assert check() is False
        assert torch.equal(direct(), torch.full((2,), 2.0))
        assert torch.equal(subject.call(), torch.full((2,), 3.0))


def test_a_check_has_nothing_of_torch_s_wrapper_in_python_around_it(monkeypatch: pytest.MonkeyPatch) -> None:
    with subjects.compiled(Guarded(scaled, (torch.ones(2),))) as subject:
        wrapper = type(subject.frames[0].manager)
        monkeypatch.setattr(wrapper, "check", lambda *words: pytest.fail("the wrapper was asked"))

        assert subject.checking()() is True


def test_a_call_that_skips_guards_answers_what_they_would_refuse(monkeypatch: pytest.MonkeyPatch) -> None:
    answers = {}

    def in_turn(calls: Any, *, around: Any, **_: Any) -> dict[str, list[float]]:
        monkeypatch.setitem(globals(), "FACTOR", 3.0)
        for name in (SKIPPED, HIT):
            with around.get(name, nullcontext)():
                answers[name] = calls[name]()
        monkeypatch.setitem(globals(), "FACTOR", 2.0)
        return {name: [1.0] for name in calls}

    monkeypatch.setattr(timing, "in_turn", in_turn)
    with subjects.compiled(Guarded(scaled, (torch.ones(2),)), backend="eager") as subject:
        cost.cost(subject)

    assert torch.equal(answers[SKIPPED], torch.full((2,), 2.0))
    assert torch.equal(answers[HIT], torch.full((2,), 3.0))


def test_torch_s_own_number_is_in_microseconds_and_that_of_all_frames(monkeypatch: pytest.MonkeyPatch) -> None:
    with subjects.compiled(Guarded(breaking_the_graph, (torch.ones(2),))) as subject:
        monkeypatch.setattr(torch_api, "get", {"guard_profile": lambda root, f_locals, times: 3.0 * times}.get)

        assert cost._cold_check_s(subject) == pytest.approx(6e-6)


def test_guards_look_at_containers_as_they_were_before_the_call() -> None:
    def taking(x: torch.Tensor, **named: int) -> torch.Tensor:
        return x + named.pop("a")

    with subjects.compiled(Guarded(taking, (torch.ones(2),), {"a": 1, "b": 2})) as subject:
        assert subject.checking()() is True


def test_a_call_that_changes_what_its_guards_look_at_is_refused() -> None:
    def growing(x: torch.Tensor, given: list[int]) -> torch.Tensor:
        given.append(1)
        return x + len(given)

    refused = pytest.raises(PcbenchError, match="refuse a second call")
    with refused, subjects.compiled(Guarded(growing, (torch.ones(2), [1, 2]))):
        pass


def test_where_torch_would_compile_again_under_the_stance_all_but_that_measure_is_taken(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(cost, "_ROUNDS", 5)
    with subjects.compiled(Guarded(without_inputs, ())) as subject:
        found = cost.cost(subject)

    assert "stance" in found.unavailable[SKIPPED]
    assert found.samples["check"]


def test_the_direct_call_takes_more_arguments_keywords_and_a_closure() -> None:
    shift = torch.full((1,), 5.0)

    def function(x: torch.Tensor, *more: torch.Tensor, scale: float, **named: torch.Tensor) -> torch.Tensor:
        return (x + sum(more)) * scale + named["bias"] + shift

    one = torch.ones(1)
    with subjects.compiled(Guarded(function, (one, one), {"scale": 2.0, "bias": one}), backend="eager") as subject:
        assert torch.equal(subject.frames[0].direct()(), function(one, one, scale=2.0, bias=one))


def test_graphs_answer_from_memory_after_their_first_call() -> None:
    ran = []

    def graph(x: torch.Tensor) -> tuple[torch.Tensor]:
        ran.append(x)
        return (x + 1,)

    answer = subjects.canned(graph, ())
    first = answer(torch.zeros(1))

    assert answer(torch.ones(1)) is first
    assert len(ran) == 1


@pytest.mark.parametrize("place", [1, 2, 4])
def test_a_hit_is_found_at_the_place_in_the_cache_that_its_measure_names(place: int, monkeypatch) -> None:
    made = []
    copy = entries.own_code.copy
    monkeypatch.setattr(entries.own_code, "copy", lambda function: made.append(copy(function)) or made[-1])
    target = Guarded(scaled, (torch.ones(2),))
    with torch.no_grad():
        call = entries.hits(target, subjects.canned, 4, (place,))[place]
        for _ in range(2 * place):
            call()
    listed = torch_api.get("cache_entries")(made[0].__code__)
    f_locals = {"name": "entry 0", "function": scaled, "args": target.args, "kwargs": target.kwargs}
    with torch.no_grad():
        takes = [entry.guard_manager.check(f_locals) for entry in listed]

    assert len(listed) == 4
    assert takes.index(True) == place - 1


def test_a_loaded_function_is_timed_with_and_without_its_guards() -> None:
    model = Small().eval()
    with torch.no_grad():
        calls = loaded.calls(Guarded(model, (torch.ones(1, 2),)))
        answer = calls[LOADED_CALL]()
        bound, taken = calls[BINDING](), calls[LOADED_CHECK]()
        torch.set_num_threads(torch.get_num_threads() + 1)
        try:
            refused = calls[LOADED_CHECK]()
            with pytest.raises(RuntimeError, match="num_threads"):
                calls[LOADED_CALL]()
            unchecked = calls[LOADED_UNCHECKED]()
        finally:
            torch.set_num_threads(torch.get_num_threads() - 1)
        assert torch.equal(answer, model(torch.ones(1, 2)))
        assert torch.equal(unchecked, answer)
    assert "model" in bound
    assert (taken, refused) == (True, False)


@pytest.mark.parametrize(
    ("target", "reason"),
    [
        (Guarded(scaled, (torch.ones(2),)), "only models"),
        (Guarded(Small(), (torch.ones(1, 2),), grad=True), "backward"),
        (Guarded(nn.Sequential(nn.Linear(2, 2)), (torch.ones(1, 3),)), "cannot be saved and loaded"),
    ],
)
def test_what_cannot_be_loaded_says_why(target: Guarded, reason: str) -> None:
    with torch.no_grad(), pytest.raises(UnavailableError, match=reason):
        loaded.calls(target)


def test_a_cost_has_every_measure_or_the_reason_why_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cost, "_ROUNDS", 5)
    monkeypatch.setattr(cost, "_COLD_CHECKS", 2)
    with subjects.compiled(Guarded(breaking_the_graph, (torch.ones(2),))) as subject:
        found = cost.cost(subject)

    assert set(found.samples) | set(found.unavailable) == {*MEASURES, *(hit_at(k, 8) for k in (1, 2, 4, 8))}
    assert not set(found.samples) & set(found.unavailable)
    assert "2 compiled frames" in found.unavailable[DIRECT]
    assert all(taken and min(taken) > 0 for taken in found.samples.values())
    assert len(found.samples[COLD_CHECK]) == 2


def test_the_process_of_a_model_tells_its_cost() -> None:
    found = guard_sampling.cost(Setting("mlp", threads=1, cwd=HOME))

    assert found.unavailable == {}
    assert len({len(taken) for name, taken in found.samples.items() if name != COLD_CHECK}) == 1


@pytest.mark.slow
def test_every_model_has_a_census_and_a_cost() -> None:
    for model in ("dynamic_batch", "train_step", "dataclass_io", "tied_lm", "convnet"):
        setting = Setting(model, threads=1, cwd=HOME)
        assert guard_sampling.census(setting).differing == {}
        assert guard_sampling.cost(setting).samples["check"]
