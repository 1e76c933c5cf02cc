"""Dims that inputs mark: every strategy keeps them dynamic, or says why it cannot; none fixes them in silence."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import expectations
import pytest
import torch
from torch import nn

from pcbench import discovery, pytrees, torch_api
from pcbench.models import Model
from pcbench.strategies import Runner, Strategy, _marked

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("default"), pytest.mark.xdist_group("marks")]

NAMES = [n for n in discovery.strategy_names() if expectations.unavailable(n) is None]
ABLE = [n for n in NAMES if n != "precompile_eager"]

Call = tuple[tuple[Any, ...], dict[str, Any]]


@dataclass
class Pair:
    """Two tensors of one batch."""

    left: torch.Tensor
    right: torch.Tensor


class Nested(nn.Module):
    """A dataclass and a dict by keyword, whose tensors share a batch."""

    def forward(self, pair: Pair, *, extra: dict[str, torch.Tensor]) -> torch.Tensor:
        return pair.left * 2 + pair.right.sum(-1, keepdim=True) + extra["bias"]


class Fixing(nn.Module):
    """Fixes its batch to the size that it is traced with."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x * 2 if x.shape[0] == 8 else x


@pytest.fixture(autouse=True)
def no_log_of_archives(monkeypatch: pytest.MonkeyPatch) -> None:
    """torch 2.11 logs a warning there with an argument too few, which pytest's handler turns into a failure."""
    monkeypatch.setattr(logging.getLogger("torch._export.serde.serialize"), "disabled", True)


def mark(tensor: torch.Tensor, **bounds: int) -> torch.Tensor:
    torch_api.get("mark_dynamic")(tensor, 0, **bounds)
    return tensor


def nested(batch: int) -> Call:
    random = torch.Generator().manual_seed(batch)
    left, right = (mark(torch.randn(batch, 4, generator=random)) for _ in range(2))
    return (Pair(left, right),), {"extra": {"bias": torch.randn(4, generator=random)}}


def loaded(name: str, model: nn.Module, call: Call, folder: Path) -> Runner:
    strategy = discovery.load("pcbench.strategies", name, "STRATEGY", Strategy)
    pytrees.register(call)
    strategy.save(strategy.capture(model, *call), folder)
    return strategy.load(folder, model)


@pytest.mark.parametrize("name", ABLE)
def test_other_sizes_of_a_marked_dim_in_nested_inputs_run_without_compiling(name: str, tmp_path: Path) -> None:
    model = Nested().eval()
    with torch.no_grad():
        runner = loaded(name, model, nested(8), tmp_path)
        args, kwargs = nested(8)
        runner(*args, **kwargs)
        before = torch_api.frames_compiled()
        for batch in (8, 3, 21):
            args, kwargs = nested(batch)
            assert torch.allclose(runner(*args, **kwargs), model(*args, **kwargs))

        assert torch_api.frames_compiled() == before


@pytest.mark.parametrize("name", NAMES)
def test_a_capture_leaves_the_marks_of_its_inputs_as_they_were(name: str, tmp_path: Path) -> None:
    x, plain = mark(torch.ones(8, 4), min=2, max=64), torch.ones(8, 4)
    before = dict(vars(x))
    bounds = set(vars(x)[torch_api.MARKED_RANGES])
    strategy = discovery.load("pcbench.strategies", name, "STRATEGY", Strategy)
    with torch.no_grad():
        if name in ABLE:
            strategy.save(strategy.capture(nn.Linear(4, 4).eval(), (x,), {}), tmp_path)
        else:
            with pytest.raises(NotImplementedError, match="only supported with backend='inductor'"):
                strategy.capture(nn.Linear(4, 4).eval(), (x,), {})

    assert vars(x) == before
    assert vars(x)[torch_api.MARKED_RANGES] == bounds
    assert vars(plain) == {}


@pytest.mark.parametrize("name", NAMES)
def test_a_model_that_fixes_a_marked_dim_is_not_captured(name: str, tmp_path: Path) -> None:
    with torch.no_grad(), pytest.raises(Exception, match=r"specialized it|mark_unbacked"):
        loaded(name, Fixing().eval(), ((mark(torch.ones(8, 4)),), {}), tmp_path)


@pytest.mark.parametrize("name", [n for n in ABLE if n in ("export", "aot_compile", "precompile_inductor")])
def test_a_size_beyond_the_bounds_of_a_mark_is_refused(name: str, tmp_path: Path) -> None:
    model = nn.Linear(4, 4).eval()
    with torch.no_grad():
        runner = loaded(name, model, ((mark(torch.ones(8, 4), min=4, max=16),), {}), tmp_path)
        runner(torch.ones(16, 4))

        with pytest.raises(Exception, match=r"<= 16|max=16|check failed"):
            runner(torch.ones(17, 4))


@pytest.mark.parametrize("name", ["aot_compile", "caching_precompile"])
def test_an_unmarked_dim_stays_fixed_after_captures_of_other_sizes(name: str, tmp_path: Path) -> None:
    model = nn.Linear(4, 4).eval()
    with torch.no_grad():
        for batch in (8, 6):
            (tmp_path / str(batch)).mkdir()
            runner = loaded(name, model, ((torch.ones(batch, 4),), {}), tmp_path / str(batch))
        before = torch_api.frames_compiled()
        if name == "aot_compile":
            with pytest.raises(RuntimeError, match="expected 6, actual 5"):
                runner(torch.ones(5, 4))
        else:
            runner(torch.ones(5, 4))
            assert torch_api.frames_compiled() == before + 1


def test_a_copy_without_marks_shares_data_and_keeps_tensors_that_are_one_tensor() -> None:
    x, seen = mark(torch.ones(3, 2), min=2).requires_grad_(), []
    first, second, number = _marked.unmarked_copies((x, x, 7), lambda tensor, dims: seen.append(dims))

    assert first is second
    assert (first.data_ptr(), first.requires_grad, vars(first)) == (x.data_ptr(), True, {})
    assert number == 7
    assert seen == [{0: (2, None)}]


def test_the_model_with_a_marked_batch_names_three_sizes() -> None:
    model = discovery.load("pcbench.models", "dynamic_batch", "MODEL", Model)
    sizes = {name: made()[0][0].shape[0] for name, made in model.shapes.items()}

    assert sizes == {"batch_2": 2, "batch_7": 7, "batch_32": 32}
    assert _marked.has_marks(model.inputs())
