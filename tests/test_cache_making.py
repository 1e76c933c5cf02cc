"""What making a runner tries of marked dims, and what it leaves of the model and its inputs."""

from __future__ import annotations

from collections import UserDict
from typing import Any

import pytest
import torch
from torch import nn
from toy_strategies import toys as toys

import pcbench
from pcbench import torch_api
from pcbench.errors import ArtifactError, RunnerError, UsageError
from pcbench.runner import making

pytestmark = [pytest.mark.usefixtures("toys"), pytest.mark.filterwarnings("default")]

Cache = pcbench.ModelRunnerCache


class Trained(nn.Linear):
    """A call leaves gradients, and counts itself."""

    def __init__(self) -> None:
        super().__init__(4, 4)
        self.register_buffer("calls", torch.zeros(1))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.calls.add_(1)
        loss = super().forward(x).sum()
        loss.backward()
        return loss.detach()


class Sized(nn.Module):
    """Takes only sizes of the first dim that are in ``taken``, and tells which sizes it saw."""

    def __init__(self, taken: tuple[int, ...]) -> None:
        super().__init__()
        self.taken = taken

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if x.shape[0] not in self.taken:
            raise ValueError(f"no {x.shape[0]} today")
        SEEN.append(tuple(x.shape))
        return x + 1


class InPlace(nn.Module):
    """Changes its input; a copy changes it by something else."""

    by = 1

    def __deepcopy__(self, memo: object) -> InPlace:
        copied = InPlace()
        copied.by = 2
        return copied

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x.add_(self.by)


class Held(nn.Module):
    def forward(self, batch: Any) -> torch.Tensor:
        answer: torch.Tensor = batch["x"] + 1
        return answer


class Halves(nn.Module):
    """Two containers without weights; what is in them counts differently."""

    def __init__(self) -> None:
        super().__init__()
        self.left, self.right = nn.Sequential(nn.ReLU()), nn.Sequential()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        answer: torch.Tensor = self.left(x) - 2 * self.right(x)
        return answer


SEEN: list[tuple[int, ...]] = []


def marked(*shape: int, dims: dict[int, dict[str, int]]) -> torch.Tensor:
    x = torch.ones(*shape)
    for dim, limits in dims.items():
        torch_api.get("mark_dynamic")(x, dim, **limits)
    return x


@pytest.mark.parametrize("given", [None, 7.0])
@pytest.mark.parametrize("strategy", ["baked", "passed"])
def test_trying_another_size_leaves_gradients_and_buffers_as_they_were(given: float | None, strategy: str) -> None:
    model, cache = Trained(), Cache(strategy=strategy)
    if given is not None:
        model.weight.grad = torch.full((4, 4), given)
    before = model.weight.grad
    cache.load(model, marked(8, 4, dims={0: {}}))

    assert model.weight.grad is before
    assert before is None or torch.equal(before, torch.full((4, 4), 7.0))
    assert model.bias.grad is None
    assert model.calls.item() == 0


def test_every_marked_dim_is_tried_where_the_first_trial_leaves_one_as_it_was() -> None:
    SEEN.clear()
    Cache(strategy="baked").load(Sized((7, 8, 16)), marked(8, 6, dims={0: {"max": 8}, 1: {}}))

    assert {shape[0] for shape in SEEN} == {7, 8}
    assert {shape[1] for shape in SEEN} >= {6, 7}


def test_a_marked_dim_that_eager_takes_no_other_size_in_is_told_though_another_moved() -> None:
    cache = Cache(strategy="baked")
    with pytest.raises(RunnerError, match=r"takes no other size in a marked dim \(8 to 7: ValueError: no 7 today\)"):
        cache.load(Sized((8,)), marked(8, 6, dims={0: {"max": 8}, 1: {}}))

    assert len(cache) == 0


def test_a_dim_of_one_allowed_size_need_not_move() -> None:
    model, cache = Sized((8,)), Cache(strategy="baked")
    cache.load(model, marked(8, 6, dims={0: {"min": 8, "max": 8}, 1: {}}))

    assert len(cache) == 1


def test_a_wrong_answer_that_is_an_input_changed_in_place_is_noticed() -> None:
    x = marked(8, 4, dims={0: {}})
    with pytest.raises(RunnerError, match="did not keep the marked dims of InPlace dynamic"):
        Cache(strategy="baked").load(InPlace(), x)
    Cache(strategy="passed").load(InPlace(), x)

    assert torch.equal(x, torch.ones(8, 4))


def test_a_marked_tensor_that_cannot_be_resized_is_refused() -> None:
    batch: Any = UserDict(x=marked(8, 4, dims={0: {}}))
    with pytest.raises(UsageError, match="in a mapping that is no pytree node"):
        Cache(strategy="baked").load(Held(), (batch,))


@pytest.mark.parametrize("strategy", ["baked", "passed"])
def test_a_module_that_moved_to_another_container_is_seen(strategy: str) -> None:
    model, cache, x = Halves(), Cache(strategy=strategy), torch.ones(2, 4) - 2
    first = cache.load(model, x)
    model.right.append(model.left[0])
    del model.left[0]

    assert cache.load(model, x) is not first
    assert torch.equal(cache.load(model, x)(x), model(x))


class Recursive(nn.Linear):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        answer: torch.Tensor = self.cache(self, x)
        return answer


def test_a_model_that_asks_for_its_own_runner_while_it_is_captured_is_refused() -> None:
    model, cache = Recursive(4, 4), Cache(strategy="baked")
    model.cache = lambda model, x: cache.load(model, x)(x)

    with pytest.raises(UsageError, match="Recursive asks for a runner of itself while it is captured"):
        cache.load(model, torch.ones(2, 4))
    model.cache = lambda model, x: nn.functional.linear(x, model.weight)
    assert cache.load(model, torch.ones(2, 4))(torch.ones(2, 4)).shape == (2, 4)


@pytest.mark.parametrize("bound", [0, 1.5, "3"])
def test_a_bound_that_is_no_count_is_refused_at_once(bound: Any) -> None:
    with pytest.raises(UsageError, match="cannot be bound to"):
        Cache(bound)


def test_a_conjugate_view_is_an_input_like_any_other() -> None:
    class Absolute(nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return x.abs()

    x = torch.ones(2, dtype=torch.complex64).conj()
    assert torch.equal(Cache(strategy="baked").load(Absolute(), x)(x), torch.ones(2))


def test_another_default_device_is_another_kind_of_call() -> None:
    model, cache, x = nn.Linear(4, 4), Cache(strategy="baked"), torch.ones(2, 4)
    runner = cache.load(model, x)
    with torch.device("cpu"):
        other = cache.load(model, x)
        assert cache.load(model, x) is other

    assert other is not runner
    assert cache.load(model, x) is runner


def test_a_hint_is_said_once() -> None:
    with pytest.raises(RunnerError) as caught, making._said("export", nn.Linear(1, 1), "save"):
        raise ArtifactError("it is there", hint="remove it")

    assert str(caught.value) == "export could not save Linear: it is there (remove it)"
