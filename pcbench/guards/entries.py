"""A function with several entries in its cache, and calls that hit the n-th of them."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import torch

from pcbench import own_code
from pcbench.guards.guarded import Guarded


def hits(guarded: Guarded, backend: Any, entries: int, places: Sequence[int]) -> Mapping[int, Callable[[], object]]:
    """Calls by the place of the entry that they hit, of ``entries`` that differ in the guard on one string.

    A hit moves its entry to the front. So a call that takes k entries in turn finds each of them at place k.
    """
    names = [f"entry {number}" for number in range(entries)]
    function = torch.compile(own_code.copy(_named), backend=backend, dynamic=guarded.dynamic)

    def taking(turn: Iterator[str]) -> Callable[[], object]:
        return lambda: function(next(turn), guarded.function, guarded.args, guarded.kwargs)

    taking_all = taking(itertools.cycle(names))
    for _ in names:
        taking_all()
    return {place: taking(itertools.cycle(names[:place])) for place in places}


def _named(name: str, function: Callable[..., Any], args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
    return function(*args, **kwargs) if name else None
