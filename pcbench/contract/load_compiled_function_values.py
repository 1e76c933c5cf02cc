"""What a function of ``torch.compiler.load_compiled_function`` computes with when globals are rebound."""

from __future__ import annotations

import sys
from concurrent.futures import ThreadPoolExecutor
from types import FrameType
from typing import Any

from pcbench.contract import expect, promised, refused
from pcbench.contract._functions import (
    CHECK_FAILED,
    ONES,
    SCALED,
    answer,
    dynamic,
    filled,
    first,
    load,
    module,
    named,
    saved,
)
from pcbench.errors import UnavailableError

DOCUMENT = "load_compiled_function"

_ROUNDS = 300


def under_the_default_filter_f_globals_goes_in_unchecked() -> str:
    """Under the default filter f_globals only widens what the bytecode reads, with nothing that checks it."""
    data = saved(module(SCALED).f, ONES)
    loaded = load(data, f_globals={"W": filled(7.0, 1).double()})
    got = answer(loaded, "a call over a global of another dtype and size")
    expect(got == 7.0, f"answered {got}, not 7.0, by the global in f_globals")
    return "a global of another dtype and size was computed with"


def f_globals_binds_what_the_file_does_not_hold() -> str:
    """A global that the load cannot otherwise resolve is to be passed in f_globals; without it the load fails."""
    data = saved(module("D = {'a': 1}\n\ndef f(x):\n    D['a'] = 5\n    return x * 2\n").f, ONES)
    with refused("a load without a global that the function writes to", RuntimeError, saying="f_globals"):
        load(data)
    held: dict[str, int] = {}
    with promised("a load with that global alone"):
        load(data, f_globals={"D": held})(ONES)
    expect(held == {"a": 5}, f"the call left {held} in the dict")
    return "the load names f_globals when refused; with the global in it, the function wrote to it"


def an_omitted_name_comes_from_the_file() -> str:
    """A name that f_globals omits still resolves in the globals that were saved with the function."""
    data = saved(module(SCALED).f, ONES)
    got = answer(load(data, f_globals={"V": filled(7.0)}), "a call over a dict without the global")
    expect(got == 2.0, f"answered {got}, not 2.0, by the saved global")
    return "without W in f_globals the saved W was computed with"


def an_unguarded_global_keeps_its_value_of_the_load() -> str:
    """A global that is no kept guard's source keeps its value of the load: a later rebind is not seen."""
    scope: dict[str, object] = {"W": filled(7.0)}
    loaded = load(saved(module(SCALED).f, ONES), f_globals=scope)
    before = answer(loaded)
    scope["W"] = filled(9.0)
    after = answer(loaded)
    expect((before, after) == (7.0, 7.0), f"answered {before}, and {after} after the rebind, not 7.0 twice")
    return "W = 7 at the load is computed with before and after W = 9"


def a_guarded_global_is_read_again_on_every_call() -> str:
    """A kept guard's own source is read again on every call: a rebind that the guards accept is computed with."""
    made = module(SCALED)
    loaded = load(saved(made.f, ONES, keep=named("G['W']")), f_globals=vars(made))
    answers = []
    for number in (2.0, 5.0, 3.0):
        made.W = filled(number)
        answers.append(answer(loaded))
    expect(answers == [2.0, 5.0, 3.0], f"W = 2, 5, 3 answered {answers}")
    return "W = 2, 5, 3, each of the same metadata, answered 2, 5, 3"


def what_the_guards_refuse_is_not_computed_with() -> str:
    """What the guards accept is what the call computes with: a refused rebind leaves no trace in later calls."""
    made = module(SCALED)
    loaded = load(saved(made.f, ONES, keep=named("G['W']")), f_globals=vars(made))
    made.W = filled(5.0, 4)
    with refused("a global of another size", RuntimeError, saying=CHECK_FAILED):
        loaded(ONES)
    made.W = filled(3.0)
    got = answer(loaded)
    expect(got == 3.0, f"answered {got}, not 3.0")
    return "another size was refused, and W = 3 then answered 3"


def a_global_of_a_shape_guard_alone_keeps_its_value_of_the_load() -> str:
    """A global that only a symbolic-shape guard reads keeps its value of the load, although the guard sees a rebind."""
    made = dynamic()
    loaded = load(saved(made.f, ONES), f_globals=vars(made))
    made.W = filled(1.0, 6)
    got = answer(loaded, "a call with a size that the guard allows")
    expect(got == 8.0, f"answered {got}: 8.0 is the sum of the load's, 6.0 that of the rebound global")
    made.W = filled(1.0, 3)
    with refused("a size that the guard forbids", RuntimeError, saying=CHECK_FAILED):
        loaded(ONES)
    return "size 6 is accepted and the 8 of the load are summed; size 3 is refused"


