"""What claims of load_compiled_function are made of: functions of modules of their own, saved to bytes and loaded.

Nothing is compiled to machine code unless a claim asks for it: guards and globals are Dynamo's, whatever the backend.
"""

from __future__ import annotations

import io
import itertools
import linecache
import sys
import tempfile
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

from pcbench import torch_api
from pcbench.contract import promised

_NUMBERS = itertools.count()

ONES = torch.ones(3)
"""What the functions are called with."""

SCALED = """
W = torch.full((3,), 2.0)

def f(x):
    return x * W
"""
"""A function of a global tensor, which Dynamo makes an input of the graph."""

CHECK_FAILED = "GuardManager check failed"

Keep = Callable[[Any], bool]


def module(source: str) -> Any:
    """A new module with that source, imported and with its lines at hand as if it had come from a file."""
    name = f"pcbench_claim_{next(_NUMBERS)}"
    made = types.ModuleType(name)
    made.__file__ = f"<{name}>"
    linecache.cache[made.__file__] = (len(source), None, source.splitlines(keepends=True), made.__file__)
    sys.modules[name] = made
    exec(compile("import torch\n" + source, made.__file__, "exec"), vars(made))
    return made


def named(*names: str) -> Keep:
    """Keeps the guards on sources of these names, such as ``G['W']``."""
    return lambda guard: guard.name in names


def of_globals(guard: Any) -> bool:
    """Keeps the guards on globals."""
    return bool(guard.is_global)


def compiled(function: Callable[..., Any], *args: Any, keep: Keep | None = None) -> Any:
    """The function, compiled for these arguments; ``keep`` stands in for torch's own filter of guards."""
    options: Any = None if keep is None else {"guard_filter_fn": lambda guards: [keep(each) for each in guards]}
    with torch_api.get("dynamo_config").patch(enable_aot_compile=True):
        function = torch.compile(function, fullgraph=True, backend="eager", options=options)
        return function.aot_compile((args, {}))  # type: ignore[attr-defined]  # torch declares a plain callable


def saved(
    function: Callable[..., Any], *args: Any, keep: Keep | None = None, external_data: dict[str, Any] | None = None
) -> bytes:
    """As :func:`compiled`, saved."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "function.bin"
        compiled(function, *args, keep=keep).save_compiled_function(str(path), external_data=external_data)
        return path.read_bytes()


def load(data: bytes, **given: Any) -> Callable[..., Any]:
    """The saved function, loaded with these arguments of ``load_compiled_function``."""
    loaded: Callable[..., Any] = torch_api.get("load_compiled_function")(io.BytesIO(data), **given)
    return loaded


def first(value: Any) -> float:
    """The first number of a tensor."""
    return float(value.flatten()[0])


def answer(loaded: Callable[..., Any], what: str = "a call") -> float:
    """The first number that a call answers.

    Raises:
        DiffersError: The call raised, whatever the claim is.
    """
    with promised(what):
        return first(loaded(ONES))


def filled(number: float, size: int = 3) -> torch.Tensor:
    """A vector of the number."""
    return torch.full((size,), number)


def dynamic() -> Any:
    """A module whose ``f`` is a function of a global tensor with a dynamic dim, which must be more than 4."""
    made = module("W = torch.ones(8)\n\ndef f(x):\n    return x * W.sum() if W.shape[0] > 4 else x\n")
    torch_api.get("mark_dynamic")(made.W, 0)
    return made


def with_alias() -> tuple[bytes, str, types.ModuleType]:
    """A saved function with a kept guard that starts from a global of Dynamo's own; its name, and the module behind it.

    Dynamo reaches the constants of an inlined function's module by such a global.
    """
    inlined = module("SCALE = 3\n\ndef scaled(x):\n    return x * SCALE\n")
    alias = f"__import_{inlined.__name__}"
    made = module(f"from {inlined.__name__} import scaled\n\ndef f(x):\n    return scaled(x)\n")
    return saved(made.f, ONES, keep=named(f"G['{alias}'].SCALE")), alias, inlined
