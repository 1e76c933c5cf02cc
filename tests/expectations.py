"""What cannot work, by torch release: the status and words of torch's own reason."""

from __future__ import annotations

from pcbench import torch_api
from pcbench.status import Status

RELEASE = tuple(int(part) for part in torch_api.version().split(".")[:2])
ZOO = ("bert", "gpt2", "llama")

Failure = tuple[Status, str]

_NO_BACKWARD_GRAPH = (Status.CAPTURE_FAILED, "We found a fake tensor in the exported program constant's list")
_NO_BACKWARD = (Status.CAPTURE_FAILED, "Unsupported: Unsupported Tensor.backward() call")
_MASK_IS_READ = (Status.CAPTURE_FAILED, "get value out of a tracing tensor")

_MODELS: dict[tuple[str, str], Failure] = {
    ("precompile_eager", "dynamic_batch"): (Status.CAPTURE_FAILED, "is only supported with backend='inductor'"),
    **{(strategy, "train_step"): _NO_BACKWARD_GRAPH for strategy in ("export", "aoti", "nativert")},
    **{(s, "train_step"): _NO_BACKWARD for s in ("aot_compile", "cache_artifacts", "caching_precompile")},
    **{(s, model): _MASK_IS_READ for s in ("precompile_eager", "precompile_inductor") for model in ZOO},
    **{("aot_compile", model): (Status.CAPTURE_FAILED, "ID_MATCH guard cannot be serialized") for model in ZOO},
    # torch refers to the class of transformers' outputs by a global that only the capturing process has.
    **{("caching_precompile", model): (Status.LOAD_FAILED, "NameError: name '___module_collections") for model in ZOO},
}


def unavailable(strategy: str) -> str | None:
    """Words of the reason why a strategy's probe fails on this torch; None where it must not."""
    if strategy == "nativert" and RELEASE >= (2, 12):
        return "has NativeRT's PyModelRunner in name only"
    if strategy.startswith("precompile_") and RELEASE < (2, 14):
        return "has no torch.compiler.precompile"
    return None


def failure(strategy: str, model: str) -> Failure | None:
    """What becomes of the model with this strategy on this torch; None where it must work."""
    lacking = unavailable(strategy)
    return (Status.UNAVAILABLE, lacking) if lacking is not None else _MODELS.get((strategy, model))
