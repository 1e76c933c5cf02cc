"""The cache over the strategies that compile."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
import torch
from torch import nn

import pcbench
from pcbench import discovery, strategies, torch_api
from pcbench.errors import RunnerError
from pcbench.models import dataclass_io, mlp
from pcbench.runner import agreement, making
from pcbench.strategies import Strategy

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("default"), pytest.mark.xdist_group("contract")]

Cache = pcbench.ModelRunnerCache


class Fixed(nn.Module):
    """Takes any batch, and computes with the size of the one that it was traced with."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x * int(x.shape[0])


class Difference(nn.Module):
    def forward(self, a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        return a - b


class Refusing(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if x.shape[0] != 8:
            raise ValueError("a batch of 8, please")
        return x + 1


def batch(size: int) -> torch.Tensor:
    x = torch.randn(size, 64)
    torch_api.get("mark_dynamic")(x, 0)
    return x


def test_without_a_strategy_it_is_nativert_where_torch_has_it_and_export_elsewhere() -> None:
    probe = discovery.load("pcbench.strategies", "nativert", "STRATEGY", Strategy).probe

    assert making.default_strategy() == ("export" if probe() else "nativert")


@pytest.mark.parametrize("name", ["export", "aoti", "precompile_eager"])
@pytest.mark.parametrize("mode", [torch.no_grad, torch.enable_grad])
def test_a_runner_works_on_after_its_entry_and_its_files_are_gone(name: str, mode: type) -> None:
    if name == "precompile_eager" and torch_api.version() < "2.14":
        pytest.skip("this torch has no torch.compiler.precompile")
    model, (args, _) = mlp.MODEL.build(), mlp.MODEL.inputs()
    cache = Cache(strategy=name)
    with mode():
        runner = cache.load(model, args)
        assert cache.load(model, args) is runner
        folder = cache._kept._folder
        assert folder is not None
        assert len([p for p in folder.iterdir() if p.is_dir()]) == 1
        cache.clear()

        assert [p for p in folder.iterdir() if p.is_dir()] == []
        for given in (args[0], torch.randn(8, 64)):
            assert agreement.difference(model(given), runner(given)) is None


def test_nested_dataclasses_and_keywords_come_back_as_the_model_gives_them() -> None:
    model, (args, kwargs) = dataclass_io.MODEL.build(), dataclass_io.MODEL.inputs()
    runner = Cache(strategy="export").load(model, args, kwargs)

    assert agreement.difference(model(*args, **kwargs), runner.run(*args, **kwargs)) is None


@pytest.mark.parametrize("name", ["export", "precompile_eager"])
def test_keywords_may_come_in_another_order_than_in_the_capture(name: str) -> None:
    if name == "precompile_eager" and torch_api.version() < "2.14":
        pytest.skip("this torch has no torch.compiler.precompile")
    model, cache = Difference(), Cache(strategy=name)
    a, b = torch.randn(2, 4), torch.randn(2, 4)
    with torch.no_grad():
        runner = cache.load(model, {"b": b, "a": a})

        assert cache.load(model, {"a": a, "b": b}) is runner
        for answer in (runner(a=a, b=b), runner(b=b, a=a)):
            assert agreement.difference(a - b, answer) is None


def test_a_step_of_an_optimizer_is_a_capture_for_export_and_a_hit_for_precompile() -> None:
    model, (args, _) = mlp.MODEL.build(), mlp.MODEL.inputs()
    optimizer = torch.optim.Adam(model.parameters(), fused=True)
    cache = Cache()
    names = ["export", "precompile_eager"] if torch_api.version() >= "2.14" else ["export"]
    with torch.no_grad():
        first = [cache.load(model, args, strategy=name) for name in names]
    model(*args).sum().backward()
    optimizer.step()
    with torch.no_grad():
        second = [cache.load(model, args, strategy=name) for name in names]
        for runner in second:
            assert agreement.difference(model(*args), runner(*args)) is None

    assert second[0] is not first[0]
    assert second[1:] == first[1:]


@pytest.mark.parametrize("name", ["export", "aoti"])
def test_a_dim_marked_dynamic_stays_so(name: str) -> None:
    model = mlp.MODEL.build()
    cache = Cache(strategy=name)
    with torch.no_grad():
        runner = cache.load(model, batch(8))
        for size in (2, 5, 32):
            assert cache.load(model, batch(size)) is runner
            given = batch(size)
            assert agreement.difference(model(given), runner(given)) is None
    assert (cache.hits, cache.misses) == (3, 1)


@pytest.mark.parametrize("kind", [Fixed, Refusing])
def test_a_dim_that_does_not_stay_dynamic_is_a_failure_in_words(kind: type[nn.Module]) -> None:
    cache = Cache(strategy="export")
    with pytest.raises(RunnerError, match=f"export .*{kind.__name__}"):
        cache.load(kind(), batch(8))

    assert len(cache) == 0


def test_a_baked_size_is_seen_by_trying_another(monkeypatch: pytest.MonkeyPatch) -> None:
    def frozen(name: str) -> Strategy:  # noqa: ARG001  # as the function that it stands for
        return Strategy(
            "as traced", "baked", lambda: None, lambda m, a, k: None, lambda c, f: None, lambda f, m: lambda x: x * 8
        )

    monkeypatch.setattr(strategies, "named", frozen)
    with pytest.raises(RunnerError, match=r"toy did not keep the marked dims of Fixed dynamic: output 0 differs"):
        Cache(strategy="toy").load(Fixed(), batch(8))


def test_files_are_gone_after_the_interpreter_and_those_of_a_killed_one_after_the_next(tmp_path: Path) -> None:
    script = (
        "import os, sys, tempfile, torch, pcbench; tempfile.tempdir = sys.argv[1];"
        "m = torch.nn.Linear(2, 2); r = pcbench.ModelRunnerCache.load(m, torch.ones(1, 2), strategy='export');"
        "print(os.listdir(sys.argv[1]));"
        "os.kill(os.getpid(), 9) if sys.argv[2] == 'killed' else None"
    )
    left = []
    for how in ("killed", "ended"):
        done = subprocess.run(
            [sys.executable, "-c", script, str(tmp_path), how], capture_output=True, text=True, timeout=120, check=False
        )
        assert "pcbench-scratch-" in done.stdout, done.stderr
        left.append(len(list(tmp_path.glob("pcbench-scratch-*"))))

    assert left == [1, 0]
