"""``f_globals`` of ``torch.compiler.load_compiled_function`` as the scope of the kept guards, and what a load adds."""

from __future__ import annotations

import types

from pcbench import torch_api
from pcbench.contract import expect, promised, refused
from pcbench.contract._functions import (
    CHECK_FAILED,
    ONES,
    SCALED,
    answer,
    dynamic,
    filled,
    load,
    module,
    named,
    of_globals,
    saved,
    with_alias,
)

DOCUMENT = "load_compiled_function"

_SEVERAL = """
K = 3
S = "mean"
T = (2, "x")
D = {"a": 1, "b": torch.ones(3)}
W = torch.ones(3)
NOTHING = None

def f(x):
    x = x * K * T[0] * W + D["a"] * D["b"]
    return x + 1 if S == "mean" and NOTHING is None else x
"""
_READ = ("K", "S", "T", "D", "W", "NOTHING")
_OTHERS = {"K": 4, "S": "sum", "T": (4, "x"), "D": {"a": 2, "b": ONES}, "W": filled(1.0, 2), "NOTHING": 1}

_BUILTINS = "\ndef f(x):\n    return x + len([1, 2])\n"


def without_f_globals_guards_see_the_rebuilt_scope() -> str:
    """Without f_globals kept guards resolve against the scope rebuilt from the file: a rebind elsewhere is unseen."""
    made = module(SCALED)
    loaded = load(saved(made.f, ONES, keep=named("G['W']")))
    made.W = filled(5.0, 4).double()
    with promised("a call after the module's global had changed its kind"):
        loaded(ONES)
    return "the module's global got another dtype and size, and the call was served"


def an_empty_dict_is_an_empty_guard_scope() -> str:
    """Passing {} is an empty guard scope, not the same as passing nothing: a kept guard on a global then fails."""
    data = saved(module(SCALED).f, ONES, keep=named("G['W']"))
    with promised("a call of the function loaded without f_globals"):
        load(data)(ONES)
    with refused("a call over {}", RuntimeError, saying=CHECK_FAILED):
        load(data, f_globals={})(ONES)
    return "the same file is served without f_globals, and refused with {}"


def the_module_s_globals_satisfy_every_kept_guard() -> str:
    """With every guard on globals kept, vars() of the module that defined the function satisfies them."""
    made = module(_SEVERAL)
    with promised("a call over vars(mod)"):
        load(saved(made.f, ONES, keep=of_globals), f_globals=vars(made))(ONES)
    return f"guards on {', '.join(_READ)} were kept, and the call was served"


def every_guarded_global_must_satisfy_its_guard() -> str:
    """A global that a kept guard reads must satisfy it in f_globals: another value fails the call."""
    made = module(_SEVERAL)
    data = saved(made.f, ONES, keep=of_globals)
    accepted = [name for name, other in _OTHERS.items() if _served(data, {**vars(made), name: other})]
    expect(not accepted, f"another value of {', '.join(accepted)} was accepted")
    return f"another value of each of {', '.join(_OTHERS)} was refused"


def every_guarded_global_must_be_bound() -> str:
    """A global that a kept guard reads must be bound in f_globals: a dict of a few names fails the call."""
    made = module(_SEVERAL)
    data = saved(made.f, ONES, keep=of_globals)
    lacking = {name: {k: v for k, v in vars(made).items() if k != name} for name in _READ}
    accepted = [name for name, scope in lacking.items() if _served(data, scope)]
    expect(not accepted, f"a scope without {', '.join(accepted)} was accepted")
    return f"a scope without each of {', '.join(_READ)} was refused"


def _served(data: bytes, scope: dict[str, object]) -> bool:
    """Whether the guards let a call over the scope through, whatever it then comes to."""
    loaded = load(data, f_globals=scope)
    try:
        loaded(ONES)
    except RuntimeError as error:
        return CHECK_FAILED not in str(error)
    return True


