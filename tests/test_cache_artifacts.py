"""What of torch's caches an artifact of cache_artifacts holds, and what becomes of a model that they bypass."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

from pcbench import torch_api
from pcbench.errors import ArtifactError
from pcbench.strategies import cache_artifacts

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("default"), pytest.mark.xdist_group("cache_artifacts")]


def made(width: int) -> tuple[nn.Module, tuple[Any, ...], dict[str, Any]]:
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(width, width), nn.ReLU()).eval(), (torch.randn(4, width),), {}


def keys(captured: bytes | ArtifactError) -> set[tuple[str, str]]:
    assert isinstance(captured, bytes)
    found = torch_api.get("cache_artifacts").deserialize(captured)
    return {(kind, artifact.key) for kind, artifacts in found.items() for artifact in artifacts}


def test_an_artifact_holds_its_own_model_alone_and_all_of_it_when_the_caches_were_warm() -> None:
    with torch.no_grad():
        first = keys(cache_artifacts.capture(*made(6)))
        other = keys(cache_artifacts.capture(*made(10)))
        warm = keys(cache_artifacts.capture(*made(6)))

    assert first == warm
    assert {kind for kind, _ in first} >= {"inductor", "aot_autograd"}
    assert not first & other


def test_what_others_recorded_is_still_theirs_after_a_capture() -> None:
    manager = torch_api.get("cache_artifacts")
    with manager.with_fresh_cache(), torch.no_grad():
        torch.compile(nn.Linear(3, 3))(torch.ones(1, 3))
        cache_artifacts.capture(*made(6))
        saved = torch.compiler.save_cache_artifacts()
        assert saved is not None

        assert {kind: len(names) for kind, names in saved[1].artifacts.items()} == {"inductor": 1, "aot_autograd": 1}


def test_a_load_misses_no_cache(tmp_path: Path) -> None:
    model, args, kwargs = made(6)
    with torch.no_grad():
        cache_artifacts.save(cache_artifacts.capture(model, args, kwargs), tmp_path)
        counters = torch_api.get("dynamo_counters")
        before = counters["inductor"]["fxgraph_cache_miss"] + counters["aot_autograd"]["autograd_cache_miss"]
        assert torch.allclose(cache_artifacts.load(tmp_path, model)(*args, **kwargs), model(*args, **kwargs))

        assert counters["inductor"]["fxgraph_cache_miss"] + counters["aot_autograd"]["autograd_cache_miss"] == before


class Branching(nn.Module):
    """Holds a ``torch.cond``, which AOTAutograd's cache does not take."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        branched: torch.Tensor = torch.cond(x.sum() > 0, lambda y: y + 1, lambda y: y - 1, (x,))
        return branched


def test_a_model_that_the_caches_bypass_fails_to_save_and_torchs_reason_is_told(tmp_path: Path) -> None:
    with torch.no_grad():
        captured = cache_artifacts.capture(Branching().eval(), (torch.ones(4, 4),), {})

    with pytest.raises(
        ArtifactError, match=r"kept no .*aot_autograd artifact of this model: BypassAOTAutogradCache: .*cond"
    ):
        cache_artifacts.save(captured, tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_torch_cannot_read_is_refused(tmp_path: Path) -> None:
    model, _, _ = made(6)
    (tmp_path / "artifacts.bin").write_bytes(b"garbage")

    with pytest.raises(ArtifactError, match="cannot read the cache artifacts"):
        cache_artifacts.load(tmp_path, model)
