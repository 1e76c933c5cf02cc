"""Functions of ``torch.compiler`` that tell how to trace a function, or whether one is traced: what each promises."""

from __future__ import annotations

import binascii
from typing import Any

import numpy as np
import torch
from torch import nn

from pcbench import torch_api
from pcbench.contract import expect, promised
from pcbench.contract._programs import Counting, agree, compiled_or_not, function

DOCUMENT = "torch_compiler_api"


def is_compiling_is_true_in_what_is_traced() -> str:
    """``is_compiling`` is False in eager code, and True in what ``torch.compile`` or ``torch.export`` traces."""
    function("is_compiling")
    _expect_flags(compiled_or_not, compiled=True, exported=True)
    return "False in eager code, True compiled and exported"


def is_dynamo_compiling_is_true_under_dynamo() -> str:
    """``is_dynamo_compiling`` is True in what Dynamo traces, and False elsewhere: an export without it, say."""
    function("is_dynamo_compiling")
    _expect_flags(_dynamo_compiling, compiled=True, exported=False)
    return "True under torch.compile, False in eager code and in an export that does not use Dynamo"


def is_exporting_is_true_under_export_alone() -> str:
    """``is_exporting`` is True in what ``torch.export`` traces, and False under ``torch.compile``."""
    function("is_exporting")
    _expect_flags(_exporting, compiled=False, exported=True)
    return "True under torch.export, False compiled and in eager code"


def constant_results_are_computed_once() -> str:
    """The result of a function under ``assume_constant_result`` is taken at the trace, and later changes are unseen."""
    number = [2]
    constant = function("assume_constant_result")(lambda: number[0])
    backend, x = Counting(), torch.ones(3)
    compiled = torch.compile(lambda x: x * constant(), backend=backend)
    expect(agree(compiled(x), x * 2), "another answer than eager's")
    number[0] = 5
    expect(agree(compiled(x), x * 2), f"after a change it gives {compiled(x).tolist()}")
    expect(len(backend.graphs) == 1, "after a change it compiled again")
    return "a result of 2 at the trace is used after it became 5"


def allowed_functions_are_one_node() -> str:
    """A function under ``allow_in_graph`` is not looked into: it is one node of a single graph."""
    backend, x = Counting(), torch.ones(3)
    allowed = function("allow_in_graph")(_opaque)
    compiled = torch.compile(lambda x: allowed(x + 1) + 1, backend=backend, fullgraph=True)
    with promised("a function that Dynamo could not trace, in one graph"):
        answer = compiled(x)
    expect(agree(answer, _opaque(x + 1) + 1), "another answer than eager's")
    targets = [node.target for graph in backend.graphs for node in graph.graph.nodes]
    expect(targets.count(_opaque) == 1, f"the nodes call {targets}")
    return "one node of a single graph, with a graph break inside"


def nonstrict_functions_take_modules() -> str:
    """A function under ``nonstrict_trace`` is an opaque call too, may take a module, and lets gradients through."""
    opaque = function("nonstrict_trace")(_opaque_over)
    torch.manual_seed(0)
    model, x = nn.Linear(3, 3), torch.ones(2, 3)
    with promised("a function that Dynamo could not trace, in one graph"):
        answer = torch.compile(lambda x: opaque(model, x), backend="aot_eager", fullgraph=True)(x)
        answer.sum().backward()
    expect(agree(answer, _opaque_over(model, x)), "another answer than eager's")
    (wanted,) = torch.autograd.grad(_opaque_over(model, x).sum(), [model.weight])
    expect(model.weight.grad is not None and agree(model.weight.grad, wanted), "another gradient than eager's")
    return "a call over a module in one graph, with eager's answer and gradient"


def substitutes_are_for_tracing_alone() -> str:
    """What ``substitute_in_graph`` registers stands for the original in what is traced, and not in eager code."""

    def crc32(data: Any, crc: Any = 0, /) -> int:  # noqa: ARG001  # torch compares the signatures
        return 7

    function("substitute_in_graph")(binascii.crc32)(crc32)
    x = torch.ones(3)

    def scaled(x: torch.Tensor) -> torch.Tensor:
        return x * binascii.crc32(b"abc")

    with promised("tracing a function of C with a substitute"):
        answer = torch.compile(scaled, backend="eager", fullgraph=True)(x)
    expect(agree(answer, x * 7), f"traced, it gives {answer.tolist()}")
    expect(binascii.crc32(b"abc") == 891568578, "in eager code, the original is not called")
    return "7 in what is traced and the true sum in eager code"


def nested_regions_are_compiled_once() -> str:
    """A region under ``nested_compile_region`` is compiled once for its calls alike, and does nothing in eager code."""
    backend, x = Counting(), torch.ones(3)
    region = function("nested_compile_region")(lambda x: torch.sin(x) * 2)
    expect(agree(region(x), torch.sin(x) * 2), "in eager code, another answer")

    def twice(x: torch.Tensor) -> Any:
        return region(region(x))

    compiled = torch.compile(twice, backend=backend, fullgraph=True)
    expect(agree(compiled(x), twice(x)), "another answer than eager's")
    (graph,) = backend.graphs
    calls = [node for node in graph.graph.nodes if "invoke_subgraph" in str(node.target)]
    expect(len(calls) == 2, f"{len(calls)} calls of a region in the graph")
    bodies = {str(node.args[0].target) for node in calls}
    expect(len(bodies) == 1, f"{len(bodies)} bodies for two calls alike")
    return "two calls of one body"


def numpy_functions_take_tensors() -> str:
    """A function of NumPy arrays under ``wrap_numpy`` takes and returns tensors once compiled, and has gradients."""
    wrapped = function("wrap_numpy")(lambda a: np.sum(a * a))
    x = torch.arange(3, dtype=torch.float32, requires_grad=True)
    with promised("compiling it in one graph"):
        compiled: Any = torch.compile(wrapped, backend="eager", fullgraph=True)
        answer = compiled(x)
        answer.backward()
    expect(isinstance(answer, torch.Tensor), f"it gave {type(answer).__name__}")
    expect(x.grad is not None and agree(x.grad, 2 * x.detach()), f"its gradient is {x.grad}")
    return "a sum of squares with its gradient"


def _dynamo_compiling(x: torch.Tensor) -> torch.Tensor:
    return x + 1 if torch.compiler.is_dynamo_compiling() else x - 1


def _exporting(x: torch.Tensor) -> torch.Tensor:
    return x + 1 if torch.compiler.is_exporting() else x - 1


class _Calling(nn.Module):
    def __init__(self, called: Any) -> None:
        super().__init__()
        self.called = called

    def forward(self, x: torch.Tensor) -> Any:
        return self.called(x)


def _expect_flags(asking: Any, *, compiled: bool, exported: bool) -> None:
    """What the function finds out in eager code, compiled, and exported without Dynamo."""
    x = torch.ones(3)
    expect(agree(asking(x), x - 1), "it is True in eager code")
    run: Any = torch.compile(asking, backend="eager")
    answer = run(x)
    expect(agree(answer, x + 1) == compiled, f"it is {not compiled} under torch.compile")
    answer = torch_api.get("export")(_Calling(asking), (x,), strict=False).module()(x)
    expect(agree(answer, x + 1) == exported, f"it is {not exported} under torch.export")
    expect(agree(asking(x), x - 1), "it is True in eager code afterwards")


def _opaque(x: torch.Tensor) -> torch.Tensor:
    torch_api.get("dynamo").graph_break()
    return torch.sin(x)


def _opaque_over(model: nn.Module, x: torch.Tensor) -> Any:
    return model(_opaque(x))
