"""A Triton function of a user's module, with no file of ours: what its parameters are given, from words."""

from __future__ import annotations

import dataclasses
import difflib
import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import Any

import torch
from triton.backends.amd.compiler import HIPOptions
from triton.backends.nvidia.compiler import CUDAOptions
from triton.runtime.autotuner import Autotuner, Heuristics
from triton.runtime.jit import JITFunction

from pcbench.errors import UsageError

_POINTED = {
    "fp16": torch.float16,
    "bf16": torch.bfloat16,
    "fp32": torch.float32,
    "fp64": torch.float64,
    "fp8e4nv": torch.float8_e4m3fn,
    "fp8e4b8": torch.float8_e4m3fnuz,
    "fp8e5": torch.float8_e5m2,
    "fp8e5b16": torch.float8_e5m2fnuz,
    "i1": torch.bool,
    "i8": torch.int8,
    "u8": torch.uint8,
    "i16": torch.int16,
    "i32": torch.int32,
    "i64": torch.int64,
}
_SCALARS: dict[str, Any] = {
    "i32": 2**20 + 1,
    "i64": 2**40 + 1,
    "i32:16": 2**20,
    "i64:16": 2**40,
    "fp32": 0.5,
    "i1": True,
}
"""A value that Triton takes for the type: from it, it learns the type, and whether 16 divides an integer."""
_OPTIONS = frozenset(field.name for options in (CUDAOptions, HIPOptions) for field in dataclasses.fields(options))

Constants = Mapping[str, int | str]


@dataclass(frozen=True)
class Called:
    """A function as it is launched.

    Attributes:
        types: Its parameters with their types, such as ``x=*fp32 n=i32``.
    """

    types: str
    launch: Callable[[], object]


def called(name: str, function: Any, signature: str | None, constexprs: Constants) -> Called:
    """A function under ``@triton.jit``, and ``@triton.autotune`` or ``@triton.heuristics`` if it is under these, too.

    Args:
        signature: The types of the parameters that neither ``constexprs`` nor configurations and heuristics give.
        constexprs: The constants that these do not give either, and options of the compiler such as ``num_warps``.

    Raises:
        UsageError: It is another thing, or the signature or the constants are not its own.
    """
    innermost, chosen = _unwrapped(function)
    if not isinstance(innermost, JITFunction):
        raise UsageError(f"{name} is a {type(function).__name__}", hint="name a function under @triton.jit")
    parameters = innermost.params
    _check_constants(name, parameters, chosen, constexprs)
    needed = [p.name for p in parameters if p.name not in {*constexprs, *chosen} and not p.is_constexpr]
    if signature is None:
        raise UsageError(f"{name} does not say which types it takes", hint=f"give a --signature of {', '.join(needed)}")
    types = [word.strip() for word in signature.split(",")]
    if len(types) != len(needed):
        raise UsageError(f"the signature {signature!r} names {len(types)} types, {name} takes {', '.join(needed)}")
    given = dict(zip(needed, map(_argument, types), strict=True))
    words = " ".join(f"{parameter}={kind}" for parameter, kind in zip(needed, types, strict=True))
    # What prunes configurations is told arguments by their names only where they were given by their place.
    placed = [given.pop(name) for name in takewhile(given.__contains__, [p.name for p in parameters])]
    return Called(words, lambda: function[(1,)](*placed, **given, **constexprs))


def _unwrapped(function: Any) -> tuple[Any, frozenset[str]]:
    """The function itself, and the names that its configurations and heuristics give a value."""
    chosen: set[str] = set()
    while isinstance(function, Autotuner | Heuristics):
        if isinstance(function, Autotuner):
            chosen.update(name for config in function.configs for name in config.all_kwargs())
        else:
            chosen.update(function.values)
        function = function.fn
    return function, frozenset(chosen)


def _check_constants(name: str, parameters: Sequence[Any], chosen: frozenset[str], constexprs: Constants) -> None:
    names = [parameter.name for parameter in parameters]
    for constant in constexprs:
        if constant in chosen:
            why = "its configurations or heuristics give it a value"
            raise UsageError(f"{constant} of {name} cannot be given: {why}", hint=f"leave out --constexpr {constant}")
        if constant not in (*names, *_OPTIONS):
            near = difflib.get_close_matches(constant, names, n=1)
            hint = f"did you mean {near[0]}? " if near else ""
            raise UsageError(f"{name} has no {constant}", hint=f"{hint}its parameters: {', '.join(names)}")
    for parameter in parameters:
        known = parameter.name in {*constexprs, *chosen} or parameter.default is not inspect.Parameter.empty
        if parameter.is_constexpr and not known:
            hint = f"--constexpr {parameter.name}=1024, for example"
            raise UsageError(f"{name} needs a value for {parameter.name}", hint=hint)


def _argument(kind: str) -> Any:
    """A value of a type: a pointer is aligned, as torch's are; 16 divides an integer where ``:16`` says so."""
    if kind.startswith("*") and kind[1:] in _POINTED:
        return torch.empty(16, dtype=_POINTED[kind[1:]], device="meta")
    if kind in _SCALARS:
        return _SCALARS[kind]
    known = ", ".join((*(f"*{pointed}" for pointed in _POINTED), *_SCALARS))
    raise UsageError(f"there is no type {kind!r}", hint=f"valid types: {known}")
