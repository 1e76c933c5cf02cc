"""What each guard filter of ``torch.compiler`` keeps and drops, and what then goes unnoticed."""

from __future__ import annotations

import textwrap
from collections.abc import Callable
from typing import Any

import torch
from torch import nn

from pcbench.contract import expect
from pcbench.contract._programs import Counting, agree, function

DOCUMENT = "torch_compiler_api"

_factor = 2
_offset = torch.ones(1)

_CHANGES: dict[str, str] = {
    "argument": "a Python argument",
    "global": "a global number",
    "global_tensor": "the shape of a global tensor",
    "attribute": "a number on the user's module",
    "builtin": "a number on a module of torch.nn",
    "parameter": "the shape of a parameter",
    "shape": "the shape of an input",
    "grad": "the grad mode",
}
_NUMBERS = frozenset({"argument", "global", "attribute", "builtin"})
"""Changes after which the right answer is another one."""


def keep_portable_guards_keeps_and_drops() -> str:
    """``keep_portable_guards_unsafe`` keeps what can be checked without Python, and drops all other guards.

    That is metadata of tensors that are not global, dynamic shapes, and the global state, such as the grad mode.
    """
    return _split(
        "keep_portable_guards_unsafe",
        lambda kind, name: kind in {"GLOBAL_STATE", "SHAPE_ENV"} or (kind == "TENSOR_MATCH" and not _is_global(name)),
    )


def keep_portable_guards_leaves_unnoticed() -> str:
    """Under ``keep_portable_guards_unsafe``, no change in Python or of a global is noticed; shapes and modes are."""
    return _unnoticed("keep_portable_guards_unsafe", {"argument", "global", "global_tensor", "attribute", "builtin"})


def skip_guard_on_inbuilt_nn_modules_keeps_and_drops() -> str:
    """``skip_guard_on_inbuilt_nn_modules_unsafe`` drops guards on modules of ``torch.nn`` and keeps all others."""
    return _split("skip_guard_on_inbuilt_nn_modules_unsafe", lambda _, name: not _is_builtin(name))


def skip_guard_on_inbuilt_nn_modules_leaves_unnoticed() -> str:
    """Under ``skip_guard_on_inbuilt_nn_modules_unsafe`` a change on a module of ``torch.nn`` goes unnoticed."""
    return _unnoticed("skip_guard_on_inbuilt_nn_modules_unsafe", {"builtin"})


def skip_guard_on_all_nn_modules_keeps_and_drops() -> str:
    """``skip_guard_on_all_nn_modules_unsafe`` drops guards on the user's modules as well, and keeps all others."""
    return _split("skip_guard_on_all_nn_modules_unsafe", lambda _, name: not _is_module(name))


def skip_guard_on_all_nn_modules_leaves_unnoticed() -> str:
    """Under ``skip_guard_on_all_nn_modules_unsafe`` a change on any module goes unnoticed, in a parameter too."""
    return _unnoticed("skip_guard_on_all_nn_modules_unsafe", {"builtin", "attribute", "parameter"})


def keep_tensor_guards_keeps_and_drops() -> str:
    """``keep_tensor_guards_unsafe`` keeps guards on tensors that are no parameters, and drops all others."""
    return _split("keep_tensor_guards_unsafe", lambda kind, name: kind == "TENSOR_MATCH" and not _is_module(name))


def keep_tensor_guards_leaves_unnoticed() -> str:
    """Under ``keep_tensor_guards_unsafe`` only tensors are seen to change, and no parameters."""
    return _unnoticed("keep_tensor_guards_unsafe", set(_CHANGES) - {"shape", "global_tensor"})


def skip_guard_on_globals_keeps_and_drops() -> str:
    """``skip_guard_on_globals_unsafe`` drops the guards on globals, and keeps all others."""
    return _split("skip_guard_on_globals_unsafe", lambda _, name: not _is_global(name))


def skip_guard_on_globals_leaves_unnoticed() -> str:
    """Under ``skip_guard_on_globals_unsafe`` a change of a global goes unnoticed, a global tensor's included."""
    return _unnoticed("skip_guard_on_globals_unsafe", {"global", "global_tensor"})


def skip_all_guards_keeps_and_drops() -> str:
    """``skip_all_guards_unsafe`` drops every guard."""
    return _split("skip_all_guards_unsafe", lambda _, __: False)


