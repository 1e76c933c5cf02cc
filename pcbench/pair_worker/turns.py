"""Takes turns with the process of the other side, block by block, on one CPU: what disturbs one block disturbs both.

The two processes of a pair know each other by two pipes and go through the same cases in the same order. A message is
a line of JSON: ``{"at": case, "alone": b}`` where a case is set up, ``{"plan": ...}`` for how it is timed, and
``{"go": n}`` for the other's turn. Whatever else comes, or the end of the pipe, means that the other is not at this
case: then this process measures alone.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

T = TypeVar("T")


class Turns:
    """This process's ends of the two pipes.

    Attributes:
        first: Whether this process has the first turn of a case.
    """

    def __init__(self, heard: int, said: int, *, first: bool, cpu: int) -> None:
        self.first = first
        self._cpu = cpu
        self._heard, self._said = os.fdopen(heard, "r"), os.fdopen(said, "w")
        self._next: dict[str, Any] | None = None

    @contextlib.contextmanager
    def at(self, case: str, *, alone: bool) -> Iterator[bool]:
        """Whether the other process has set up this case, too; if both are ``alone``, they are on one CPU then.

        Args:
            alone: No other thread of this process works for the case. Threads that wait do no harm.
        """
        self._say({"at": case, "alone": alone})
        told = self._hear("at")
        if told is not None and told["at"] != case:
            self._next, told = told, None
        before = os.sched_getaffinity(0)
        if told is not None and told["alone"] and alone:
            os.sched_setaffinity(0, {self._cpu})
        try:
            yield told is not None
        finally:
            os.sched_setaffinity(0, before)

    def agreed(self, make: Callable[[], T]) -> T | None:
        """What the first process makes, in both; None where the other is gone."""
        if self.first:
            made = make()
            self._say({"plan": made})
            return made
        told = self._hear("plan")
        return None if told is None else told["plan"]

    def taken(self, count: int, block: Callable[[], float], warm: Callable[[], object]) -> list[float]:
        """So many blocks, in turn with the other's: A, B B, A A, ..., so that the n-th of both are neighbours.

        Args:
            warm: What begins each turn: after the other's, the CPU's caches and branch predictor know nothing of this.
        """
        found: list[float] = []
        if self.first:
            found.append(block())
            self._say({"go": 1})
        while len(found) < count and self._hear("go") is not None:
            warm()
            found.append(block())
            if len(found) < count:
                found.append(block())
            self._say({"go": len(found)})
        return found

    def _say(self, message: dict[str, Any]) -> None:
        with contextlib.suppress(BrokenPipeError):  # the other is gone, which the next _hear finds
            self._said.write(json.dumps(message) + "\n")
            self._said.flush()

    def _hear(self, kind: str) -> dict[str, Any] | None:
        """The next message of this kind; None at the end, or where the other is at another case already.

        What is left of an earlier case is passed over.
        """
        while self._next is None or (kind not in self._next and "at" not in self._next):
            line = self._heard.readline()
            if not line:
                return None
            self._next = json.loads(line)
        if kind not in self._next:
            return None
        told, self._next = self._next, None
        return told
