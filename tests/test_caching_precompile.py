"""caching_precompile as a strategy: torch.compile behaves in its process as it did before."""

from __future__ import annotations

import gc
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

from pcbench import torch_api
from pcbench.errors import ArtifactError
from pcbench.strategies import caching_precompile

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("default"), pytest.mark.xdist_group("caching_precompile")]


class Squared(nn.Module):
    """(batch, 4) float32 to the same."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.relu(x) ** 2 + 1


def tables() -> list[dict[str, Any]]:
    context = torch_api.get("precompile_context")
    return [dict(getattr(context, name)) for name in torch_api.PRECOMPILE_TABLES]


def round_trip(folder: Path) -> tuple[Any, nn.Module, torch.Tensor]:
    model, x = Squared().eval(), torch.randn(3, 4)
    caching_precompile.save(caching_precompile.capture(model, (x,), {}), folder)
    runner = caching_precompile.load(folder, model)
    assert torch.allclose(runner(x), model(x))
    return runner, model, x


def test_a_load_traces_nothing_and_other_inputs_are_compiled(tmp_path: Path) -> None:
    with torch.no_grad():
        runner, model, x = round_trip(tmp_path)
        before = torch_api.frames_compiled()
        runner(x)
        assert torch_api.frames_compiled() == before

        assert torch.allclose(runner(x.double()), model(x.double()))
        assert torch_api.frames_compiled() == before + 1


def test_torch_compile_behaves_afterwards_as_it_did_before(tmp_path: Path) -> None:
    config = torch_api.get("dynamo_config")
    settings, recorded = dict(config.get_config_copy()), tables()
    with torch.no_grad():
        round_trip(tmp_path)
        assert config.get_config_copy() == settings
        assert tables() == recorded

        x = torch.randn(5)
        assert torch.allclose(torch.compile(lambda y: y.sin() * 3)(x), x.sin() * 3)
        assert tables() == recorded


def test_what_others_recorded_is_still_theirs(tmp_path: Path) -> None:
    context = torch_api.get("precompile_context")
    with torch_api.get("dynamo_config").patch(caching_precompile=True), torch.no_grad():
        torch.compile(nn.Linear(2, 2))(torch.ones(1, 2))
        theirs = tables()
        assert all(theirs)
        round_trip(tmp_path)

        assert tables() == theirs
    context.clear()


def test_neither_capture_nor_load_touches_torchs_folder_of_such_entries(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    caches = tmp_path / "caches"
    caches.mkdir()
    monkeypatch.setenv("TORCHINDUCTOR_CACHE_DIR", str(caches))
    (tmp_path / "artifact").mkdir()
    with torch.no_grad():
        round_trip(tmp_path / "artifact")

    assert any(caches.iterdir())
    assert not (caches / "dynamo").exists()


def test_two_loads_of_an_artifact_do_not_depend_on_each_other(tmp_path: Path) -> None:
    with torch.no_grad():
        first, model, x = round_trip(tmp_path)
        other = Squared().eval()
        second = caching_precompile.load(tmp_path, other)
        assert torch.allclose(first(x), model(x))
        del first
        gc.collect()
        before = torch_api.frames_compiled()

        assert torch.allclose(second(x), other(x))
        assert torch_api.frames_compiled() == before


def test_a_model_whose_guards_cannot_be_saved_is_not_captured() -> None:
    class Local(nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return x + 1

    with torch.no_grad(), pytest.raises(Exception, match="local"):
        caching_precompile.capture(Local().eval(), (torch.ones(2),), {})


def test_a_capture_without_an_entry_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    context = torch_api.get("precompile_context")
    monkeypatch.setattr(context, "create_cache_entries", lambda: ({}, {}))
    with torch.no_grad(), pytest.raises(ArtifactError, match="made 0 entries"):
        caching_precompile.capture(Squared().eval(), (torch.ones(2, 4),), {})
