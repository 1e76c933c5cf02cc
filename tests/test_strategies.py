"""The contract of a strategy, over every strategy there is: a new file is tested without touching this one."""

from __future__ import annotations

import gc
import random
import weakref
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import expectations
import pytest
import torch
from torch import nn

from pcbench import discovery, torch_names
from pcbench.errors import ModelDiedError
from pcbench.models import dataclass_io
from pcbench.runner import agreement, artifact
from pcbench.strategies import Strategy, one_line, round_trip

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("default"), pytest.mark.xdist_group("contract")]

NAMES = discovery.strategy_names()
WORKING = [name for name in NAMES if expectations.unavailable(name) is None]

Artifacts = Callable[[str], artifact.Artifact]


def strategy(name: str) -> Strategy:
    return discovery.load("pcbench.strategies", name, "STRATEGY", Strategy)


class Noisy(nn.Module):
    """Takes an argument and a keyword; holds a buffer, a frozen parameter and dropout in inference mode."""

    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(4, 4)
        self.linear.bias.requires_grad_(False)
        self.norm = nn.BatchNorm1d(4)
        self.drop = nn.Dropout()

    def forward(self, x: torch.Tensor, *, scale: torch.Tensor) -> dict[str, torch.Tensor]:
        return {"y": self.drop(self.norm(self.linear(x))) * scale}


def made(seed: int = 0) -> tuple[nn.Module, tuple[Any, ...], dict[str, Any]]:
    torch.manual_seed(seed)
    model = Noisy()
    model(torch.randn(8, 4), scale=torch.ones(4))["y"].sum().backward()
    return model.eval(), (torch.randn(8, 4),), {"scale": torch.rand(4)}


def saved(name: str, folder: Path) -> artifact.Artifact:
    model, args, kwargs = made()
    with torch.no_grad():
        description = artifact.describe(name, strategy(name), model, args, kwargs)
        return artifact.save(artifact.capture(description, strategy(name), model, args, kwargs), folder)


@pytest.fixture(scope="module")
def artifacts(tmp_path_factory: pytest.TempPathFactory) -> Artifacts:
    """The artifact of a strategy, alone in its folder; captured once for the tests that only read it."""
    return cache(lambda name: saved(name, tmp_path_factory.mktemp(name) / "artifact"))


@pytest.mark.parametrize("name", WORKING)
def test_capture_and_save_leave_the_model_and_the_random_state_as_they_were(name: str, tmp_path: Path) -> None:
    model, args, kwargs = made()
    state = {key: value.clone() for key, value in model.state_dict().items()}
    grads = [p.grad for p in model.parameters()]
    grad_values = [g.clone() for g in grads if g is not None]
    flags = [(module.training, [p.requires_grad for p in module.parameters()]) for module in model.modules()]
    attributes = {key: set(vars(module)) for key, module in model.named_modules()}
    randoms = torch.get_rng_state(), random.getstate()
    inputs = args[0].clone(), kwargs["scale"].clone()
    with torch.no_grad():
        description = artifact.describe(name, strategy(name), model, args, kwargs)
        captured = artifact.capture(description, strategy(name), model, args, kwargs)
        artifact.save(captured, tmp_path / "artifact")

    assert all(torch.equal(value, state[key]) for key, value in model.state_dict().items())
    assert all(p.grad is g for p, g in zip(model.parameters(), grads, strict=True))
    assert all(torch.equal(g, v) for g, v in zip(filter(lambda g: g is not None, grads), grad_values, strict=True))
    assert flags == [(m.training, [p.requires_grad for p in m.parameters()]) for m in model.modules()]
    assert attributes == {key: set(vars(module)) for key, module in model.named_modules()}
    assert torch.equal(torch.get_rng_state(), randoms[0])
    assert random.getstate() == randoms[1]
    assert torch.equal(args[0], inputs[0])
    assert torch.equal(kwargs["scale"], inputs[1])


@pytest.mark.parametrize("name", WORKING)
def test_save_writes_its_folder_alone_and_a_manifest_that_lists_each_file(name: str, artifacts: Artifacts) -> None:
    made_artifact = artifacts(name)

    assert [p.name for p in made_artifact.folder.parent.iterdir()] == ["artifact"]
    files = {p.relative_to(made_artifact.folder).as_posix() for p in made_artifact.folder.rglob("*") if p.is_file()}
    assert files - {"manifest.json", "manifest.sig"} == set(made_artifact.manifest.files)
    assert made_artifact.manifest.weights == strategy(name).weights


