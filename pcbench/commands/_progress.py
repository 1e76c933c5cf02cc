"""Progress on long work: a bar on a terminal, else a line per step."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn


class Step(Protocol):
    """Called before each step with what it is about."""

    def __call__(self, what: str) -> None: ...


@contextmanager
def steps(total: int) -> Iterator[Step]:
    """Show ``total`` steps on stderr; the first call starts the first of them; none counts above ``total``."""
    if sys.stderr.isatty():
        columns = (BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), TextColumn("{task.description}"))
        with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
            task = bar.add_task("", total=total)
            done = -1

            def advance(what: str) -> None:
                nonlocal done
                done = min(done + 1, total)
                bar.update(task, description=what, completed=done)

            yield advance
        return
    started, count = time.monotonic(), 0

    def line(what: str) -> None:
        nonlocal count
        count = min(count + 1, total)
        print(f"[{count}/{total}] {time.monotonic() - started:4.0f} s  {what}", file=sys.stderr, flush=True)

    yield line
