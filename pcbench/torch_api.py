"""Every private or moving name of torch that pcbench uses, with the releases on which it was seen to work.

Nothing else in pcbench spells a private torch name: it asks :func:`get`. ``pcbench doctor`` lists what is missing.
"""

from __future__ import annotations

import importlib
import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import torch

from pcbench.errors import UnavailableError


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
_ALL = ("2.11.0", *_PRECOMPILE)
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
    "mark_dynamic": Name("torch._dynamo", "mark_dynamic", "marking dims that vary", ("2.11.0", "2.15.0")),
    "mark_unbacked": Name("torch._dynamo.decorators", "mark_unbacked", "marked dims under precompile", ("2.15.0",)),
    "nativert": Name("torch._C._nativert", "PyModelRunner", "running an exported archive in C++", ("2.11.0",)),
    "cache_artifacts": Name(
        "torch.compiler._cache", "CacheArtifactManager", "gathering one model's cache artifacts", ("2.11.0", "2.15.0")
    ),
    "autograd_config": Name("torch._functorch", "config", "asking why a cache was bypassed", ("2.11.0", "2.15.0")),
    "compile_package": Name(
        "torch._dynamo.package", "CompilePackage", "loading with caching_precompile", ("2.11.0", "2.15.0")
    ),
    "precompile_context": Name(
        "torch._dynamo.precompile_context", "PrecompileContext", "saving with caching_precompile", ("2.11.0", "2.15.0")
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

MARKED_DIMS, MARKED_RANGES = "_dynamo_dynamic_indices", "_dynamo_dynamic_range"
"""Attributes by which ``mark_dynamic`` leaves its marks on a tensor: a set of dims, and a set of ``dim, min, max``."""

OTHER_MARKS = ("_dynamo_unbacked_indices", "_dynamo_weak_dynamic_indices", "_dynamo_static_indices")
"""Attributes by which Dynamo's other marks are left: sets of dims."""

PRECOMPILE_TABLES = ("_backend_artifacts_by_key", "_dynamo_cache_entries")
"""Where PrecompileContext keeps what it records for the whole process."""

GUARD_FAILURES = ("GuardManager check failed", "Guard failed:")
"""What the message of a loaded function, or of an exported program, holds when its guards refuse the call."""

COMPILER_FAILURES = ("InvalidCxxCompiler", "CppCompileError")
"""Names of the errors by which Inductor says that no C++ compiler works."""


def frames_compiled() -> int:
    """How many frames Dynamo has compiled in this process; worth what ``require_counters("frames")`` says."""
    return int(get("dynamo_counters")["stats"]["unique_graphs"]) if _counts() else 0


def cache_misses() -> int:
    """How often a graph was in no cache of Inductor's or AOTAutograd's, or could not be looked up or kept there.

    Worth what ``require_counters("fxgraph", "aot_autograd")`` says.
    """
    if not _counts():
        return 0
    counters = get("dynamo_counters")
    caches = (counters["inductor"], "fxgraph_cache"), (counters["aot_autograd"], "autograd_cache")
    return sum(int(group[f"{name}_{end}"]) for group, name in caches for end in ("miss", "bypass"))


def _counts() -> bool:
    """Whether Dynamo is imported: before, nothing is compiled, and the import takes seconds."""
    return NAMES["dynamo_counters"].module in sys.modules


@cache
def require_counters(*keys: str) -> None:
    """Make sure that torch's counters are those that are read here: one of another name would stay 0.

    The source of torch is looked up, once per process.

    Raises:
        UnavailableError: This torch lacks :data:`WORDS` of these keys.
    """
    lacking = [reason for reason in map(lacking_word, keys) if reason is not None]
    if lacking:
        raise UnavailableError(
            f"whether torch compiled something again is unknown: {'; '.join(lacking)}",
            hint=f"seen in torch {', '.join(NAMES['dynamo_counters'].verified)}",
        )


def version() -> str:
    """The installed torch's version, without its local part: ``2.14.1`` for ``2.14.1+cu130``."""
    return torch.__version__.split("+")[0]


def get(name: str) -> Any:
    """The object behind one of :data:`NAMES`.

    Raises:
        UnavailableError: This torch has no such name.
    """
    known = NAMES[name]
    try:
        value: Any = importlib.import_module(known.module)
        for part in filter(None, known.attribute.split(".")):
            value = getattr(value, part)
    except (ImportError, AttributeError) as error:
        where = ".".join(filter(None, (known.module, known.attribute)))
        raise UnavailableError(
            f"this torch has no {where}, needed for {known.used_for}", hint=f"seen in torch {', '.join(known.verified)}"
        ) from error
    return value


def holder(name: str) -> tuple[Any, str]:
    """What holds the object behind one of :data:`NAMES`, and the attribute that it is there.

    Raises:
        UnavailableError: This torch has no such name.
    """
    get(name)
    known = NAMES[name]
    *path, attribute = known.attribute.split(".")
    value: Any = importlib.import_module(known.module)
    for part in path:
        value = getattr(value, part)
    return value, attribute


def lacking_word(key: str) -> str | None:
    """The reason why what needs :data:`WORDS` of this key is unknown on this torch; None where all of them are there.

    Nothing is imported: a parent package would be seconds and memory that are not the measured process's own.
    """
    for word in WORDS[key]:
        file = Path(torch.__file__).parent.joinpath(*word.module.split(".")[1:]).with_suffix(".py")
        try:
            source = file.read_text(encoding="utf-8")
        except FileNotFoundError:
            return f"torch {version()} has no source of a module {word.module}"
        except (OSError, UnicodeDecodeError):
            return f"the source of {word.module} cannot be read, so whether it has {word.text} is unknown"
        if f'"{word.text}' not in source:
            return f"torch {version()} has no {word.text} in {word.module}"
    return None


def missing() -> list[str]:
    """Of :data:`NAMES`, those that this torch lacks, as sentences."""
    sentences = []
    for name in NAMES:
        try:
            get(name)
        except UnavailableError as error:
            sentences.append(error.problem)
    return sentences
