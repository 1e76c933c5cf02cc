"""Functions of ``torch.compiler`` that set how it compiles, forget or keep what it compiled: what each promises."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import torch

from pcbench import torch_api
from pcbench.contract import expect, refused
from pcbench.contract._programs import Counting, agree, compiled_or_not, function, said, scaled
from pcbench.errors import UnavailableError

DOCUMENT = "torch_compiler_api"


def functions_of_compiling_are_there() -> str:
    """The functions that compile, and set how, are public names of ``torch.compiler``."""
    names = "compile reset disable list_backends set_default_backend get_default_backend set_stance"
    return _expect_names(f"{names} set_enable_guard_collectives")


def functions_of_tracing_are_there() -> str:
    """The functions that tell how a function is to be traced are public names of ``torch.compiler``."""
    names = "nonstrict_trace allow_in_graph substitute_in_graph assume_constant_result wrap_numpy"
    return _expect_names(f"{names} nested_compile_region is_compiling is_dynamo_compiling is_exporting")


def functions_of_guards_are_there() -> str:
    """The guard filters are public names of ``torch.compiler``."""
    names = "keep_portable_guards_unsafe keep_tensor_guards_unsafe skip_all_guards_unsafe"
    skipped = [f"skip_guard_on_{what}_unsafe" for what in ("inbuilt_nn_modules", "all_nn_modules", "globals")]
    return _expect_names(f"{names} {' '.join(skipped)}")


def functions_of_persisting_are_there() -> str:
    """What saves and loads compiled models is public in ``torch.compiler``."""
    names = "load_cache_artifacts save_cache_artifacts load_compiled_function precompile PrecompileError"
    return _expect_names(names)


def functions_of_cuda_graphs_are_there() -> str:
    """What marks steps and warm-ups of CUDA graphs is public in ``torch.compiler``."""
    return _expect_names("cudagraph_mark_step_begin cudagraph_mark_warmup_incomplete")


def compile_is_that_of_torch() -> str:
    """``torch.compiler.compile`` compiles as ``torch.compile`` does, with the same options."""
    backend, x = Counting(), torch.ones(3)
    compiled = function("compile")(scaled, backend=backend, fullgraph=True, dynamic=False)
    expect(agree(compiled(x, 2), x * 2), "another answer than eager's")
    expect(len(backend.graphs) == 1, f"the backend was given {len(backend.graphs)} graphs")
    return "one graph for the backend, and eager's answer"


def reset_forgets_compiled_code() -> str:
    """``reset`` forgets what was compiled in this process, so that the next call compiles again; files stay."""
    backend, x = Counting(), torch.ones(3)
    compiled = torch.compile(scaled, backend=backend)
    counts = []
    with torch_api.get("fresh_cache")():
        kept = Path(os.environ["TORCHINDUCTOR_CACHE_DIR"], "kept")
        kept.touch()
        for _ in range(2):
            for _ in range(2):
                compiled(x, 2)
            counts.append(len(backend.graphs))
            function("reset")()
        expect(kept.exists(), "a file in Inductor's cache folder is gone")
    expect(counts == [1, 2], f"graphs compiled before and after it: {counts}")
    return "compiled once before and once after it"


def the_default_backend_can_be_set() -> str:
    """``set_default_backend`` names the backend for where ``torch.compile`` is given none; None is Inductor again."""
    get, put, backend, x = function("get_default_backend"), function("set_default_backend"), Counting(), torch.ones(3)
    expect(get() == "inductor", f"the default is {get()!r} at first")
    put(backend)
    expect(get() is backend, f"it was set, and is {get()!r}")
    torch.compile(scaled)(x, 2)
    expect(len(backend.graphs) == 1, f"the backend was given {len(backend.graphs)} graphs")
    put(None)
    expect(get() == "inductor", f"after None it is {get()!r}")
    return "inductor at first and after None, and in between what was set"


def backends_are_listed() -> str:
    """``list_backends`` names backends that ``torch.compile`` takes; those for debugging where they are asked for."""
    listed = function("list_backends")()
    everything = function("list_backends")(exclude_tags=())
    expect("inductor" in listed, f"inductor is not in {listed}")
    expect("eager" not in listed, "eager, which is for debugging, is listed")
    expect({"eager", "aot_eager", *listed} <= set(everything), f"with nothing left out, it lists {everything}")
    return f"{len(listed)} backends, {len(everything)} with those for debugging"


def disabled_functions_are_not_compiled() -> str:
    """A function under ``disable`` runs as it is, as do those that it calls; the rest of the frame is compiled."""
    backend, x = Counting(), torch.ones(3)
    plain = function("disable")(lambda x: compiled_or_not(x) * 2)
    compiled = torch.compile(lambda x: plain(x + 1) + 1, backend=backend)
    expect(agree(compiled(x), (x + 1 - 1) * 2 + 1), "the disabled function, or what it calls, was compiled")
    expect(len(backend.graphs) == 2, f"{len(backend.graphs)} graphs, not one before and one after it")
    with refused("it in one full graph", Exception) as caught:
        torch.compile(lambda x: plain(x), backend="eager", fullgraph=True)(x)
    return f"eager code between two graphs; in one full graph {type(caught[0]).__name__}"


def guard_collectives_return_the_setting_before() -> str:
    """``set_enable_guard_collectives`` returns what was set before."""
    put = function("set_enable_guard_collectives")
    given = [put(True), put(True), put(False), put(False)]
    expect(given == [False, True, True, False], f"set to True, True, False, False it returned {given}")
    return "False, True, True, False when set to True, True, False, False"


def cache_artifacts_make_the_trip() -> str:
    """What ``save_cache_artifacts`` gives fills empty caches, so that compiling the same again finds it there."""
    torch_api.require_counters("fxgraph", "aot_autograd")
    fresh_cache, x, misses = torch_api.get("fresh_cache"), torch.ones(8), []
    saved: Any = None
    for _ in range(2):
        function("reset")()
        with fresh_cache():
            if saved is not None:
                loaded = function("load_cache_artifacts")(saved[0])
                expect(loaded is not None, "load_cache_artifacts gave None")
            before = torch_api.cache_misses()
            expect(agree(torch.compile(scaled)(x, 2), x * 2), "another answer than eager's")
            misses.append(torch_api.cache_misses() - before)
            saved = saved or function("save_cache_artifacts")()
            expect(saved is not None, "save_cache_artifacts gave None after a compilation")
    expect(misses[0] > 0, "the first compilation missed no cache, so that the second shows nothing")
    expect(misses[1] == 0, f"with the artifacts loaded {misses[1]} caches missed, without them {misses[0]}")
    return f"{len(saved[0])} bytes: {misses[0]} misses of the caches without them, none with them"


def nothing_compiled_saves_nothing() -> str:
    """``save_cache_artifacts`` gives None where nothing was compiled."""
    torch_api.get("dynamo")
    given = function("save_cache_artifacts")()
    expect(given is None, f"it gave {type(given).__name__}")
    return "None in a process that compiled nothing"


def a_warm_up_mark_outside_one_does_nothing() -> str:
    """``cudagraph_mark_warmup_incomplete`` does nothing outside a warm-up of CUDA graphs."""
    given = function("cudagraph_mark_warmup_incomplete")()
    expect(given is None, f"it gave {given!r}")
    return "called outside a warm-up, it returned"


def a_step_mark_frees_the_step_before() -> str:
    """``cudagraph_mark_step_begin`` starts an iteration, in which CUDA graphs free the tensors of the one before."""
    mark = function("cudagraph_mark_step_begin")
    if not torch.cuda.is_available():
        raise UnavailableError("torch sees no GPU, and CUDA graphs need one")
    compiled, x = torch.compile(scaled, mode="reduce-overhead"), torch.ones(3, device="cuda")
    for _ in range(3):
        mark()
        kept = compiled(x, 2)
    mark()
    compiled(x + 1, 2)
    with refused("reading a tensor of the step before", RuntimeError, saying="overwritten") as caught:
        kept.tolist()
    return said(caught)


def _expect_names(names: str) -> str:
    wanted = names.split()
    lacking = [name for name in wanted if not hasattr(torch.compiler, name)]
    expect(not lacking, f"torch.compiler lacks {', '.join(lacking)}")
    hidden = [name for name in wanted if name not in torch.compiler.__all__]
    expect(not hidden, f"torch.compiler.__all__ leaves out {', '.join(hidden)}")
    return f"{len(wanted)} names"
