"""How ``torch.compiler.precompile`` is called, checked on torch's own name rather than on ``pcbench.precompile``."""

from __future__ import annotations

import inspect
import types
from pathlib import Path
from typing import Any

import torch

from pcbench import precompile, processes, torch_api
from pcbench.contract import expect, promised, refused
from pcbench.contract._programs import agree, call, function, linear, refusal, said

DOCUMENT = "torch_compiler_api"


def precompile_is_a_callable_instance() -> str:
    """``torch.compiler.precompile`` is a callable instance and not a plain function."""
    api = function("precompile")
    kind = type(api).__name__
    expect(callable(api), f"torch.compiler.precompile is a {kind} and cannot be called")
    expect(not isinstance(api, types.FunctionType), "torch.compiler.precompile is a plain function")
    return f"torch.compiler.precompile is an instance of {kind}"


def precompile_takes_a_function_its_inputs_and_three_options() -> str:
    """``precompile`` is called with the function, example inputs, and backend, tracer and decompositions as keywords.

    They default to ``"inductor"``, ``"make_fx"`` and ``None``.
    """
    given = _parameters(function("precompile"), "precompile")
    wanted = "(fn, *example_inputs, backend='inductor', tracer='make_fx', decompositions=None)"
    expect(given == wanted, f"precompile takes {given}")
    return f"precompile takes {given}"


def precompile_returns_text_and_bytes() -> str:
    """``precompile`` returns the pair of a source text and of bytes that only make loading it faster."""
    model, x = linear()
    with promised("precompile(fn, model, x)"):
        pair = function("precompile")(call, model, x, backend="eager")
    kinds = tuple(type(part).__name__ for part in pair)
    expect(kinds == ("str", "bytes"), f"precompile returned {kinds}")
    return f"({kinds[0]} of {len(pair[0])}, {kinds[1]} of {len(pair[1])})"


def precompile_load_takes_the_pair() -> str:
    """``precompile.load`` takes the source text and the bytes, and returns something that is called as ``fn`` was."""
    load = function("precompile").load
    given = _parameters(load, "precompile.load")
    expect(given == "(python_code, cache)", f"precompile.load takes {given}")
    model, x = linear()
    with promised("precompile.load(python_code, cache)"):
        run = load(*function("precompile")(call, model, x, backend="eager"))
        same = agree(run(model, x), model(x))
    expect(same, "the loaded callable gives another answer than fn")
    return f"precompile.load takes {given}, and what it gives agrees with fn"


def the_dynamo_tracer_is_only_planned() -> str:
    """``tracer="dynamo"`` is planned and raises ``NotImplementedError``; the default is ``make_fx``."""
    model, x = linear()
    with refused("tracer='dynamo'", NotImplementedError) as caught:
        function("precompile")(call, model, x, backend="eager", tracer="dynamo")
    return said(caught)


def the_error_is_public() -> str:
    """``torch.compiler.PrecompileError`` is the public name of the error that violations of the contract raise."""
    function("precompile")
    kind = refusal()
    expect(isinstance(kind, type) and issubclass(kind, Exception), f"torch.compiler.PrecompileError is {kind!r}")
    expect("PrecompileError" in torch.compiler.__all__, "torch.compiler.__all__ leaves PrecompileError out")
    expect(kind.__module__ == "torch.compiler", f"PrecompileError says that it lives in {kind.__module__}")
    return f"PrecompileError is a {kind.__mro__[1].__name__} of torch.compiler"


def keywords_are_refused_at_capture() -> str:
    """Arguments for ``fn`` are matched by position at capture: one that is given by keyword is refused."""
    api = function("precompile")
    model, x = linear()
    with refused("an input by keyword", TypeError, ValueError, refusal()) as caught, processes.scratch() as folder:
        if callable(api):
            api(call, model, x=x, backend="eager")
        else:
            _capture_into(folder, api, model, x)
    return said(caught)


def keywords_are_refused_when_it_is_called() -> str:
    """A loaded artifact takes its arguments by position: keywords are refused."""
    model, x = linear()
    run = precompile.load(*precompile.precompile(call, model, x, backend="eager"))
    expect(agree(run(model, x), model(x)), "the call by position gives another answer than fn")
    with refused("an input by keyword", TypeError, ValueError, refusal()) as caught:
        run(model, x=x)
    return said(caught)


def precompile_is_not_caching_precompile() -> str:
    """``precompile`` has nothing to do with ``caching_precompile``: it works without, and leaves nothing in its tables.

    That setting is a caching mode of ``torch.compile``.
    """
    model, x = linear()
    config, context = torch_api.get("dynamo_config"), torch_api.get("precompile_context")
    expect(not config.caching_precompile, "caching_precompile is on by default")
    sources = []
    for on in (False, True):
        with config.patch(caching_precompile=on):
            code, cache = precompile.precompile(call, model, x, backend="eager")
            expect(agree(precompile.load(code, cache)(model, x), model(x)), f"wrong answer with it set to {on}")
        sources.append(code)
        left = [table for table in torch_api.PRECOMPILE_TABLES if getattr(context, table)]
        expect(not left, f"with caching_precompile {on}, precompile left something in {', '.join(left)}")
    expect(sources[0] == sources[1], "the source differs where caching_precompile is on")
    return "one source with the setting off and on, and its tables stay empty"


def _capture_into(folder: Path, api: Any, model: Any, x: Any) -> None:
    with api.capture(call, artifact_path=folder / "code.py", cache_path=folder / "cache", backend="eager") as capture:
        capture(model, x=x)


def _parameters(called: Any, name: str) -> str:
    """Its parameters as text, without annotations."""
    expect(callable(called), f"torch.compiler.{name} is a {type(called).__name__} and cannot be called")
    signature = inspect.signature(called)
    bare = [parameter.replace(annotation=inspect.Parameter.empty) for parameter in signature.parameters.values()]
    return str(inspect.Signature(bare))
