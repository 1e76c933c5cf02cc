"""The asv benchmark of a hit in the cache of runners; one process gives the samples of all checks. Needs no torch."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from pcbench import asking, checkout, discovery, processes
from pcbench.asking import Setting
from pcbench.tracked import AsvValue, samples_of

CHECKS = ("hit", "original", "signature", "mode", "training", "weights")


def cache_hit_seconds(check: str, inputs: str, parameters: str) -> AsvValue:
    """Seconds that a hit costs, or one of the checks in it, beside the original's look-up in a dictionary.

    What each parameter adds is the slope through two points: 24 parameters less 4, by 20. As half of them are weights
    of linear layers, it has the cost of a module, and of the GELU before it, for every two of them. What each input
    adds is 8 inputs less 1, by 7.

    Args:
        check: ``hit``; ``original``, a dictionary keyed by a weak reference, which checks nothing; ``signature``,
            ``mode``, ``training`` (modules and their flags) and ``weights`` are parts of a hit.
        inputs: How many tensors the call has.
        parameters: How many parameters the model has: weights and biases of linear layers.
    """

    def measure() -> list[float]:
        discovery.check_name("check of a hit", check, CHECKS)
        shared = os.environ.get("PCBENCH_STORE")
        if shared:
            return _taken(Path(shared), check, inputs, parameters)
        with processes.scratch() as folder:
            return _taken(folder, check, inputs, parameters)

    return samples_of((check, inputs, parameters), measure)


def _taken(folder: Path, check: str, inputs: str, parameters: str) -> list[float]:
    """The samples of a check: those taken with another's and not yet used, else new ones."""

    def record(each: str) -> Path:
        return folder / f"cache-hit-{each}-{inputs}-{parameters}.json"

    if not record(check).is_file():
        setting = Setting(f"{inputs} inputs, {parameters} parameters", cwd=checkout.root())
        messages = asking.ask(setting, {"do": "cache_hit", "strategy": "export"})
        samples: dict[str, Any] = next(m["cache_hit"] for m in messages if "cache_hit" in m)
        for each in CHECKS:
            record(each).write_text(json.dumps(samples[each]))
    found: list[float] = json.loads(record(check).read_text())
    record(check).unlink()
    return found
