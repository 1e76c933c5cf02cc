"""Instructions counted by the CPU's own counter, through torch."""

from __future__ import annotations

from collections.abc import Callable

from pcbench import torch_api
from pcbench.errors import UnavailableError

_CLOSED, _UNCOUNTED = -1, 2**64 - 1
"""torch's counter does not raise where there is none: it is opened as the one, and ends with the other."""

_TURNS = 1_000, 100_000


def count(call: Callable[[], object]) -> int:
    """The instructions that a call takes, with those of taking the count; user space and this thread alone.

    Raises:
        UnavailableError: They cannot be counted.
    """
    counter = torch_api.get("instruction_counter")
    started = counter.start()
    if started == _CLOSED:
        raise UnavailableError("the kernel opens no hardware instruction counter here")
    try:
        call()
    finally:
        counted = int(counter.end(started))
    if counted == _UNCOUNTED:
        raise UnavailableError("the hardware instruction counter opens but cannot be read")
    return counted


def require() -> None:
    """Make sure that loops are counted, the longer as more.

    Raises:
        UnavailableError: They are not.
    """
    short, long = (count(lambda turns=turns: _loop(turns)) for turns in _TURNS)  # type: ignore[misc]
    if not long > 10 * short > 0:
        raise UnavailableError(
            f"the hardware instruction counter opens but does not count (two loops gave {short} and {long})"
        )


def _loop(turns: int) -> None:
    for _ in range(turns):
        pass
