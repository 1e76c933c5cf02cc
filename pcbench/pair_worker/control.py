"""A fixed computation that is the same on both sides: what moves it is the machine."""

from __future__ import annotations

import time
from collections.abc import Callable

from .turns import Turns

_BLOCKS = 40


def control(turns: Turns | None) -> list[float]:
    """Seconds of its blocks, in turn with the other side's where that has got here, too."""
    block = _block()
    block()
    if turns is not None:
        with turns.at("control", alone=True) as both:
            if both:
                return turns.taken(_BLOCKS, block, block)
    return [block() for _ in range(_BLOCKS)]


def _block() -> Callable[[], float]:
    class Node:
        def __init__(self, value: int) -> None:
            self.value, self.table = value, {"one": value, "other": value}

    nodes, source, copy = [Node(n) for n in range(100)], bytes(1 << 16), bytearray(1 << 16)

    def block() -> float:
        """Attributes, a dictionary, a copy of bytes: well over a tenth of a millisecond."""
        started = time.perf_counter()
        total = 0
        for _ in range(40):
            for node in nodes:
                total += node.value + node.table["one"]
        copy[:] = source
        return time.perf_counter() - started

    return block
