"""When a model has changed under its runner: what is noticed, what need not be, and what cannot be."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import nn
from toy_strategies import Toys
from toy_strategies import toys as toys

import pcbench
from pcbench.errors import RunnerError

pytestmark = pytest.mark.usefixtures("toys")

Cache = pcbench.ModelRunnerCache
Change = Callable[[nn.Sequential], object]

x = torch.ones(2, 4)


class Affine(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.scale, self.shift = nn.Parameter(torch.rand(4)), nn.Parameter(torch.rand(4))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x * self.scale + self.shift


def made() -> nn.Sequential:
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(4, 4), nn.Linear(4, 4), nn.BatchNorm1d(4), Affine()).eval()
    model.register_buffer("unused", torch.zeros(1))
    return model


def step(model: nn.Sequential, kind: Callable[..., torch.optim.Optimizer]) -> None:
    optimizer = kind(model.parameters(), lr=0.1)
    model(x).sum().backward()
    optimizer.step()
    optimizer.zero_grad()


def assigned(model: nn.Sequential) -> None:
    model.load_state_dict({name: value + 1 for name, value in model.state_dict().items()}, assign=True)


def replace_data(model: nn.Sequential) -> None:
    made.kept = model[0].weight.data  # type: ignore[attr-defined]  # so that the old storage lives on
    model[0].weight.data = model[0].weight.data + 1


def half_and_back(model: nn.Sequential) -> None:
    with torch.no_grad():
        before = model[0].weight + 1e-6
    model[0].weight.data = before
    for _ in range(20):  # until the allocator gives the first address again, or does not
        model.half().float()


def swap(model: nn.Sequential) -> None:
    model[0], model[1] = model[1], model[0]


def swap_weights(model: nn.Sequential) -> None:
    model[0].weight, model[1].weight = model[1].weight, model[0].weight


def rename(model: nn.Sequential) -> None:
    scale, shift = model[3]._parameters.pop("scale"), model[3]._parameters.pop("shift")
    model[3]._parameters.update(shift=scale, scale=shift)


def tie(model: nn.Sequential) -> None:
    model[1].weight = model[0].weight


def transpose(model: nn.Sequential) -> None:
    model[0].weight.data = model[0].weight.data.t()


def run_in_training(model: nn.Sequential) -> None:
    model.train()
    model(torch.randn(8, 4))
    model.eval()


def no_grad(change: Change) -> Change:
    def changed(model: nn.Sequential) -> None:
        with torch.no_grad():
            change(model)

    return changed


STRUCTURE: dict[str, Change] = {
    "a replaced module": lambda model: model.__setitem__(1, nn.Linear(4, 4)),
    "modules in another order": swap,
    "an added module": lambda model: model.append(nn.ReLU()),
    "a removed module": lambda model: model.__delitem__(1),
    "an added parameter": lambda model: model.register_parameter("more", nn.Parameter(x)),
    "an added buffer": lambda model: model.register_buffer("more", x),
    "a parameter set to None": lambda model: setattr(model[0], "bias", None),
    "names": rename,
    "tied weights": tie,
    "an unused one's precision": lambda model: setattr(model.unused, "data", model.unused.data.half()),
    "transposed weights": transpose,
}

VALUES: dict[str, Change] = {
    "an in-place change": no_grad(lambda model: model[0].weight.add_(1)),
    "one through a view": no_grad(lambda model: model[0].weight[0].zero_()),
    "one of a detached tensor": lambda model: model[0].weight.detach().zero_(),
    "load_state_dict": lambda model: model.load_state_dict({k: v + 1 for k, v in model.state_dict().items()}),
    "load_state_dict with assign": assigned,
    "a step of SGD": lambda model: step(model, torch.optim.SGD),
    "a step of Adam over lists": lambda model: step(model, lambda p, lr: torch.optim.Adam(p, lr=lr, foreach=True)),
    "a step of fused Adam": lambda model: step(model, lambda p, lr: torch.optim.Adam(p, lr=lr, fused=True)),
    "a replaced parameter": lambda model: setattr(model[0], "weight", nn.Parameter(torch.ones(4, 4))),
    "swapped parameters": swap_weights,
    "a replaced buffer": lambda model: setattr(model[2], "running_mean", torch.ones(4)),
    "another storage": replace_data,
    "another storage at the first address": half_and_back,
    "a run of batch norm in training": run_in_training,
}


@pytest.mark.parametrize("what", [*STRUCTURE, *VALUES])
@pytest.mark.parametrize("mode", [torch.no_grad, torch.enable_grad])
def test_baked_weights_are_captured_again_after(toys: Toys, what: str, mode: Any) -> None:
    model, cache = made(), Cache(strategy="baked")
    with mode():
        first = cache.load(model, x)
        assert cache.load(model, x) is first
        with torch.enable_grad():
            (STRUCTURE | VALUES)[what](model)
        second = cache.load(model, x)

        assert second is not first
        assert torch.equal(second(x), model(x))
        assert cache.load(model, x) is second
    assert len(toys.captures) == 2


@pytest.mark.parametrize("what", VALUES)
def test_passed_weights_need_no_capture_and_give_the_new_answer_after(toys: Toys, what: str) -> None:
    model, cache = made(), Cache(strategy="passed")
    first = cache.load(model, x)
    VALUES[what](model)

    assert cache.load(model, x) is first
    assert cache.load(model, x) is first
    assert torch.equal(first(x), model(x))
    assert len(toys.captures) == 1


@pytest.mark.parametrize("what", STRUCTURE)
def test_passed_weights_are_captured_again_after(toys: Toys, what: str) -> None:
    model, cache = made(), Cache(strategy="passed")
    first = cache.load(model, x)
    STRUCTURE[what](model)

    assert cache.load(model, x) is not first
    assert len(toys.captures) == 2


def test_a_frozen_parameter_is_captured_again_where_gradients_are_on() -> None:
    model, cache = made(), Cache(strategy="passed")
    first = cache.load(model, x)
    model[0].weight.requires_grad_(False)

    assert cache.load(model, x) is not first


def test_a_step_on_another_model_is_no_reason_to_capture_again() -> None:
    model, cache = made(), Cache(strategy="baked")
    first = cache.load(model, x)
    step(made(), lambda p, lr: torch.optim.Adam(p, lr=lr, fused=True))

    assert cache.load(model, x) is first


UNSEEN: dict[str, Change] = {
    "a change in place through data": lambda model: model[0].weight.data.add_(1),
    "batch normalisation on its buffers": lambda model: nn.functional.batch_norm(
        torch.randn(8, 4), model[2].running_mean, model[2].running_var, training=True
    ),
}


@pytest.mark.parametrize("what", UNSEEN)
def test_what_torch_does_not_count_is_not_seen_by_baked_weights(what: str) -> None:
    model, cache = made(), Cache(strategy="baked")
    first = cache.load(model, x)
    before = model(x)
    UNSEEN[what](model)

    assert cache.load(model, x) is first
    assert torch.equal(first(x), before)
    assert not torch.equal(first(x), model(x))


@pytest.mark.parametrize("strategy", ["baked", "passed"])
def test_weights_made_in_inference_mode_are_watched_by_their_bytes(strategy: str) -> None:
    with torch.inference_mode():
        model, cache = made(), Cache(strategy=strategy)
        first = cache.load(model, x)
        assert cache.load(model, x) is first
        model[0].weight.data[0, 0] += 1
        second = cache.load(model, x)

        assert (second is first) == (strategy == "passed")
        assert torch.equal(second(x), model(x))


@pytest.mark.parametrize("strategy", ["baked", "passed"])
def test_a_model_with_a_sparse_weight_is_refused(strategy: str) -> None:
    model = made()
    model.register_buffer("sparse", torch.eye(2).to_sparse())

    with pytest.raises(RunnerError, match="unsupported memory format"):
        Cache(strategy=strategy).load(model, x)


def test_a_model_that_changes_during_its_capture_is_not_kept(toys: Toys) -> None:
    model, cache = made(), Cache(strategy="baked")
    toys.during = lambda: step(model, torch.optim.SGD)
    with pytest.raises(RunnerError, match="Sequential changed while baked captured it"):
        cache.load(model, x)

    assert len(cache) == 0


def test_stale_runners_of_a_model_are_dropped_when_it_is_captured_again() -> None:
    model, cache = made(), Cache(strategy="baked")
    for batch in (2, 3, 4):
        cache.load(model, torch.ones(batch, 4))
    with torch.no_grad():
        cache.load(model, x)
    step(model, torch.optim.SGD)
    cache.load(model, x)

    assert (len(cache), cache.evictions) == (1, 0)
