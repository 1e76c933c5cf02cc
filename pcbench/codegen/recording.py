"""What a kernel's launch asks Triton to run, recorded on tensors that have shapes and alignment but no storage."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pcbench_kernels
import torch
from pcbench_kernels import Kernel, Sizes
from triton.runtime.autotuner import Autotuner, Heuristics
from triton.runtime.jit import JITFunction, KernelInterface

from pcbench import discovery
from pcbench.errors import UnavailableError, UsageError
from pcbench.kernel_samples import Work

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


@dataclass(frozen=True)
class Launch:
    """One call of ``function[grid](*args, **kwargs)``; the grid is of no account to the compiler.

    Attributes:
        function: A jit function, or what chooses its configuration.
    """

    function: Any
    args: tuple[Any, ...]
    kwargs: Mapping[str, Any]


@dataclass(frozen=True)
class Tracked:
    """A kernel at one of the sizes and dtypes that it is tracked at, and how to launch it there.

    Attributes:
        sizes: In words, such as ``rows=4096 columns=1024``; for a plain function, the types of its parameters.
        dtype: torch's name of it; empty for a plain function.
        work: What the whole call has to do; None for a plain function.
    """

    sizes: str
    dtype: str
    launch: Callable[[], object]
    work: Work | None = None


@dataclass(frozen=True)
class Variant:
    """A jit function with the arguments that one configuration gives it.

    Attributes:
        config: In words, such as ``BLOCK=1024 num_warps=8``: the constants, and the options of the compiler.
    """

    function: JITFunction[Any]
    args: tuple[Any, ...]
    kwargs: Mapping[str, Any]
    config: str


def tracked(name: str, cwd: Path, signature: str | None, constexprs: Mapping[str, int | str]) -> tuple[Tracked, ...]:
    """All sizes and dtypes of what ``name`` calls: a kernel, a file that ends in KERNEL, or a plain jit function.

    Raises:
        UsageError: There is no such kernel, file or function, or the signature is not the function's.
        ExtensionError: Its file raised on import, or does not end in KERNEL.
    """
    if ":" in name and not name.endswith(".py"):
        return (_plain(name, discovery.load_function(name, cwd), signature, constexprs),)
    kernel = load_kernel(name, cwd)
    return tuple(_at(kernel, sizes, dtype) for sizes in kernel.shapes for dtype in kernel.dtypes)


def load_kernel(name: str, cwd: Path) -> Kernel:
    """The kernel of a name, or of a file that ends in KERNEL.

    Raises:
        UsageError: There is no such kernel or file.
        ExtensionError: Its file raised on import, or does not end in KERNEL.
    """
    if name.endswith(".py"):
        return discovery.load_file(cwd / name, "KERNEL", Kernel)
    discovery.check_name("kernel", name, discovery.names(Path(pcbench_kernels.__file__).parent))
    return discovery.load("pcbench_kernels", name, "KERNEL", Kernel)


def work_of(kernel: Kernel, sizes: Sizes, dtype: torch.dtype) -> Work:
    """What a call of a kernel has to do at sizes and a dtype."""
    moved, requested = kernel.bytes_moved(sizes, dtype), kernel.bytes_requested(sizes, dtype)
    return Work(moved, requested, kernel.flops(sizes), kernel.bound)


def sizes_in_words(sizes: Sizes) -> str:
    """``rows=4096 columns=1024``."""
    return " ".join(f"{extent}={size}" for extent, size in sizes.items())


def dtype_in_words(dtype: torch.dtype) -> str:
    """``float16``."""
    return str(dtype).removeprefix("torch.")


def _at(kernel: Kernel, sizes: Sizes, dtype: torch.dtype) -> Tracked:
    return Tracked(
        sizes_in_words(sizes),
        dtype_in_words(dtype),
        lambda: kernel.launch(*kernel.inputs(sizes, dtype, "meta")),
        work_of(kernel, sizes, dtype),
    )


def _plain(name: str, function: Any, signature: str | None, constexprs: Mapping[str, int | str]) -> Tracked:
    if not isinstance(function, JITFunction):
        raise UsageError(f"{name} is a {type(function).__name__}", hint="name a function under @triton.jit")
    needed = [p.name for p in function.params if p.name not in constexprs and not p.is_constexpr]
    if signature is None:
        raise UsageError(f"{name} does not say which types it takes", hint=f"give a --signature of {', '.join(needed)}")
    types = [word.strip() for word in signature.split(",")]
    if len(types) != len(needed):
        raise UsageError(f"the signature {signature!r} names {len(types)} types, {name} takes {', '.join(needed)}")
    given = dict(zip(needed, map(_argument, types), strict=True))
    words = " ".join(f"{parameter}={kind}" for parameter, kind in zip(needed, types, strict=True))
    return Tracked(words, "", lambda: function[(1,)](**given, **constexprs))


def _argument(kind: str) -> Any:
    """A value of a type: a pointer is aligned, as torch's are; 16 divides an integer where ``:16`` says so."""
    if kind.startswith("*") and kind[1:] in _POINTED:
        return torch.empty(16, dtype=_POINTED[kind[1:]], device="meta")
    if kind in _SCALARS:
        return _SCALARS[kind]
    known = ", ".join((*(f"*{pointed}" for pointed in _POINTED), *_SCALARS))
    raise UsageError(f"there is no type {kind!r}", hint=f"valid types: {known}")