def skip_all_guards_leaves_unnoticed() -> str:
    """Under ``skip_all_guards_unsafe`` no change at all is noticed."""
    return _unnoticed("skip_all_guards_unsafe", set(_CHANGES))


class _Block(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.act = nn.LeakyReLU(negative_slope=0.5)
        self.weight = nn.Parameter(torch.ones(1))
        self.scale = 2

    def forward(self, x: torch.Tensor, factor: int) -> torch.Tensor:
        y: torch.Tensor = self.act(x)
        return y * self.weight * self.scale * factor * _factor + _offset


def _is_global(name: str) -> bool:
    return name.startswith("G[")


def _is_module(name: str) -> bool:
    return "self" in name and not _is_global(name)


def _is_builtin(name: str) -> bool:
    return _is_module(name) and "'act'" in name


def _split(name: str, kept: Callable[[str, str], bool]) -> str:
    """Which guards the filter keeps is what ``kept`` says of their types and sources."""
    chosen = function(name)
    seen: list[tuple[str, str, bool]] = []

    def noting(entries: list[Any]) -> list[bool]:
        flags: list[bool] = chosen(entries)
        seen.extend((e.guard_type, e.name, bool(flag)) for e, flag in zip(entries, flags, strict=True))
        return flags

    options: dict[str, Any] = {"guard_filter_fn": noting}
    torch.compile(_Block(), backend="eager", dynamic=True, options=options)(torch.randn(2, 3), 3)
    wrong = [f"{source or '(no source)'} {kind}" for kind, source, flag in seen if flag != kept(kind, source)]
    expect(not wrong, f"of {len(seen)} guards, otherwise than the name says: {', '.join(sorted(set(wrong))[:4])}")
    dropped = [kind for kind, _, flag in seen if not flag]
    expect(bool(dropped), f"none of {len(seen)} guards was dropped")
    rest = ", ".join(sorted({kind for kind, _, flag in seen if flag})) or "none"
    types = textwrap.shorten(rest, 100, placeholder=" ...")
    return f"dropped {len(dropped)} of {len(seen)} guards; kept types: {types}"


def _unnoticed(name: str, expected: set[str]) -> str:
    """Changes that go unnoticed under the filter are those expected, and what is computed then is stale."""
    chosen = function(name)
    went = {change for change in _CHANGES if not _notices(chosen, change)}
    noticed, missed = sorted(expected - went), sorted(went - expected)
    expect(not noticed, f"noticed all the same: {', '.join(_CHANGES[change] for change in noticed)}")
    expect(not missed, f"went unnoticed too: {', '.join(_CHANGES[change] for change in missed)}")
    return f"unnoticed: {', '.join(_CHANGES[change] for change in _CHANGES if change in went)}"


def _notices(chosen: Callable[..., Any] | None, change: str) -> bool:
    """Whether a function compiled with a guard filter, or with none, compiles again after a change.

    Raises:
        DiffersError: It did not, and gave neither the answer of before nor one that is right.
    """
    function("reset")()
    names, model, args = globals(), _Block(), {"x": -torch.ones(2, 3), "factor": 3}
    names["_factor"], names["_offset"] = 2, torch.ones(1)
    backend = Counting()
    options: dict[str, Any] | None = None if chosen is None else {"guard_filter_fn": chosen}
    compiled = torch.compile(model, backend=backend, options=options)
    before = compiled(**args)
    expect(agree(before, model(**args)), "the compiled function gives another answer than eager before any change")
    graphs = len(backend.graphs)
    if change == "argument":
        args["factor"] = 4
    elif change == "global":
        names["_factor"] = 5
    elif change == "global_tensor":
        names["_offset"] = torch.ones(3)
    elif change == "attribute":
        model.scale = 7
    elif change == "builtin":
        model.act.negative_slope = 0.25
    elif change == "parameter":
        model.weight = nn.Parameter(torch.ones(3))
    elif change == "shape":
        args["x"] = -torch.ones(5, 3)
    with torch.set_grad_enabled(change != "grad"):
        after, right = compiled(**args), model(**args)
    if len(backend.graphs) > graphs:
        expect(agree(after, right), f"after a change of {_CHANGES[change]} that was noticed, a wrong answer")
        return True
    stale = before if change in _NUMBERS else right
    expect(agree(after, stale), f"after a change of {_CHANGES[change]} that went unnoticed, a new answer")
    return False
