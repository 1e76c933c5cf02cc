"""``pcbench.precompile``: the callable form of ``torch.compiler.precompile``, over whichever form this torch has.

torch 2.14 has a callable that returns ``(python_code, cache)``; torch 2.15 has a module that captures into two files.
The module itself is callable, so that ``pcbench.precompile(...)`` and ``pcbench.precompile.load(...)`` both work.
"""

from __future__ import annotations

import sys
import tempfile
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

from pcbench import snapshot, torch_api
from pcbench.errors import UnavailableError


def precompile(
    fn: Callable[..., object],
    *example_inputs: object,
    backend: str = "inductor",
    tracer: str = "make_fx",
    decompositions: dict[Any, Callable[..., object]] | None = None,
) -> tuple[str, bytes]:
    """Compile ``fn`` ahead of time against example inputs.

    Args:
        fn: The whole computation, taking models and inputs as positional arguments. Models' weights are not baked in.
        example_inputs: Arguments for ``fn``; they, their gradients and the random state are left as they were.
        backend: ``inductor``, or ``eager`` to keep the captured ATen graph.
        tracer: ``make_fx``, the only one that torch has.
        decompositions: A table from operator overloads to functions, for the trace.

    Returns:
        ``(python_code, cache)``: a source text that runs by itself, and bytes that make loading it faster.

    Raises:
        UnavailableError: This torch has no ``torch.compiler.precompile`` (2.14 is the first that has it).
        NotImplementedError: The tracer is ``dynamo``, which torch only plans.
        ValueError: The tracer has another name.
    """
    api = _api()
    if tracer == "dynamo":
        raise NotImplementedError("torch.compiler.precompile has no dynamo tracer yet; use tracer='make_fx'")
    if tracer != "make_fx":
        raise ValueError(f"there is no tracer {tracer!r}; use tracer='make_fx'")
    with snapshot.preserved(*example_inputs):
        if callable(api):
            pair: tuple[str, bytes] = api(
                fn, *example_inputs, backend=backend, tracer=tracer, decompositions=decompositions
            )
            return pair
        with tempfile.TemporaryDirectory(prefix="pcbench-precompile-") as folder:
            code, cache = Path(folder, "code.py"), Path(folder, "cache.bin")
            front_end = api.MakeFxTracer(decompositions=decompositions)
            with api.capture(fn, artifact_path=code, cache_path=cache, tracer=front_end, backend=backend) as call:
                call(*example_inputs)
            return code.read_text(encoding="utf-8"), cache.read_bytes()


def load(python_code: str, cache: bytes) -> Callable[..., Any]:
    """Make the pair that :func:`precompile` returned runnable; models are passed again, in their old positions.

    This runs ``python_code``: load only what you made or trust.

    Raises:
        UnavailableError: This torch has no ``torch.compiler.precompile``.
        torch.compiler.PrecompileError: The text is no such artifact, or the cache belongs to another one.
    """
    api = _api()
    if callable(api):
        return api.load(python_code, cache)  # type: ignore[no-any-return]  # experimental and untyped in torch
    with tempfile.TemporaryDirectory(prefix="pcbench-precompile-") as folder:
        code_path, cache_path = Path(folder, "code.py"), Path(folder, "cache.bin")
        code_path.write_text(python_code, encoding="utf-8")
        cache_path.write_bytes(cache)
        return api.load(code_path, cache_path)  # type: ignore[no-any-return]  # experimental and untyped in torch


def _api() -> Any:
    try:
        return torch_api.get("precompile")
    except UnavailableError as error:
        raise UnavailableError(
            f"torch {torch_api.version()} has no torch.compiler.precompile", hint="torch 2.14 and later have it"
        ) from error


class _CallableModule(types.ModuleType):
    __call__ = staticmethod(precompile)


sys.modules[__name__].__class__ = _CallableModule
