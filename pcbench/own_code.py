"""Functions with a code object of their own."""

from __future__ import annotations

import itertools
import types
from collections.abc import Callable
from typing import Any

_NUMBERS = itertools.count()


def copy(function: Callable[..., Any]) -> types.FunctionType:
    """A copy of a function without a closure, under a name of its own.

    Compiled code and the limit of recompiles belong to a code object, the sizes seen so far (a second size makes a dim
    dynamic) to a code's name and line: compilations that shared them would depend on those before.
    """
    if not isinstance(function, types.FunctionType):
        raise TypeError(f"{function!r} has no code of its own")
    name = f"{function.__name__}_{next(_NUMBERS)}"
    return types.FunctionType(function.__code__.replace(co_name=name), function.__globals__, name)
