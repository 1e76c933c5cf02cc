"""What a hit in the cache of runners costs, by check, beside a look-up in a dictionary that checks nothing."""

from __future__ import annotations

import re
import weakref
from collections.abc import Callable

import torch
from torch import nn

from pcbench import timing
from pcbench.errors import UsageError
from pcbench.runner import signature, weights
from pcbench.runner.cache import ModelRunnerCache
from pcbench.runner.stages import Emit, Request

_WIDTH = 64


class Stack(nn.Sequential):
    """Linear layers with GELUs between them, over the sum of its inputs, (8, 64) each: with 4 parameters, an MLP."""

    def __init__(self, parameters: int) -> None:
        layers: list[nn.Module] = [nn.Linear(_WIDTH, _WIDTH)]
        for _ in range(parameters // 2 - 1):
            layers += [nn.GELU(), nn.Linear(_WIDTH, _WIDTH)]
        super().__init__(*layers)

    def forward(self, *inputs: torch.Tensor) -> torch.Tensor:
        total: torch.Tensor = sum(inputs[1:], start=inputs[0])
        for layer in self:
            total = layer(total)
        return total


def cache_hit(request: Request, clock: timing.PhaseClock, emit: Emit) -> None:  # noqa: ARG001  # one signature for all requests
    """Emit seconds per call of a hit and of each check in it, each in turn with the dictionary's look-up.

    The request's target says the sizes: ``2 inputs, 4 parameters``.

    Raises:
        UsageError: It says something else.
    """
    sizes = re.fullmatch(r"(\d+) inputs, (\d+) parameters", request.target)
    if sizes is None or int(sizes[1]) < 1 or int(sizes[2]) < 2 or int(sizes[2]) % 2:
        raise UsageError(
            f"{request.target!r} are no sizes", hint="say, for example, 1 inputs, 4 parameters; an even number"
        )
    model = Stack(int(sizes[2])).eval()
    args = tuple(torch.randn(8, _WIDTH) for _ in range(int(sizes[1])))
    emit({"stage": "the capture"})
    with torch.no_grad():
        cache = ModelRunnerCache(strategy=request.strategy)
        cache.load(model, args)
        layout = weights.walk(model)
        watch = weights.Watch(layout, baked=True)
        same, same_mode = signature.metadata(args).same, signature.mode()
        known = {weakref.ref(model): cache.load(model, args)}

        def original() -> object:
            key = weakref.ref(model)
            if key not in known:
                raise KeyError
            return known[key]

        calls: dict[str, Callable[[], object]] = {
            "hit": lambda: cache.load(model, args),
            "signature": lambda: same(*signature.of_call(args, {})[1]),
            "mode": same_mode,
            "training": lambda: weights.walk(model),
            "weights": lambda: watch.fresh(layout),
        }
        samples: dict[str, list[float]] = {}
        for name, call in calls.items():
            emit({"stage": f"the {name}"})
            samples[name], beside = timing.interleaved(call, original, pairs=100)
            samples.setdefault("original", beside)  # what was taken in turn with the hit itself
    emit({"cache_hit": samples})
