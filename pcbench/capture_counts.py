"""What torch did during a capture, counted: its own counters before and after, and the graphs that its tracers made.

No counter of torch's sees every graph. So the three functions through which a graph leaves its tracer are wrapped while
a capture runs: ``torch.export.export``, Dynamo's call of the backend, and the ``make_fx`` of precompile.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import wraps
from typing import Any

from pcbench import torch_api, torch_names
from pcbench.errors import UnavailableError
from pcbench.samples import CaptureCounts

_CACHES = {
    "fxgraph": ("inductor", "fxgraph_cache", ("hits", "misses", "bypasses")),
    "aot_autograd": ("aot_autograd", "autograd_cache", ("hits", "misses", "bypasses")),
    "dynamo": ("dynamo_cache", "dynamo_cache", ("hits", "misses")),
    "async_compile": ("inductor", "async_compile_cache", ("hits", "misses")),
}
"""Cache to the group and the start of the names of torch's counters for it, and to what is counted of it."""

_ENDINGS = {"hits": "hit", "misses": "miss", "bypasses": "bypass"}
_NO_GRAPH = "no graph came out of torch.export, Dynamo or precompile's make_fx: the strategy traces in another way"
_SET_BACK = "torch's counter was set back during the capture"
_BY_WORKERS = "torch's compile workers may have built kernels, and their compilers are not seen"


@dataclass
class Counting:
    """What was seen so far.

    Attributes:
        nodes: Number of nodes of each graph that left a tracer.
        by_dynamo: How many of the graphs were Dynamo's.
        changes: Counter to its change; ``aot_autograd_total`` and ``recompiles`` are among them.
        lacking: Key of ``torch_names.NAMES`` to the reason why this torch does not tell it.
        has_workers: Whether torch has started compile workers; it does so long before it has work for them.
    """

    nodes: list[int] = field(default_factory=list)
    by_dynamo: int = 0
    changes: dict[str, int] = field(default_factory=dict)
    lacking: dict[str, str] = field(default_factory=dict)
    has_workers: bool = False

    def took_part(self, compiler_builds: int) -> dict[str, bool]:
        """Phase to whether a count shows that it took place."""
        return {
            "dynamo_s": self.by_dynamo > 0,
            "aot_autograd_s": self.changes["aot_autograd_total"] > 0,
            "inductor_s": self.changes.get("generated_kernels", 0) > 0,
            "compile_s": compiler_builds > 0,
        }

    def counts(self, compiler_builds: int) -> CaptureCounts:
        """The counts; how many compilers built something is the caller's to know."""
        found: dict[str, int] = {}
        unknown: dict[str, str] = {}
        by_workers = self._built_by_workers()
        if by_workers is None:
            found["compiler_builds"] = compiler_builds
        else:
            unknown["compiler_builds"] = by_workers
        if self.nodes:
            found |= {"graphs": len(self.nodes), "fx_nodes": sum(self.nodes)}
        else:
            lacking = [self.lacking[name] for name in _TRACERS if name in self.lacking]
            unknown |= dict.fromkeys(("graphs", "fx_nodes"), "; ".join([_NO_GRAPH, *lacking]))
        words = {f"{cache}_{kind}": cache for cache, (_, _, kinds) in _CACHES.items() for kind in kinds}
        words["graph_breaks"] = "graph_breaks"
        names = {"recompiles": "frame_compiles", "generated_kernels": "kernel_count"}
        for name in (*words, *names):
            reason = torch_api.lacking_word(words[name]) if name in words else self.lacking.get(names[name])
            if reason is None and self.changes[name] < 0:
                reason = _SET_BACK
            if reason is None:
                found[name] = self.changes[name]
            else:
                unknown[name] = reason
        return CaptureCounts(**found, unknown=unknown)

    def _built_by_workers(self) -> str | None:
        """Why it is unknown how many compilers built something; None where all of them were this process's own."""
        if "worker_pool" in self.lacking:
            return self.lacking["worker_pool"]
        if not self.has_workers:
            return None
        # Workers are given kernels of Triton's kind alone. C++ is compiled by this process, in threads.
        return torch_api.lacking_word("async_compile") or (
            _BY_WORKERS if self.changes["async_compile_misses"] != 0 else None
        )