@pytest.mark.parametrize("name", WORKING)
def test_a_runner_is_called_as_the_model_is_and_shows_whether_weights_are_baked(
    name: str, artifacts: Artifacts
) -> None:
    made_artifact, (model, args, kwargs) = artifacts(name), made()
    other, _, _ = made(seed=1)
    with torch.no_grad():
        artifact.require_here(artifact.opened(made_artifact.folder), name)
        runner = strategy(name).load(made_artifact.folder, other)
        answer = runner(*args, **kwargs)
        expected = {"baked": model, "passed": other}[strategy(name).weights](*args, **kwargs)

    assert agreement.difference(expected, answer) is None


@pytest.mark.parametrize("name", WORKING)
def test_a_runner_does_not_keep_its_model_alive_and_says_so_when_it_needed_it(name: str, artifacts: Artifacts) -> None:
    made_artifact, (model, args, kwargs) = artifacts(name), made()
    with torch.no_grad():
        runner = strategy(name).load(made_artifact.folder, model)
        expected = model(*args, **kwargs)
        runner(*args, **kwargs)
        dead = weakref.ref(model)
        del model
        gc.collect()

        assert dead() is None
        if strategy(name).weights == "passed":
            with pytest.raises(ModelDiedError, match="has been freed"):
                runner(*args, **kwargs)
        else:
            assert agreement.difference(expected, runner(*args, **kwargs)) is None


@pytest.mark.parametrize("name", WORKING)
def test_nested_dataclasses_come_back_as_they_left(name: str, tmp_path: Path) -> None:
    model = dataclass_io.MODEL.build()
    args, kwargs = dataclass_io.MODEL.inputs()
    with torch.no_grad():
        description = artifact.describe(name, strategy(name), model, args, kwargs)
        captured = artifact.capture(description, strategy(name), model, args, kwargs)
        opened = artifact.save(captured, tmp_path / "artifact")
        answer = strategy(name).load(opened.folder, model)(*args, **kwargs)

    assert isinstance(answer, dataclass_io.Output)
    assert isinstance(answer.pooled, dataclass_io.Pooled)


@pytest.mark.parametrize("name", WORKING)
def test_a_probe_that_cannot_says_why(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for key, known in torch_names.NAMES.items():
        if known.module.startswith(("torch.export", "torch._inductor", "torch.compiler", "torch._dynamo.package")):
            monkeypatch.setitem(torch_names.NAMES, key, torch_names.Name("torch", "gone", "a test", ("2.15.0",)))

    reason = strategy(name).probe()

    assert reason is not None
    assert "this torch has no" in reason or "has no torch.compiler.precompile" in reason


@pytest.mark.parametrize("name", NAMES)
def test_a_probe_gives_a_reason_where_this_torch_lacks_something_and_none_elsewhere(name: str) -> None:
    reason, lacking = strategy(name).probe(), expectations.unavailable(name)

    assert reason is None if lacking is None else lacking in str(reason)


def test_a_probe_of_a_strategy_that_is_broken_raises_and_does_not_call_it_unavailable() -> None:
    def broken(*_: object) -> None:
        raise AttributeError("a typo")

    with pytest.raises(AttributeError, match="a typo"):
        round_trip(broken, broken, broken)
    with pytest.raises(ArithmeticError, match="differs from eager's"):
        round_trip(lambda m, a, k: None, lambda c, f: None, lambda f, m: torch.zeros_like)


def test_a_folder_that_exists_is_not_written_over(artifacts: Artifacts) -> None:
    with pytest.raises(artifact.ArtifactError, match="exists already"):
        saved("export", artifacts("export").folder)


def test_an_artifact_made_without_gradients_is_refused_with_them(artifacts: Artifacts) -> None:
    with pytest.raises(artifact.ArtifactError, match=r"without gradients, this is with .*torch.no_grad"):
        artifact.require_here(artifact.opened(artifacts("export").folder), "export")


def test_a_save_that_fails_leaves_nothing(tmp_path: Path) -> None:
    def half(_: object, folder: Path) -> None:
        (folder / "half").write_bytes(b"half")
        raise OSError("disk full")

    failing = Strategy("", "baked", lambda: None, lambda m, a, k: None, half, lambda f, m: m)
    model, args, kwargs = made()
    with torch.no_grad():
        description = artifact.describe("failing", failing, model, args, kwargs)
        with pytest.raises(OSError, match="disk full"):
            artifact.save(artifact.capture(description, failing, model, args, kwargs), tmp_path / "artifact")

    assert list(tmp_path.iterdir()) == []


def test_an_error_is_one_line_with_what_its_first_line_announces() -> None:
    assert one_line(ValueError("\n  backend='inductor' raised:\nNo compiler\nmore")) == (
        "ValueError: backend='inductor' raised: No compiler"
    )
    assert one_line(ValueError("first\nsecond")) == "ValueError: first"
    assert one_line(ValueError()) == "ValueError"