def f_globals_is_held_by_reference() -> str:
    """The dict is held by reference: a global that is rebound in it is what the guards check on the next call."""
    made = module("K = 3\n\ndef f(x):\n    return x * K\n")
    scope = dict(vars(made))
    loaded = load(saved(made.f, ONES, keep=named("G['K']")), f_globals=scope)
    for _ in range(2):
        scope["K"] = 3
        with promised("a call with the value that was compiled"):
            loaded(ONES)
        scope["K"] = 4
        with refused("a call after a rebind in f_globals", RuntimeError, saying=CHECK_FAILED):
            loaded(ONES)
    return "K = 4 in the dict is refused, K = 3 is served again"


def the_load_adds_dynamo_s_globals() -> str:
    """The load writes into f_globals the globals of Dynamo's own that a kept guard starts from."""
    data, alias, inlined = with_alias()
    scope: dict[str, object] = {}
    with promised("a call over a dict without Dynamo's globals"):
        load(data, f_globals=scope)(ONES)
    expect(scope.get(alias) is inlined, f"the dict then held {', '.join(scope) or 'nothing'}, not the module {alias}")
    return f"the load added {', '.join(scope)}"


def the_load_overwrites_no_bound_key() -> str:
    """The load overwrites no key that f_globals binds already."""
    data, alias, _ = with_alias()
    own = types.SimpleNamespace(SCALE=3)
    scope: dict[str, object] = {alias: own}
    with promised("a call over a dict that binds the name itself"):
        load(data, f_globals=scope)(ONES)
    expect(scope == {alias: own}, f"the dict then held {scope}")
    return f"{alias} kept the object that the dict had bound"


def builtins_are_added_where_a_kept_guard_needs_them() -> str:
    """__builtins__ is added, too, when the load has to build the dict of builtins that a kept guard starts from."""
    scope: dict[str, object] = {}
    data = saved(module(_BUILTINS).f, ONES, keep=lambda guard: "__builtins_dict__" in guard.name)
    with promised("a call over a dict without builtins"):
        load(data, f_globals=scope)(ONES)
    expect("__builtins__" in scope, f"the dict then held {', '.join(scope) or 'nothing'}")
    return f"the load added {', '.join(sorted(scope))}"


def builtins_are_not_added_without_need() -> str:
    """__builtins__ is not added where no kept guard starts from a builtin."""
    scope: dict[str, object] = {"W": filled(2.0)}
    answer(load(saved(module(SCALED).f, ONES, keep=named("G['W']")), f_globals=scope))
    bare: dict[str, object] = {}
    answer(load(saved(module(_BUILTINS).f, ONES), f_globals=bare))
    added = sorted({*scope, *bare} - {"W"})
    expect(not added, f"the load added {', '.join(added)}")
    return "the load added nothing"


def a_shape_guard_on_a_global_reads_f_globals() -> str:
    """A symbolic-shape guard on a global with a dynamic dim outlives the default filter and reads f_globals."""
    return _shape_guard(in_cpp=False)


def a_shape_guard_in_cpp_reads_f_globals() -> str:
    """The same holds for a symbolic-shape guard that is compiled, under enable_cpp_symbolic_shape_guards."""
    return _shape_guard(in_cpp=True)


def _shape_guard(*, in_cpp: bool) -> str:
    made = dynamic()
    with torch_api.get("dynamo_config").patch(enable_cpp_symbolic_shape_guards=in_cpp):
        loaded = load(saved(made.f, ONES), f_globals=vars(made))
        with promised("a call with the global as it was"):
            loaded(ONES)
        made.W = filled(1.0, 6)
        with promised("a call with a size of the global that the guard allows"):
            loaded(ONES)
        made.W = filled(1.0, 3)
        with refused("a size of the global that the guard forbids", RuntimeError, saying=CHECK_FAILED):
            loaded(ONES)
    return "sizes 8 and 6 of the global are served, 3 is refused: the guard wants more than 4"


def a_shape_guard_over_an_empty_dict_fails() -> str:
    """An empty f_globals has nothing for a symbolic-shape guard on a global to read: the call fails."""
    data = saved(dynamic().f, ONES)
    with promised("a call of the function loaded without f_globals"):
        load(data)(ONES)
    with refused("a call over {}", RuntimeError, saying=CHECK_FAILED):
        load(data, f_globals={})(ONES)
    return "the same file is served without f_globals, and refused with {}"
