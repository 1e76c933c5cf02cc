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
from pcbench.codegen import plain_function
from pcbench.errors import ExtensionError, UnavailableError
from pcbench.kernel_samples import Work, read_work

_KERNELS = Path(pcbench_kernels.__file__).parent


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
    """All sizes and dtypes of what ``name`` calls: a kernel, a file that ends in KERNEL, or a function of a module.

    Raises:
        UsageError: There is no such kernel, file or function, or the signature or the constants are not the function's.
        ExtensionError: As :func:`load_kernel`.
    """
    if ":" in name and not name.endswith(".py"):
        called = plain_function.called(name, discovery.load_member(name, cwd), signature, constexprs)
        return (Tracked(called.types, "", called.launch),)
    kernel = load_kernel(name, cwd)
    return tuple(_at(kernel, sizes, dtype) for sizes in kernel.shapes for dtype in kernel.dtypes)


def load_kernel(name: str, cwd: Path) -> Kernel:
    """The kernel of a name, or of a file that ends in KERNEL.

    Raises:
        UsageError: There is no such kernel or file.
        ExtensionError: Its file raised on import, does not end in KERNEL, or has shapes or dtypes of another form.
    """
    if name.endswith(".py"):
        return _checked(discovery.load_file(cwd / name, "KERNEL", Kernel), str(cwd / name))
    discovery.check_name("kernel", name, discovery.names(_KERNELS))
    return _checked(discovery.load("pcbench_kernels", name, "KERNEL", Kernel), str(_KERNELS / f"{name}.py"))


def work_of(kernel: Kernel, sizes: Sizes, dtype: torch.dtype) -> Work:
    """What a call of a kernel has to do at sizes and a dtype.

    Raises:
        UnavailableError: Its own functions raised, or do not give numbers.
    """
    try:
        moved, requested = kernel.bytes_moved(sizes, dtype), kernel.bytes_requested(sizes, dtype)
        told = {"bytes_moved": moved, "bytes_requested": requested, "flops": kernel.flops(sizes)}
        return read_work({**told, "bound": kernel.bound})
    except Exception as error:  # a stranger's code may raise anything: its own error is said
        place = f"bytes_moved, bytes_requested, flops or bound at {sizes_in_words(sizes)}"
        raise UnavailableError(f"its {place}: {type(error).__name__}: {error}") from error


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


def _checked(kernel: Kernel, file: str) -> Kernel:
    """The kernel, if it says rightly where it is tracked: the comma of a tuple of one is easily left out.

    Raises:
        ExtensionError: It does not.
    """
    for name, kept, are, example in (
        ("shapes", _is_sizes, "extents by name, whole numbers", '({"rows": 4096, "columns": 1024},)'),
        ("dtypes", _is_dtype, "dtypes of torch", "(torch.float16,)"),
    ):
        found: Any = getattr(kernel, name)
        hint = f"write {name}={example} in KERNEL = Kernel(...)"
        if not isinstance(found, tuple):
            raise ExtensionError(f"{file}: {name} is a {type(found).__name__}, not a tuple", hint=hint)
        wrong = [each for each in found if not kept(each)]
        if wrong or not found:
            what = f"has {wrong[0]!r:.80}; it is a tuple of {are}" if wrong else "is empty"
            raise ExtensionError(f"{file}: {name} {what}", hint=hint)
    return kernel


def _is_sizes(found: object) -> bool:
    return isinstance(found, Mapping) and all(type(key) is str and type(size) is int for key, size in found.items())


def _is_dtype(found: object) -> bool:
    return isinstance(found, torch.dtype)


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
    """The configuration of a launch that has no choice left, in the words of :class:`Variant`."""
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