def _read(counting: Counting) -> dict[str, int]:
    """Torch's counters at this moment, by the name of the count."""
    counters = torch_api.get("dynamo_counters")
    read = {
        "graph_breaks": sum(counters["graph_break"].values()),
        "aot_autograd_total": counters["aot_autograd"]["total"],
    }
    for cache, (group, start, kinds) in _CACHES.items():
        read |= {f"{cache}_{kind}": counters[group][f"{start}_{_ENDINGS[kind]}"] for kind in kinds}
    for name, key, value in (
        ("recompiles", "frame_compiles", lambda compiles: sum(compiles.values()) - len(compiles)),
        ("generated_kernels", "kernel_count", int),
    ):
        if key == "kernel_count" and torch_names.NAMES[key].module not in sys.modules:
            read[name] = 0  # importing it takes seconds, and what never ran has counted nothing
            continue
        found = _found(counting, key)
        if found is not None:
            read[name] = value(found)
    return read


@contextmanager
def _wrapped(counting: Counting, name: str, wrap: Callable[[Counting, Callable[..., Any]], Any]) -> Iterator[None]:
    """Put ``wrap``'s function in the place of torch's; where this torch lacks it, that is noted."""
    original = _found(counting, name)
    if original is None:
        yield
        return
    holder, attribute = torch_api.holder(name)
    setattr(holder, attribute, wraps(original)(wrap(counting, original)))
    try:
        yield
    finally:
        setattr(holder, attribute, original)


def _export(counting: Counting, export: Callable[..., Any]) -> Callable[..., Any]:
    def counts(*args: Any, **kwargs: Any) -> Any:
        earlier, by_dynamo = len(counting.nodes), counting.by_dynamo
        program = export(*args, **kwargs)
        # An export may trace with Dynamo: what that made is no graph of its own.
        counting.nodes[earlier:] = [len(program.graph.nodes)]
        counting.by_dynamo = by_dynamo
        return program

    return counts


def _backend_call(counting: Counting, call: Callable[..., Any]) -> Callable[..., Any]:
    def counts(output_graph: Any, graph_module: Any, *args: Any, **kwargs: Any) -> Any:
        nodes = len(graph_module.graph.nodes)  # a backend may change the graph, or ask for another trace
        compiled = call(output_graph, graph_module, *args, **kwargs)
        counting.nodes.append(nodes)
        counting.by_dynamo += 1
        return compiled

    return counts


def _precompile_trace(counting: Counting, make_fx: Callable[..., Any]) -> Callable[..., Any]:
    def counts(*args: Any, **kwargs: Any) -> Any:
        trace = make_fx(*args, **kwargs)

        def traced(*inputs: Any) -> Any:
            graph_module = trace(*inputs)
            counting.nodes.append(len(graph_module.graph.nodes))
            return graph_module

        return traced

    return counts


_TRACERS = {"export": _export, "backend_call": _backend_call, "precompile_trace": _precompile_trace}
"""Name in ``torch_api`` of each function through which a graph leaves its tracer, and how to count there."""


@contextmanager
def counted() -> Iterator[Counting]:
    """Count what torch does meanwhile. Dynamo is imported for it, before the body runs."""
    counting = Counting()
    with ExitStack() as wrapped:
        for name, wrap in _TRACERS.items():
            wrapped.enter_context(_wrapped(counting, name, wrap))
        before = _read(counting)
        yield counting
    after = _read(counting)
    counting.changes = {name: after[name] - before[name] for name in after if name in before}
    if torch_names.NAMES["worker_pool"].module in sys.modules:
        pool = _found(counting, "worker_pool")
        counting.has_workers = pool is not None and pool().currsize > 0


def _found(counting: Counting, name: str) -> Any:
    """What torch_api has under this name, or None."""
    try:
        return torch_api.get(name)
    except UnavailableError as error:
        counting.lacking[name] = error.problem
        return None
