"""Guards on what a function finds around it: globals, closures, other functions, types."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from functools import partial
from typing import Any

import torch

from pcbench.guards.families._changing import changed
from pcbench.guards.guarded import Guarded


def global_variables(n: int) -> Guarded:
    """Globals that the function reads, an int each."""
    x = torch.ones(1)
    names = [f"number{index}" for index in range(n)]
    scope: dict[str, Any] = {name: index for index, name in enumerate(names)}
    program = f"def function(x):\n    return x + sum([{', '.join(names)}])"
    # Without a file's name torch 2.11 takes it for a builtin, and compiles a wrapper in its place.
    exec(compile(program, __file__, "exec"), scope)

    @contextmanager
    def breaking() -> Iterator[tuple[Any, ...]]:
        scope[names[-1]] = -1
        try:
            yield (x,)
        finally:
            scope[names[-1]] = n - 1

    return Guarded(scope["function"], (x,), breaking=breaking)


def closure_cells(n: int) -> Guarded:
    """Cells of closures, an int each; the closures are in a list."""
    closures = [_closure(index) for index in range(n)]

    def function(x: torch.Tensor, closures: Sequence[Callable[[], int]]) -> torch.Tensor:
        return x + sum([closure() for closure in closures])

    args = torch.ones(1), closures
    (cell,) = closures[-1].__closure__
    return Guarded(function, args, breaking=partial(changed, cell, "cell_contents", -1, args))


def functions(n: int) -> Guarded:
    """Functions that are called, in a list."""
    x = torch.ones(1)
    given = [_plain() for _ in range(n)]

    def function(x: torch.Tensor, functions: Sequence[Callable[[], int]]) -> torch.Tensor:
        return x + sum([one() for one in functions])

    return Guarded(function, (x, given), breaking=lambda: nullcontext((x, [*given[:-1], lambda: 2])))


def types(n: int) -> Guarded:
    """Types that an input is compared with, in a list."""
    x = torch.ones(1)
    given = [type(f"Type{index}", (), {}) for index in range(n)]

    def function(x: torch.Tensor, types: Sequence[type]) -> torch.Tensor:
        return x + sum([isinstance(x, one) for one in types])

    return Guarded(function, (x, given), breaking=lambda: nullcontext((x, [*given[:-1], int])))


def _closure(value: int) -> Any:
    def closure() -> int:
        return value

    return closure


def _plain() -> Callable[[], int]:
    def plain() -> int:
        return 1

    return plain
