"""Strategies that compile nothing: what the cache does with a strategy, tested in milliseconds."""

from __future__ import annotations

import copy
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from torch import nn

from pcbench import strategies, torch_api
from pcbench.strategies import Runner, Strategy, call_model, weak_runner


@dataclass
class Toys:
    """``baked`` runs a copy of the model, ``passed`` the model; ``broken`` raises at the stage that ``fails`` names.

    Attributes:
        captures: Names of the strategies that captured, in order, with what Inductor's ``max_autotune`` was.
        during: Called in each capture.
        slow_s: How long a capture takes at least.
        most_at_once: The most captures that ever ran at the same time.
    """

    captures: list[tuple[str, bool]] = field(default_factory=list)
    during: Callable[[], object] = lambda: None
    slow_s: float = 0.0
    fails: str = ""
    most_at_once: int = 0
    _running: int = 0
    _shelf: list[nn.Module] = field(default_factory=list)

    def strategy(self, name: str) -> Strategy:
        weights: Any = "passed" if name == "passed" else "baked"

        def fail(stage: str) -> None:
            if name == "broken" and self.fails == stage:
                raise ArithmeticError(f"no {stage} today\nand more lines")

        def capture(model: nn.Module, *_: object) -> nn.Module:
            self._running += 1
            self.most_at_once = max(self.most_at_once, self._running)
            self.captures.append((name, torch_api.get("inductor_config").max_autotune))
            self.during()
            time.sleep(self.slow_s)
            fail("capture")
            self._running -= 1
            return copy.deepcopy(model)

        def save(model: nn.Module, folder: Path) -> None:
            self._shelf.append(model)
            (folder / "place").write_text(str(len(self._shelf) - 1))
            fail("save")

        def load(folder: Path, model: nn.Module) -> Runner:
            fail("load")
            place = int((folder / "place").read_text())
            return weak_runner(model, call_model) if name == "passed" else self._shelf[place]

        return Strategy("a toy", weights, lambda: None, capture, save, load, takes_options=name == "baked")


@pytest.fixture
def toys(monkeypatch: pytest.MonkeyPatch) -> Toys:
    made = Toys()
    monkeypatch.setattr(strategies, "named", made.strategy)
    return made


def together(number: int, call: Callable[[int], object]) -> list[object]:
    """What ``number`` threads, started at once, return; what one raises is returned as well."""
    start = threading.Barrier(number)
    results: list[object] = [None] * number

    def run(place: int) -> None:
        start.wait()
        try:
            results[place] = call(place)
        except Exception as error:
            results[place] = error

    threads = [threading.Thread(target=run, args=(place,)) for place in range(number)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
        assert not thread.is_alive(), "a thread waits for ever"
    return results
