"""What ``precompile.load`` promises of the pair ``(python_code, cache)``, whole, damaged and foreign.

Checked through :mod:`pcbench.precompile`, so that both forms of the call are held to it.
"""

from __future__ import annotations

import ast
import hashlib
import io
import sys
from typing import Any

import torch
from torch import nn

from pcbench import precompile, torch_api
from pcbench.contract import expect, promised, refused
from pcbench.contract._programs import BACKENDS, agree, call, heard, linear, refusal, said

DOCUMENT = "torch_compiler_api"

_METADATA = "MODULE_POSITIONS"
"""One of the assignments by which a source says how it is called."""


def the_cache_carries_an_integrity_tag() -> str:
    """The cache carries its format, version, backend and the hash of its source, and nothing of the calling convention.

    The eager backend's has no compiled artifact in it.
    """
    found = []
    for backend in BACKENDS:
        code, cache = _pair(backend)
        envelope = _envelope(cache)
        expect(envelope.get("backend") == backend, f"its backend is {envelope.get('backend')!r}, not {backend!r}")
        expected = hashlib.sha256(code.encode()).hexdigest()
        expect(envelope.get("code_hash") == expected, "its code_hash is not the sha256 of the source")
        expect({"format", "version"} <= set(envelope), f"its keys are {sorted(envelope)}")
        expect(_METADATA not in repr(envelope), "it says how the artifact is called")
        found.append(envelope["artifact"])
    expect(bool(found[0]), "Inductor's cache has no compiled artifact")
    expect(not found[1], "the eager backend's cache has a compiled artifact")
    return f"a tag, and {len(found[0])} bytes of artifact under inductor, none under eager"


def the_source_says_how_it_is_called() -> str:
    """The calling convention is read from the source: editing it there changes the call, with no help of the cache."""
    model, x = linear()
    code, _ = _pair("eager")
    expect(f"{_METADATA} = [0]" in code, f"the source has no {_METADATA} = [0]")
    edited = code.replace(f"{_METADATA} = [0]", f"{_METADATA} = [1]")
    run = precompile.load(edited, b"")
    expect(agree(run(x, model), _positive(model, x)), "with the model's position moved in the source, another answer")
    with refused("the model in its old position", refusal()) as caught:
        run(model, x)
    return said(caught)


def a_cache_of_another_call_is_refused() -> str:
    """A cache of another capture with the same backend is refused: its ``code_hash`` is that of another source."""
    for backend in BACKENDS:
        code, _ = _pair(backend)
        torch.manual_seed(0)
        _, other = precompile.precompile(call, nn.Linear(5, 2), torch.randn(2, 5), backend=backend)
        with refused(f"{backend}: a cache of another call", refusal(), saying="code_hash") as caught:
            precompile.load(code, other)
    return said(caught)


def a_cache_of_another_backend_is_refused() -> str:
    """A cache that another backend made is refused."""
    codes, caches = zip(*map(_pair, BACKENDS), strict=True)
    for code, cache in zip(codes, reversed(caches), strict=True):
        with refused("a cache of another backend", refusal(), saying="backend") as caught:
            precompile.load(code, cache)
    return said(caught)


def an_edited_source_is_refused_with_its_cache() -> str:
    """The cache belongs to the exact text: a source that was changed by one character is refused with it."""
    code, cache = _pair("eager")
    with refused("a source with a blank line more", refusal(), saying="code_hash") as caught:
        precompile.load(code + "\n", cache)
    return said(caught)