def a_container_behind_a_sub_path_does_not_see_a_rebind() -> str:
    """A container that a guard reaches only through a sub-path such as D['a'] keeps its value of the load."""
    made = module(
        "D = {'a': torch.full((3,), 2.0), 'b': torch.full((3,), 10.0)}\n\ndef f(x):\n    return x * D['a'] + D['b']\n"
    )
    loaded = load(saved(made.f, ONES, keep=named("G['D']['a']")), f_globals=vars(made))
    made.D = {"a": filled(3.0), "b": filled(100.0)}
    got = answer(loaded, "a call after a rebind that the guard on D['a'] accepts")
    expect(got == 12.0, f"answered {got}, not 12.0, by the D of the load")
    made.D = {"a": filled(3.0, 4), "b": filled(100.0)}
    with refused("a D['a'] of another size", RuntimeError, saying=CHECK_FAILED):
        loaded(ONES)
    return "the guard on D['a'] follows the rebind, the computation keeps the D of the load"


def a_store_does_not_carry_over() -> str:
    """A store that the function makes to a kept guard's source does not carry over to its next call."""
    made = module("W = torch.full((3,), 2.0)\n\ndef f(x):\n    global W\n    W = W * 2\n    return x * W\n")
    data = saved(made.f, ONES, keep=named("G['W']"))
    scope: dict[str, object] = {"W": filled(2.0)}
    loaded = load(data, f_globals=scope)
    answers = [answer(loaded) for _ in range(3)]
    expect(answers == [4.0, 4.0, 4.0], f"three calls answered {answers}")
    held = scope["W"]
    expect(first(held) == 2.0, f"the store reached f_globals: W is {first(held)} there")
    return "three calls that double W each answered 4, and W in f_globals stayed 2"


def the_re_read_comes_after_the_check() -> str:
    """The re-read is not atomic with the guard check before it: a rebind between the two is computed with, unchecked.

    The rebind is made by a profiler at the moment in which the check has passed.
    """
    made = module(SCALED)
    scope = dict(vars(made))
    loaded = load(saved(made.f, ONES, keep=named("G['W']")), f_globals=scope)
    checks = []

    def rebind(frame: FrameType, event: str, arg: object) -> None:  # noqa: ARG001  # a profiler's signature
        if event == "c_return" and getattr(arg, "__name__", "") == "check":
            checks.append(event)
            scope["W"] = filled(7.0, 1).double()

    sys.setprofile(rebind)
    try:
        got = answer(loaded)
    finally:
        sys.setprofile(None)
    if not checks:
        raise UnavailableError("this torch checks guards where a profiler does not see it")
    expect(got == 7.0, f"answered {got}: 7.0 is that of the global of another dtype, bound after the check")
    with refused("the same global at the next check", RuntimeError, saying=CHECK_FAILED):
        loaded(ONES)
    return "a global of another dtype, bound after the check, was computed with, and refused at the next call"


def calls_share_the_function_s_own_globals() -> str:
    """The re-read writes into the loaded function's own globals, which every call of it shares."""
    made = module(SCALED)
    loaded = load(saved(made.f, ONES, keep=named("G['W']")), f_globals=vars(made))
    inner: Any = getattr(loaded, "fn", None)
    if not hasattr(inner, "__globals__"):
        raise UnavailableError(f"the globals of a {type(loaded).__name__} are out of reach")
    for number in (2.0, 5.0):
        made.W = filled(number)
        loaded(ONES)
        written = inner.__globals__["W"]
        expect(written is made.W, f"after a call with W = {number} its globals held W = {first(written)}")
    expect(inner.__globals__ is not vars(made), "its globals are the module's")
    return "each call left the W that it read in the function's own globals"


def threads_with_a_load_each_do_not_disturb_each_other() -> str:
    """Threads that rebind a guarded global concurrently are to load the file once each: each sees its own values."""
    data = saved(module(SCALED).f, ONES, keep=named("G['W']"))
    before = sys.getswitchinterval()

    def call(offset: int) -> list[str]:
        scope: dict[str, object] = {"W": filled(0.0)}
        loaded = load(data, f_globals=scope)
        wrong = []
        for number in range(offset, offset + _ROUNDS):
            scope["W"] = filled(float(number))
            got = answer(loaded)
            if got != number:
                wrong.append(f"W = {number} answered {got}")
        return wrong

    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(2) as pool:
            wrong = [each for found in pool.map(call, (0, 10_000)) for each in found]
    finally:
        sys.setswitchinterval(before)
    expect(not wrong, f"{len(wrong)} of {2 * _ROUNDS} calls were wrong: {'; '.join(wrong[:2])}")
    return f"two threads with a load each rebound W {_ROUNDS} times each, and each call answered by its own W"
