"""Guards on inputs that hold others: lists, tuples, dicts, dataclasses."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from typing import Any

import torch

from pcbench.guards.guarded import Guarded

_CHAIN = 32
"""Dynamo itself recurses along a chain of dicts: one of more than about 240 ends at Python's recursion limit."""


def lists(n: int) -> Guarded:
    """Empty lists, in a list; their length is used."""
    x = torch.ones(1)
    items: list[list[int]] = [[] for _ in range(n)]
    return Guarded(_lengths, (x, items), breaking=lambda: nullcontext((x, [*items[:-1], [0]])))


def tuples(n: int) -> Guarded:
    """Tuples of one item, in a list; their length is used."""
    x = torch.ones(1)
    items = [(index,) for index in range(n)]
    return Guarded(_lengths, (x, items), breaking=lambda: nullcontext((x, [*items[:-1], (n, n)])))


def dict_keys(n: int) -> Guarded:
    """String keys of one dict, in order; its values are not looked at."""
    x = torch.ones(1)
    keys = [f"key{index}" for index in range(n)]

    def function(x: torch.Tensor, table: dict[str, None]) -> torch.Tensor:
        length = 0
        for key in table:
            length += len(key)
        return x + length

    args = x, dict.fromkeys(keys)
    return Guarded(function, args, breaking=lambda: nullcontext((x, dict.fromkeys([*keys[:-1], "other"]))))


def nested_dicts(n: int) -> Guarded:
    """Dicts in dicts, in chains of up to 32."""
    x = torch.ones(1)
    chains = [_chain(min(_CHAIN, n - start)) for start in range(0, n, _CHAIN)]

    def function(x: torch.Tensor, chains: list[dict[str, Any]]) -> torch.Tensor:
        depth = 0
        for table in chains:
            while table:
                table = table["inner"]
                depth += 1
        return x + depth

    @contextmanager
    def breaking() -> Iterator[tuple[Any, ...]]:
        innermost = chains[-1]
        while innermost:
            innermost = innermost["inner"]
        innermost["inner"] = {}
        try:
            yield x, chains
        finally:
            del innermost["inner"]

    return Guarded(function, (x, chains), breaking=breaking)


def dataclasses(n: int) -> Guarded:
    """Dataclass instances, in a list, of one int field each."""
    x = torch.ones(1)
    items = [_Sized(index) for index in range(n)]

    def function(x: torch.Tensor, items: list[_Sized]) -> torch.Tensor:
        return x + sum([item.size for item in items])

    return Guarded(function, (x, items), breaking=lambda: nullcontext((x, [*items[:-1], _Other(n - 1)])))


@dataclass
class _Sized:
    size: int


@dataclass
class _Other(_Sized):
    """The same fields by another type."""


def _lengths(x: torch.Tensor, items: list[list[int]] | list[tuple[int, ...]]) -> torch.Tensor:
    return x + sum([len(item) for item in items])


def _chain(depth: int) -> dict[str, Any]:
    """So many dicts, each in the one before; the innermost is empty."""
    table: dict[str, Any] = {}
    for _ in range(depth - 1):
        table = {"inner": table}
    return table