def a_damaged_cache_degrades() -> str:
    """The cache only makes loading faster: one that is empty, cut or garbled is left aside, and the answer is right."""
    model, x = linear()
    for backend in BACKENDS:
        code, cache = _pair(backend)
        for what, damaged in {
            "empty": b"",
            "cut": cache[: len(cache) // 2],
            "garbled": bytes(byte ^ 0xFF for byte in cache[:64]) + cache[64:],
            "of noise": bytes(range(256)) * 4,
        }.items():
            with promised(f"{backend}: a cache that is {what}"):
                answer = precompile.load(code, damaged)(model, x)
            expect(
                agree(answer, _positive(model, x)), f"{backend}: with a cache that is {what}, another answer than fn's"
            )
    return "with caches that are empty, cut, garbled and of noise, both backends give the right answer"


def a_foreign_cache_degrades() -> str:
    """A cache of another format or version, or with a foreign artifact in it, is left aside: the answer is right."""
    model, x = linear()
    code, cache = _pair("inductor")
    envelope = _envelope(cache)
    changes: dict[str, dict[str, Any]] = {
        "format": {"format": "another"},
        "version": {"version": -1},
        "artifact": {"artifact": b"no artifact at all"},
    }
    for what, change in changes.items():
        with promised(f"a cache with another {what}"):
            answer = precompile.load(code, _bytes(envelope | change))(model, x)
        expect(agree(answer, _positive(model, x)), f"with a cache with another {what}, another answer than fn's")
    return "with another format, version and artifact the answer is right"


def the_cache_primes_the_kernel_caches() -> str:
    """For Inductor, a load fills the compiler's caches from the cache before it runs the source."""
    code, cache = _pair("inductor")
    filled: list[Any] = []
    original = torch.compiler.load_cache_artifacts

    def noting(artifact: bytes) -> Any:
        filled.append(original(artifact))
        return filled[-1]

    torch.compiler.load_cache_artifacts = noting  # type: ignore[assignment]
    with torch_api.get("fresh_cache")():
        precompile.load(code, cache)
    expect(len(filled) == 1, f"load_cache_artifacts was called {len(filled)} times")
    expect(filled[0] is not None, "nothing was loaded into the caches")
    kinds = sorted(kind for kind, names in filled[0].artifacts.items() if names)
    expect(bool(kinds), "the cache has no artifact that the compiler's caches take")
    return f"artifacts of kinds {', '.join(map(str, kinds))}"


def with_the_cache_no_kernel_is_compiled() -> str:
    """The cache accelerates loading: with it a load into empty compiler caches compiles no kernel, without it does."""
    code, cache = _pair("inductor")
    fresh_cache, config = torch_api.get("fresh_cache"), torch_api.get("inductor_config")
    started: list[str] = []

    def note(event: str, args: tuple[Any, ...]) -> None:
        if event == "subprocess.Popen" and ".cpp" in str(args[1]):
            started.append(str(args[1]))

    sys.addaudithook(note)
    counts = []
    for given in (b"", cache):
        started.clear()
        with config.patch(compile_threads=1), fresh_cache():
            precompile.load(code, given)
        counts.append(len(started))
    expect(counts[0] > 0, "without the cache nothing was compiled either, so the kernel has another way")
    expect(counts[1] == 0, f"with the cache {counts[1]} C++ compilations, without it {counts[0]}")
    return f"{counts[0]} compilations without the cache, none with it"


def a_text_that_does_not_parse_is_refused() -> str:
    """A source that is no Python is refused with ``PrecompileError``."""
    _, cache = _pair("eager")
    with refused("a text that does not parse", refusal()) as caught:
        precompile.load("def forward(:\n", cache)
    return said(caught)


def a_source_without_metadata_is_refused() -> str:
    """A source that lacks the metadata of its calling convention is refused, and is not run."""
    ran = "pcbench_ran"
    foreign = f"import sys\nsys.{ran} = True\ndef forward(*args):\n    return args\n"
    code, _ = _pair("eager")
    lacking = "\n".join(line for line in code.splitlines() if not line.startswith(f"{_METADATA} ="))
    for what, text in {"foreign": foreign, "cut": lacking}.items():
        ast.parse(text)
        with refused(f"a {what} source", refusal(), saying=_METADATA) as caught:
            precompile.load(text, b"")
    expect(not hasattr(sys, ran), "the foreign source was run before it was refused")
    return said(caught)


def load_runs_the_source() -> str:
    """Loading runs the source as code, so that it must be trusted: a statement added to it takes effect."""
    ran = "pcbench_ran"
    code, _ = _pair("eager")
    precompile.load(f"{code}\nimport sys\nsys.{ran} = True\n", b"")
    expect(hasattr(sys, ran), "a statement added to the source was not run")
    return "a statement added to the source ran at load"


def each_load_warns_before_it_runs() -> str:
    """Each load warns that it runs code, again on the second load, and before it runs the source."""
    code, cache = _pair("eager")
    with heard("precompile_log") as messages:
        for times in (1, 2):
            precompile.load(code, cache)
            expect(len(messages) == times, f"{len(messages)} warnings after {times} loads")
        with refused("a source that fails when it is run", ZeroDivisionError):
            precompile.load(f"{code}\n1 / 0\n", b"")
    last = messages[-1]
    expect("EXEC" in last.upper(), f"before the source was run, load said: {last}")
    return f"two loads, two warnings: {last[:100]}"


def _pair(backend: str) -> tuple[str, bytes]:
    model, x = linear()
    return precompile.precompile(_positive, model, x, backend=backend)


def _positive(model: nn.Module, x: torch.Tensor) -> torch.Tensor:
    return torch.relu(model(x))


def _envelope(cache: bytes) -> dict[str, Any]:
    envelope: dict[str, Any] = torch.load(io.BytesIO(cache), weights_only=True)
    return envelope


def _bytes(envelope: dict[str, Any]) -> bytes:
    file = io.BytesIO()
    torch.save(envelope, file)
    return file.getvalue()
