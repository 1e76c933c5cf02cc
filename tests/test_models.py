"""Models by strategies, captured and loaded in fresh processes."""

from __future__ import annotations

from pathlib import Path

import expectations
import pytest
import torch
from warm import Warm

from pcbench import discovery, sampling, targets
from pcbench.asking import Setting
from pcbench.models import Model
from pcbench.runner import agreement
from pcbench.status import Status
from pcbench.strategies import Strategy

SMALL = tuple(name for name in discovery.model_names() if name != "large")
STRATEGIES = discovery.strategy_names()
# A process each for capture, load and, where the capture fails, probe: so by a few strategies. Of transformers' models
# one keeps the graph, one the kernels, one cannot, for a reason that all of them share: one model tells it, as one
# tells what a torch release lacks.
BY_A_FEW = {
    "bert": ("export", "cache_artifacts", "aot_compile"),
    "gpt2": ("export", "cache_artifacts"),
    "llama": ("export", "cache_artifacts"),
    "train_step": ("export", "aot_compile", "precompile_eager", "precompile_inductor"),
}
# Without --full, of models that tell each strategy nothing that another model does not (classes to find again, sizes,
# ties): what fails, or one strategy that works. mlp's captures are test_capture_strategies'.
WITHOUT_FULL: dict[str, tuple[str, ...]] = {
    "bert": ("aot_compile",),
    "convnet": ("aoti",),
    "encoder": ("precompile_inductor",),
    "gpt2": ("export",),
    "llama": ("cache_artifacts",),
    "mlp": (),
    "train_step": BY_A_FEW["train_step"],
}


def is_tried(strategy: str, name: str) -> bool:
    if expectations.unavailable(strategy) is not None:
        return name == "mlp"
    return strategy in BY_A_FEW.get(name, STRATEGIES)


def is_always_tried(strategy: str, name: str) -> bool:
    return expectations.unavailable(strategy) is not None or strategy in WITHOUT_FULL.get(name, STRATEGIES)


GRID = [
    pytest.param(strategy, name, marks=[] if is_always_tried(strategy, name) else [pytest.mark.full])
    for strategy in STRATEGIES
    for name in SMALL
    if is_tried(strategy, name)
]


def model(name: str) -> Model:
    return discovery.load("pcbench.models", name, "MODEL", Model)


@pytest.mark.slow
@pytest.mark.parametrize(("strategy", "name"), GRID)
def test_a_model_is_saved_and_loaded_in_fresh_processes_with_eagers_answer(
    strategy: str, name: str, warm_caches: Warm, tmp_path: Path
) -> None:
    setting, fails = Setting(name, threads=1), expectations.failure(strategy, name)
    compiles = discovery.load("pcbench.strategies", strategy, "STRATEGY", Strategy).machine_code
    capture = sampling.capture(setting, strategy, tmp_path, warm_from=warm_caches(strategy) if compiles else None)

    if fails is not None and fails[0] is not Status.LOAD_FAILED:
        assert (capture.status, fails[1] in str(capture.reason)) == (fails[0], True), capture.reason
        return
    assert (capture.status, capture.reason) == (Status.OK, None)
    outcome = sampling.load(setting, strategy, tmp_path, "warm", hot=True, shapes=True, calls=True)
    if fails is not None:
        assert (outcome.status, fails[1] in str(outcome.reason)) == (fails[0], True), outcome.reason
        return
    assert (outcome.status, outcome.reason) == (Status.OK, None)
    assert [sample.temperature for sample in outcome.samples] == ["warm", "hot"]
    assert len(outcome.call_s) == len(outcome.eager_call_s) >= 5
    assert [(call.name, call.status, call.recompiles) for call in outcome.shapes] == [
        (shape, Status.OK, 0) for shape in model(name).shapes
    ]


@pytest.mark.parametrize("name", SMALL)
def test_a_model_is_built_alike_each_time(name: str) -> None:
    first, second = targets.build(model(name)), targets.build(model(name))
    args, kwargs = targets.inputs(model(name))

    assert agreement.fingerprint(first, args, kwargs) == agreement.fingerprint(second, *targets.inputs(model(name)))
    with torch.set_grad_enabled(model(name).grad):
        agreement.require_tensors(first(*args, **kwargs))
    assert model(name).grad or not any(module.training for module in first.modules())


def test_the_tied_model_holds_one_tensor_under_two_names() -> None:
    tied = targets.build(model("tied_lm"))

    assert tied.get_parameter("head.weight") is tied.get_parameter("embedding.weight")


def test_large_is_large_without_being_built() -> None:
    with torch.device("meta"):
        large = model("large").build()

    assert sum(p.numel() * p.element_size() for p in large.parameters()) >= 500e6
