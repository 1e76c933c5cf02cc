"""The names and texts of torch that may move or go, with the releases on which each was seen to work: a table.

:mod:`pcbench.torch_api` looks them up. Nothing else in pcbench spells a private torch name.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Name:
    """A name inside torch.

    Attributes:
        module: The module that holds it.
        attribute: Dotted attribute inside the module; empty for the module itself.
        used_for: What pcbench needs it for.
        verified: Releases on which pcbench's tests passed with it.
    """

    module: str
    attribute: str
    used_for: str
    verified: tuple[str, ...]


_PRECOMPILE = ("2.14.1", "2.15.0")
_ALL = ("2.11.0", "2.13.0", *_PRECOMPILE)
_GUARDS = ("2.13.0", "2.15.0")
_PT2 = "torch.export.pt2_archive._package"

NAMES: dict[str, Name] = {
    "package_pt2": Name(_PT2, "package_pt2", "saving an exported program", _ALL),
    "load_pt2": Name(_PT2, "load_pt2", "loading an exported program", _ALL),
    "aoti_compile_and_package": Name(
        "torch._inductor", "aoti_compile_and_package", "capturing an AOTInductor package", _ALL
    ),
    "aoti_load_package": Name("torch._inductor", "aoti_load_package", "loading an AOTInductor package", _ALL),
    "load_compiled_function": Name("torch.compiler", "load_compiled_function", "loading aot_compile's function", _ALL),
    "precompile": Name("torch.compiler", "precompile", "capturing and loading with precompile", _PRECOMPILE),
    "pytree": Name("torch.utils._pytree", "", "dataclass inputs and outputs", _ALL),
    "dynamo": Name("torch._dynamo", "", "loading what Dynamo or precompile saved", _ALL),
    "inductor": Name("torch._inductor", "", "loading what Inductor compiled", _ALL),
    "dynamo_config": Name("torch._dynamo", "config", "turning aot_compile on, which torch 2.11 leaves off", _ALL),
    "dynamo_counters": Name("torch._dynamo.utils", "counters", "seeing that a load compiled again", _ALL),
    "mark_dynamic": Name("torch._dynamo", "mark_dynamic", "marking dims that vary", ("2.11.0", *_PRECOMPILE)),
    "mark_unbacked": Name("torch._dynamo.decorators", "mark_unbacked", "marked dims under precompile", ("2.15.0",)),
    "nativert": Name("torch._C._nativert", "PyModelRunner", "running an exported archive in C++", ("2.11.0",)),
    "cache_artifacts": Name(
        "torch.compiler._cache",
        "CacheArtifactManager",
        "gathering one model's cache artifacts",
        ("2.11.0", "2.13.0", "2.15.0"),
    ),
    "autograd_config": Name(
        "torch._functorch", "config", "asking why a cache was bypassed", ("2.11.0", "2.13.0", "2.15.0")
    ),
    "compile_package": Name(
        "torch._dynamo.package", "CompilePackage", "loading with caching_precompile", ("2.11.0", "2.13.0", "2.15.0")
    ),
    "precompile_context": Name(
        "torch._dynamo.precompile_context",
        "PrecompileContext",
        "saving with caching_precompile",
        ("2.11.0", "2.13.0", "2.15.0"),
    ),
    "inductor_config": Name("torch._inductor", "config", "options of a cached runner", ("2.11.0", "2.15.0")),
    "tensor_guards": Name(
        "torch._C", "_dynamo.guards.TensorGuards", "seeing that a weight's metadata changed", ("2.11.0", "2.15.0")
    ),
    "dispatch_keys": Name("torch._C", "_dispatch_keys", "telling kinds of inputs apart", ("2.11.0", "2.15.0")),
    "function_modes": Name("torch._C", "_len_torch_function_stack", "telling modes apart", ("2.11.0", "2.15.0")),
    "state_guard": Name("torch._C", "_dynamo.guards.GlobalStateGuard", "telling modes apart", ("2.11.0", "2.15.0")),
    "instruction_counter": Name("torch._C", "_instruction_counter", "trying the hardware counters", _ALL),
    "event_log": Name("torch._dynamo.utils", "ChromiumEventLogger", "timing a capture's phases", ("2.11.0", "2.15.0")),
    "export": Name("torch.export", "export", "counting the graphs that it captures", ("2.11.0", "2.15.0")),
    "backend_call": Name(
        "torch._dynamo.output_graph",
        "OutputGraph.call_user_compiler",
        "counting the graphs that Dynamo captures",
        ("2.11.0", "2.15.0"),
    ),
    "frame_compiles": Name(
        "torch._dynamo.convert_frame", "FRAME_COMPILE_COUNTER", "counting recompiles", ("2.11.0", "2.15.0")
    ),
    "kernel_count": Name("torch._inductor.metrics", "generated_kernel_count", "counting kernels", ("2.11.0", "2.15.0")),
    "worker_pool": Name(
        "torch._inductor.async_compile", "AsyncCompile.process_pool.cache_info", "seeing workers", ("2.11.0", "2.15.0")
    ),
    "precompile_trace": Name(
        "torch._precompile", "make_fx", "counting the graphs that precompile captures", ("2.15.0",)
    ),
    "precompile_log": Name("torch._precompile", "log", "hearing what a load warns of", _PRECOMPILE),
    "cpu_vec_isa": Name("torch._inductor.cpu_vec_isa", "", "probing the instruction set", ("2.15.0",)),
    "cpp_builder": Name("torch._inductor.cpp_builder", "", "asking the compiler anew", ("2.15.0",)),
    "cpp_compiler": Name(
        "torch._inductor.cpp_builder", "get_cpp_compiler", "what compiler caches are made with", ("2.15.0",)
    ),
    "cache_dir": Name(
        "torch._inductor.runtime.cache_dir_utils", "cache_dir", "whose compiler caches a load takes", ("2.15.0",)
    ),
    "guard_hook": Name(
        "torch._dynamo.guards", "guard_manager_testing_hook_fn", "seeing the guards of a compiled function", _GUARDS
    ),
    "guard_profile": Name(
        "torch._C", "_dynamo.guards.profile_guard_manager", "torch's own time of a guard check", _GUARDS
    ),
    "relational_guard": Name("torch._C", "_dynamo.guards.RelationalGuard", "telling guards on several values", _GUARDS),
    "dict_manager": Name("torch._C", "_dynamo.guards.DictGuardManager", "walking guards on the keys of dicts", _GUARDS),
    "root_guard_manager": Name("torch._C", "_dynamo.guards.RootGuardManager", "timing a check of no guards", _ALL),
    "cache_entries": Name(
        "torch._dynamo.eval_frame", "_debug_get_cache_entry_list", "counting the entries of a code's cache", _GUARDS
    ),
    "compilation_metrics": Name(
        "torch._dynamo.utils", "get_compilation_metrics", "torch's own counts of guards", _GUARDS
    ),
    "hook_guards": Name("torch._dynamo", "config.skip_nnmodule_hook_guards", "guards on hooks of modules", _ALL),
    "aliasing_in_python": Name(
        "torch._dynamo", "config.use_lamba_guard_for_object_aliasing", "guards on aliases in C++", _ALL
    ),
    "cpp_shape_guards": Name(
        "torch._dynamo", "config.enable_cpp_symbolic_shape_guards", "guards on shapes in C++", _ALL
    ),
    "fresh_cache": Name("torch._inductor.utils", "fresh_cache", "running with empty compiler caches", _ALL),
}


@dataclass(frozen=True)
class Word:
    """A text, such as a timer's name, that is in the source of torch where torch has that timer or counter.

    Timers and counters come to be when they are first used: one that is gone cannot be told from one that stood still.
    """

    module: str
    text: str


def _words(module: str, start: str, *ends: str) -> tuple[Word, ...]:
    return tuple(Word(module, f"{start}_{end}") for end in ends)


WORDS: dict[str, tuple[Word, ...]] = {
    "dynamo_s": (Word("torch._dynamo.convert_frame", "compile_attempt_"),),
    "aot_autograd_s": (Word("torch._functorch.aot_autograd", "create_aot_dispatcher_function"),),
    "inductor_s": (Word("torch._inductor.compile_fx", "fx_codegen_and_compile"),),
    "compile_s": (
        Word("torch._inductor.cpp_builder", "compile_file"),
        Word("torch._inductor.async_compile", "async_compile.wait"),
    ),
    "graph_breaks": (Word("torch._dynamo.symbolic_convert", "graph_break"),),
    "fxgraph": _words("torch._inductor.codecache", "fxgraph_cache", "hit", "miss", "bypass"),
    "aot_autograd": _words("torch._functorch._aot_autograd.autograd_cache", "autograd_cache", "hit", "miss", "bypass"),
    "dynamo": _words("torch._dynamo.package", "dynamo_cache", "hit", "miss"),
    "async_compile": _words("torch._inductor.async_compile", "async_compile_cache", "hit", "miss"),
    "frames": (Word("torch._dynamo.output_graph", "unique_graphs"),),
}
"""What a capture's phases, counts and caches need torch to spell, and a load's count of frames."""
