"""The runners that a cache keeps: bounded, each with its files, and gone when its model is."""

from __future__ import annotations

import itertools
import os
import shutil
import threading
import weakref
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any

import torch
from torch import nn

from pcbench import processes
from pcbench.errors import RunnerError
from pcbench.runner.making import Made
from pcbench.runner.signature import Key, Metadata
from pcbench.runner.weights import Layout, Watch
from pcbench.strategies import Runner


class CachedRunner:
    """A runner, called as its model is; ``run`` is the same, under the name that torch's PyModelRunner has for it."""

    __slots__ = ("__weakref__", "run")

    def __init__(self, run: Callable[..., Any]) -> None:
        self.run = run

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.run(*args, **kwargs)


class Entry:
    """A runner, and when it may be used: by which model, held weakly, as what it was, and for what inputs."""

    __slots__ = ("folder", "inputs", "key", "model", "runner", "same_inputs", "same_mode", "used", "watch")

    def __init__(self, key: Key, model: weakref.ref[nn.Module], inputs: Metadata, made: Made, folder: Path) -> None:
        self.key = key
        self.model = model
        self.same_mode = made.same_mode
        self.inputs = inputs
        self.same_inputs = inputs.same
        self.watch: Watch = made.watch
        self.runner = CachedRunner(_in_order(made.runner, made.keywords))
        self.folder = folder
        self.used = 0


class Kept:
    """At most ``bound`` runners by key, with the counts; every method may be called from any thread.

    Attributes:
        hits, misses, evictions: Counts; an eviction is a runner that made room for another.
    """

    def __init__(self, bound: int) -> None:
        self.misses = self.evictions = 0
        self._bound = bound
        # A look-up does not lock: what is stored under a key is replaced, never changed.
        self._entries: dict[Key, tuple[Entry, ...]] = {}
        self._lock = threading.Lock()
        self._dead: deque[weakref.ref[nn.Module]] = deque()
        self._numbers = itertools.count()
        self._uses = itertools.count()  # orders the entries by their last use
        # Counts without a lock. What it has come to can only be seen by counting on: reads are subtracted.
        self._hits, self._reads = itertools.count(), 0
        self._folder: Path | None = None
        self._owner = os.getpid()

    @property
    def hits(self) -> int:
        with self._lock:
            count = next(self._hits) - self._reads
            self._reads += 1
        self._settle()
        return count

    def __len__(self) -> int:
        return sum(map(len, list(self._entries.values())))

    def find(self, key: Key, tensors: Sequence[torch.Tensor], model: nn.Module, layout: Layout) -> CachedRunner | None:
        """The runner for this key and tensors like these, if it still stands for the model; counted as a hit."""
        for entry in self._entries.get(key, ()):
            # An id in a key is used again: whose it is now, the reference tells.
            same = entry.model() is model and entry.same_mode() and entry.same_inputs(*tensors)
            if same and entry.watch.fresh(layout):
                entry.used = next(self._uses)
                next(self._hits)
                return entry.runner
        return None

    def put(
        self, key: Key, inputs: Metadata, model: nn.Module, layout: Layout, made: Made, folder: Path
    ) -> CachedRunner:
        """Keep a runner; runners of the same model that the model has changed for are dropped."""
        entry = Entry(key, weakref.ref(model, partial(_died, weakref.ref(self))), inputs, made, folder)
        with self._lock:
            entry.used = next(self._uses)
            dropped = [e for e in self._all() if e.model() is model and not e.watch.unchanged(layout)]
            self._entries[key] = (entry, *self._entries.get(key, ()))
            self._drop(dropped)
            excess = sorted(self._all(), key=lambda each: each.used)[: -self._bound]
            self.evictions += len(excess)
            self._drop(excess)
        self._remove(dropped + excess)
        self._settle()
        return entry.runner

    def missed(self, name: str) -> Path:
        """Count a miss; gives a folder for what it captures, which is not there yet.

        Raises:
            RunnerError: This process has no room, or no right, to make one.
        """
        with self._lock:
            self.misses += 1
            if self._folder is None or self._owner != os.getpid():  # a forked child makes a folder of its own
                stack = ExitStack()
                try:
                    made = stack.enter_context(processes.scratch())
                except OSError as error:
                    raise RunnerError(
                        f"a folder for runners could not be made: {error.filename}: {error.strerror}",
                        hint="let TMPDIR name another disk",
                    ) from error
                self._folder, self._owner = made, os.getpid()
                weakref.finalize(self, stack.close)
            folder = self._folder
        self._settle()
        return folder / f"{next(self._numbers)}-{name}"

    def clear(self) -> None:
        """Drop all runners and their files; the counts stay."""
        with self._lock:
            dropped = self._all()
            self._entries.clear()
        self._remove(dropped)
        self._settle()

    def _settle(self) -> None:
        """Drop the entries of models that died. Called again after each time that the lock was held.

        The garbage collector may call this anywhere, even in a thread that holds the lock: so it never waits for it.
        """
        while self._dead and self._lock.acquire(blocking=False):
            try:
                dead = [self._dead.popleft() for _ in range(len(self._dead))]
                dropped = [entry for entry in self._all() if any(entry.model is ref for ref in dead)]
                self._drop(dropped)
            finally:
                self._lock.release()
            self._remove(dropped)

    def _all(self) -> list[Entry]:
        return [entry for alike in self._entries.values() for entry in alike]

    def _drop(self, entries: Sequence[Entry]) -> None:
        for entry in entries:
            left = tuple(each for each in self._entries[entry.key] if each is not entry)
            if left:
                self._entries[entry.key] = left
            else:
                del self._entries[entry.key]

    def _remove(self, entries: Iterable[Entry]) -> None:
        for entry in entries:
            if (
                os.getpid() == self._owner and entry.folder.parent == self._folder
            ):  # a forked child has its parent's, too
                shutil.rmtree(entry.folder, ignore_errors=True)


def _in_order(runner: Runner, names: tuple[str, ...]) -> Runner:
    """A runner that takes keywords in any order; what precompile made refuses another than that of its capture."""
    if len(names) < 2:
        return runner

    def run(*args: Any, **kwargs: Any) -> Any:
        if tuple(kwargs) != names and kwargs.keys() == set(names):
            kwargs = {name: kwargs[name] for name in names}
        return runner(*args, **kwargs)

    return run


def _died(kept: weakref.ref[Kept], model: weakref.ref[nn.Module]) -> None:
    alive = kept()
    if alive is not None:
        alive._dead.append(model)
        alive._settle()
