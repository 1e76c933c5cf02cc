"""What each strategy's capture of a small model tells of itself, in processes of its own."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path

import expectations
import pytest
from warm import Warm

from pcbench import discovery, sampling
from pcbench.asking import Setting
from pcbench.samples import CAPTURE_PHASES, Capture
from pcbench.status import Status

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("test_capture_strategies")]

COMPILED = ("aoti", "aot_compile", "precompile_inductor", "cache_artifacts", "caching_precompile")


First = Callable[[str], tuple[Capture, Path]]


def captured(strategy: str, folder: Path, caches: Path) -> Capture:
    capture = sampling.capture(Setting("mlp"), strategy, folder, warm_from=caches)
    assert capture.status is Status.OK, capture.reason
    return capture


@pytest.fixture(scope="module")
def first_captures(tmp_path_factory: pytest.TempPathFactory, warm_caches: Warm) -> First:
    """By a strategy's name, its capture from caches that know nothing of the model, and that capture's folder."""

    @cache
    def first(strategy: str) -> tuple[Capture, Path]:
        folder = tmp_path_factory.mktemp(strategy) / "c"
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("PYTHONHASHSEED", "1")
            return captured(strategy, folder, warm_caches(strategy)), folder

    return first


@pytest.mark.parametrize("strategy", discovery.strategy_names())
def test_phases_add_up_and_counts_are_the_same_in_another_process_with_another_hash_seed(
    strategy: str, first_captures: First, warm_caches: Warm, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lacking = expectations.unavailable(strategy)
    if lacking is not None:
        absent = sampling.capture(Setting("mlp"), strategy, tmp_path)
        assert (absent.status, lacking in str(absent.reason)) == (Status.UNAVAILABLE, True)
        return
    first, _ = first_captures(strategy)
    monkeypatch.setenv("PYTHONHASHSEED", "2")
    second = captured(strategy, tmp_path / "2", warm_caches(strategy))
    compiled = strategy in COMPILED

    assert first.counts is not None
    assert first.counts == second.counts
    assert first.counts.unknown == {}
    assert first.counts.graphs == 1
    assert first.counts.fx_nodes is not None
    assert first.counts.fx_nodes > 3
    assert (first.counts.generated_kernels, bool(first.counts.compiler_builds)) == (int(compiled), compiled)
    assert first.phases is not None
    assert first.phases.unknown == {}
    phases = {phase: getattr(first.phases, phase) for phase in CAPTURE_PHASES}
    assert sum(phases.values()) == pytest.approx(first.total_s)
    assert phases["other_s"] > 0
    assert first.save_s is not None
    assert phases["serialise_s"] >= first.save_s
    assert [phases[phase] > 0 for phase in ("inductor_s", "compile_s")] == [compiled, compiled], phases


def test_a_warm_capture_finds_what_a_cold_one_built(first_captures: First, tmp_path: Path) -> None:
    first, folder = first_captures("cache_artifacts")
    cold, warm = first.counts, captured("cache_artifacts", tmp_path / "warm", folder).counts

    assert cold is not None
    assert warm is not None
    assert (cold.compiler_builds, warm.compiler_builds) == (1, 0)
    assert (cold.fxgraph_hits, cold.fxgraph_misses, cold.aot_autograd_hits, cold.aot_autograd_misses) == (0, 1, 0, 1)
    assert (warm.fxgraph_hits, warm.fxgraph_misses, warm.aot_autograd_hits, warm.aot_autograd_misses) == (1, 0, 1, 0)
    assert (cold.graphs, cold.fx_nodes, cold.generated_kernels) == (warm.graphs, warm.fx_nodes, warm.generated_kernels)
