"""What a measured process was asked for, and the stages of its answer: each failure is of the kind of its stage."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from pcbench import discovery, torch_api
from pcbench.errors import ExtensionError, PcbenchError, UsageError
from pcbench.status import Status
from pcbench.strategies import Strategy, one_line

Emit = Callable[[dict[str, Any]], None]


class StageFailedError(PcbenchError):
    """A stage of a sample failed; the status says which kind of failure that is."""

    def __init__(self, status: Status, reason: str) -> None:
        super().__init__(reason)
        self.status = status


@dataclass(frozen=True)
class Request:
    """What a measured process was asked for.

    Attributes:
        target: The model, as the user calls it; looked up in ``cwd``.
        strategy: A strategy's name, or ``eager``.
        artifact: The folder to save to or to load from; None for eager.
        hot: Load a second time in the same process.
        shapes: Call with the extra shapes that the model names.
        calls: Time later calls, in turn with eager's.
        state: A file for the model's weights and inputs: written at a capture, read at a load; None for neither.
        with_caches: Save what was compiled with the artifact.
        trust: Load the artifact without this user's signature, and another user's.
    """

    target: str
    strategy: str
    threads: int
    cwd: str
    artifact: str | None = None
    temperature: str = "cold"
    hot: bool = False
    shapes: bool = False
    calls: bool = False
    state: str | None = None
    with_caches: bool = False
    trust: bool = False


def strategy_of(request: Request) -> Strategy:
    """The strategy that was asked for, with what it loads with imported.

    Raises:
        UnavailableError: This torch lacks what it imports.
    """
    strategy = discovery.load("pcbench.strategies", request.strategy, "STRATEGY", Strategy)
    for name in strategy.imports:
        torch_api.get(name)
    return strategy


@contextmanager
def stage(emit: Emit, name: str, status: Status) -> Iterator[None]:
    """Say what is being done, and turn whatever it raises into a failure of this kind.

    Raises:
        StageFailedError: The body raised.
        UsageError, ExtensionError: The model or the strategy is itself at fault, as the body said.
    """
    emit({"stage": name})
    try:
        yield
    except (StageFailedError, UsageError, ExtensionError):
        raise
    except Exception as error:  # a strategy may raise anything: the kind of failure is the stage's
        print(f"{name}: {error}", file=sys.stderr)
        failed = Status.GUARD_FAILED if any(words in str(error) for words in torch_api.GUARD_FAILURES) else status
        raise StageFailedError(failed, f"{name}: {one_line(error)}") from error