def variants(here: Tracked, *, first: bool) -> tuple[Variant, ...]:
    """What is launched there, in order, in each configuration that it may choose from, or in the first; nothing runs.

    Raises:
        UnavailableError: Its own code raised, or launched nothing.
    """
    place = f"its launch at {here.sizes}" + (f" in {here.dtype}" if here.dtype else "")
    try:
        found = [variant for launch in launches(here.launch) for variant in _variants(launch, first)]
    except Exception as error:  # a stranger's code may raise anything: its own error is said
        raise UnavailableError(f"{place} raised {type(error).__name__}: {error}") from error
    if not found:
        raise UnavailableError(f"{place} launched no kernel")
    return tuple(found)


def launches(call: Callable[[], object]) -> tuple[Launch, ...]:
    """What a call launches, in order, while nothing runs: each launch gives None."""
    found: list[Launch] = []
    with _recording(found):
        call()
    return tuple(found)


@contextmanager
def _recording(found: list[Launch]) -> Iterator[None]:
    def launching(function: Any, grid: object) -> Callable[..., None]:  # noqa: ARG001  # Triton's own signature
        return lambda *args, **kwargs: found.append(Launch(function, args, kwargs))

    interface: Any = KernelInterface
    before = interface.__getitem__
    interface.__getitem__ = launching
    try:
        yield
    finally:
        interface.__getitem__ = before


def _variants(launch: Launch, first: bool) -> Iterator[Variant]:
    function, args, kwargs = launch.function, launch.args, launch.kwargs
    if isinstance(function, Autotuner):
        function.nargs = dict(zip(function.arg_names, args, strict=False))
        for config in function.prune_configs(dict(kwargs))[: 1 if first else None]:
            chosen = {**kwargs, **config.all_kwargs()}
            if config.pre_hook is not None:
                config.pre_hook({**function.nargs, **chosen})
            yield from _variants(Launch(function.fn, args, chosen), first)
    elif isinstance(function, Heuristics):
        known = {**dict(zip(function.arg_names, args, strict=False)), **kwargs}
        for name, rule in function.values.items():
            known[name] = rule(known)
        chosen = {**kwargs, **{name: known[name] for name in function.values}}
        yield from _variants(Launch(function.fn, args, chosen), first)
    else:
        yield Variant(function, args, kwargs, _config(function, args, kwargs))


def config_of(launch: Launch) -> str:
    """The configuration of a launch in the words of :class:`Variant`; its first, where it has yet to choose."""
    return next(_variants(launch, first=True)).config


def _config(function: JITFunction[Any], args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> str:
    given = {**dict(zip(function.arg_names, args, strict=False)), **kwargs}
    constants = {}
    for parameter in function.params:
        value = given.pop(parameter.name, parameter.default)
        if parameter.is_constexpr and value is not inspect.Parameter.empty:
            constants[parameter.name] = value
    if given.get("num_ctas") == 1:
        del given["num_ctas"]
    return " ".join(f"{name}={_word(value)}" for name, value in {**constants, **given}.items())


def _word(value: Any) -> str:
    """A constant in a word; never an address, which is another in each process."""
    if isinstance(value, torch.dtype):
        return dtype_in_words(value)
    return str(getattr(value, "__name__", value)).replace(" ", "")
