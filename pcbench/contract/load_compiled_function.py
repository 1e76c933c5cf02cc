"""What ``torch.compiler.load_compiled_function`` gives: a callable that is compiled already, and its guards."""

from __future__ import annotations

import io
import subprocess
import sys
import tempfile
from pathlib import Path

import torch

from pcbench import torch_api
from pcbench.contract import expect, promised, refused
from pcbench.contract._functions import CHECK_FAILED, ONES, SCALED, answer, filled, first, load, module, named, saved

DOCUMENT = "load_compiled_function"

_ELSEWHERE = """
import sys, torch
torch.set_num_threads({threads})
with open({path!r}, "rb") as file:
    loaded = torch.compiler.load_compiled_function(file)
print(float(loaded(torch.ones(3))[0]))
"""


def takes_a_file_like_object() -> str:
    """It takes a file-like object: a file that is open for reading, or bytes in memory."""
    data = saved(module(SCALED).f, ONES)
    with promised("loading"), tempfile.TemporaryFile() as file:
        file.write(data)
        file.seek(0)
        answers = [first(torch_api.get("load_compiled_function")(each)(ONES)) for each in (file, io.BytesIO(data))]
    expect(answers == [2.0, 2.0], f"answered {answers}, not 2.0 twice")
    return "an open file and a BytesIO load, and answer as the original does"


def takes_the_rest_by_keyword() -> str:
    """Only the file is positional: f_globals and external_data are keyword arguments."""
    data = saved(module(SCALED).f, ONES)
    with refused("a positional f_globals", TypeError):
        torch_api.get("load_compiled_function")(io.BytesIO(data), {})
    return "a second positional argument is a TypeError"


def loads_in_a_process_that_never_saw_the_function() -> str:
    """The function loads from a file alone: the process need not have the module that defined it."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "function.bin"
        path.write_bytes(saved(module(SCALED).f, ONES))
        program = _ELSEWHERE.format(path=str(path), threads=torch.get_num_threads())
        ended = subprocess.run([sys.executable, "-P", "-c", program], capture_output=True, text=True, check=False)
    said = (ended.stdout + ended.stderr).strip().splitlines() or ["it printed nothing"]
    expect(ended.returncode == 0, f"another process could not load and call it: {said[-1]}")
    expect(ended.stdout.strip() == "2.0", f"another process got {ended.stdout.strip()}, not 2.0")
    return "another process, without the module, gets the same answer"


def compilation_is_preloaded() -> str:
    """What comes back is compiled already: neither the load nor a call makes Dynamo compile."""
    data = saved(module(SCALED).f, ONES)
    before = torch_api.frames_compiled()
    with promised("loading and calling"):
        load(data)(ONES)
    compiled = torch_api.frames_compiled() - before
    expect(compiled == 0, f"{compiled} frames were compiled")
    return "Dynamo compiled no frame at the load and the first call"


def a_failing_guard_raises() -> str:
    """A call that a kept guard refuses raises RuntimeError: GuardManager check failed."""
    loaded = load(saved(module(SCALED).f, ONES))
    with refused("an argument of another dtype", RuntimeError, saying=CHECK_FAILED):
        loaded(ONES.double())
    with refused("an argument of another size", RuntimeError, saying=CHECK_FAILED):
        loaded(filled(1.0, 4))
    return "another dtype and another size of the argument are refused so"


def a_failing_guard_never_recompiles() -> str:
    """A refused call does not recompile, and the function serves the calls that fit as before."""
    loaded = load(saved(module(SCALED).f, ONES))
    before = torch_api.frames_compiled()
    for _ in range(3):
        with refused("an argument of another size", RuntimeError, saying=CHECK_FAILED):
            loaded(filled(1.0, 4))
    compiled = torch_api.frames_compiled() - before
    expect(compiled == 0, f"{compiled} frames were compiled after a refusal")
    got = answer(loaded, "a call that fits, after refusals,")
    expect(got == 2.0, f"a call that fits then answered {got}, not 2.0")
    return "three refusals compiled nothing, and the next call that fits was served"


def the_default_filter_drops_the_guards_on_globals() -> str:
    """By default all guards on globals are dropped: other values, types and sizes of globals go unnoticed."""
    made = module("K = 3\nD = {'a': 2}\nW = torch.full((3,), 2.0)\n\ndef f(x):\n    return x * W * K * D['a']\n")
    data = saved(made.f, ONES)
    made.K, made.D, made.W = "three", None, filled(5.0, 1).double()
    loaded = load(data)
    got = answer(loaded, "a call after every global had changed")
    expect(got == 12.0, f"answered {got}, not 12.0, what was compiled")
    with promised("a call with the changed globals as f_globals"):
        load(data, f_globals=vars(made))(ONES)
    return "an int, a dict and a tensor were replaced by other types, and no call was refused"


def a_filter_can_keep_the_guards_on_globals() -> str:
    """It takes a guard_filter_fn that keeps guards on globals for a kept guard to read one."""
    made = module("K = 3\n\ndef f(x):\n    return x * K\n")
    loaded = load(saved(made.f, ONES, keep=named("G['K']")), f_globals=vars(made))
    with promised("a call with the global as it was"):
        loaded(ONES)
    made.K = 4
    with refused("another value of the global", RuntimeError, saying=CHECK_FAILED):
        loaded(ONES)
    return "with the guard on K kept, another K is refused"


def a_kept_guard_holds_a_constant_of_an_inlined_module_to_what_was_compiled() -> str:
    """Every global that a kept guard reads must satisfy it: also one of an inlined function's own module."""
    inlined = module("SCALE = 3\n\ndef scaled(x):\n    return x * SCALE\n")
    made = module(f"from {inlined.__name__} import scaled\n\ndef f(x):\n    return scaled(x)\n")
    data = saved(made.f, ONES, keep=named(f"G['__import_{inlined.__name__}'].SCALE"))
    with promised("a call with the constant as it was"):
        load(data, f_globals=vars(made))(ONES)
    inlined.SCALE = 4
    loaded = load(data, f_globals=vars(made))
    with refused("a constant that was 3 when compiled and 4 at the load", RuntimeError, saying=CHECK_FAILED):
        loaded(ONES)
    return "a constant that changed before the load is refused at the call"
