import gc
import weakref

import pytest
import torch
from torch import nn

import pcbench
from pcbench import torch_names
from pcbench.errors import UnavailableError

pytestmark = pytest.mark.filterwarnings("default")


def step(model: nn.Module, x: torch.Tensor) -> torch.Tensor:
    loss = model(x).square().mean()
    loss.backward()
    return loss


def test_the_pair_is_text_and_bytes_and_takes_the_model_again() -> None:
    model, x = nn.Linear(3, 2), torch.randn(4, 3)
    with torch.no_grad():
        code, cache = pcbench.precompile(lambda m, x: m(x), model, x, backend="eager")
        run = pcbench.precompile.load(code, cache)
        other = nn.Linear(3, 2)

        assert isinstance(code, str)
        assert isinstance(cache, bytes)
        assert torch.allclose(run(model, x), model(x))
        assert torch.allclose(run(other, x), other(x))


def test_a_capture_of_a_training_step_leaves_gradients_and_buffers_as_they_were() -> None:
    model = nn.Sequential(nn.Linear(3, 3), nn.BatchNorm1d(3))
    x = torch.randn(4, 3)
    state = {name: value.clone() for name, value in model.state_dict().items()}
    random_state = torch.get_rng_state()

    pcbench.precompile(step, model, x, backend="eager")

    assert all(p.grad is None for p in model.parameters())
    assert all(torch.equal(value, state[name]) for name, value in model.state_dict().items())
    assert torch.equal(torch.get_rng_state(), random_state)


def test_a_loaded_training_step_accumulates_gradients_as_eager_does() -> None:
    model, x = nn.Linear(3, 2), torch.randn(4, 3)
    step(model, x)
    eager = [p.grad.clone() for p in model.parameters() if p.grad is not None]
    model.zero_grad()
    run = pcbench.precompile.load(*pcbench.precompile(step, model, x, backend="eager"))
    run(model, x)
    run(model, x)

    assert all(
        p.grad is not None and torch.allclose(p.grad, 2 * g) for p, g in zip(model.parameters(), eager, strict=True)
    )


def test_the_loaded_callable_outlives_its_files_and_does_not_keep_the_model() -> None:
    model, x = nn.Linear(3, 2), torch.randn(4, 3)
    with torch.no_grad():
        run = pcbench.precompile.load(*pcbench.precompile(lambda m, x: m(x), model, x, backend="eager"))
        run(model, x)
        dead = weakref.ref(model)
        del model
        gc.collect()

        assert dead() is None
        assert run(nn.Linear(3, 2), x).shape == (4, 2)


def test_decompositions_reach_the_trace() -> None:
    used: list[bool] = []

    def decomposed(x: torch.Tensor) -> torch.Tensor:
        used.append(True)
        return torch.where(x > 0, x, torch.zeros_like(x))

    pcbench.precompile(
        torch.relu, torch.randn(3), backend="eager", decompositions={torch.ops.aten.relu.default: decomposed}
    )

    assert used


def test_the_planned_tracer_is_not_implemented_and_an_unknown_one_is_an_error() -> None:
    with pytest.raises(NotImplementedError):
        pcbench.precompile(torch.relu, torch.randn(3), tracer="dynamo")
    with pytest.raises(ValueError, match="no tracer 'make_fy'"):
        pcbench.precompile(torch.relu, torch.randn(3), tracer="make_fy")


def test_a_torch_without_it_says_which_torch_has_it(monkeypatch: pytest.MonkeyPatch) -> None:
    name = torch_names.Name("torch.compiler", "no_such_name", "a test", ("2.14.1",))
    monkeypatch.setitem(torch_names.NAMES, "precompile", name)

    with pytest.raises(UnavailableError, match=r"has no torch.compiler.precompile \(torch 2.14 and later have it\)"):
        pcbench.precompile(torch.relu, torch.randn(3))
    with pytest.raises(UnavailableError, match=r"torch 2\.14 and later"):
        pcbench.precompile.load("", b"")
