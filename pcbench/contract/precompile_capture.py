"""What ``precompile`` captures: which parts of a computation are in the artifact, and which are passed at each call.

Checked through :mod:`pcbench.precompile`, so that both forms of the call are held to it.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable
from typing import Any

import torch
from torch import nn

from pcbench import precompile, torch_api
from pcbench.contract import expect, promised, refused
from pcbench.contract._programs import BACKENDS, agree, call, function, linear, refusal, said

DOCUMENT = "torch_compiler_api"

_RUNNERS = ("torch", "triton", "numpy")  # what torch itself comes with


def inductor_is_the_default_backend() -> str:
    """The backend is Inductor unless another one is named: the source has its kernels, and the result is right."""
    model, x = linear()
    code, cache = precompile.precompile(_positive, model, x)
    run = precompile.load(code, cache)
    expect(agree(run(model, x), _positive(model, x)), "the artifact of the default backend gives another answer")
    kernels = [line for line in code.splitlines() if "async_compile." in line and "(" in line]
    expect(bool(kernels), "the source of the default backend compiles no kernel")
    return f"the source has {code.count('cpp_fused')} mentions of a fused C++ kernel"


def eager_keeps_the_graph() -> str:
    """``backend="eager"`` keeps the captured graph of ATen operators, without kernels, and gives the right result."""
    model, x = linear()
    code, cache = precompile.precompile(_positive, model, x, backend="eager")
    expect(agree(precompile.load(code, cache)(model, x), _positive(model, x)), "the artifact gives another answer")
    called = sorted(name for name in _names(code) if name.startswith("torch.ops.aten.") and name.count(".") == 4)
    expect("torch.ops.aten.relu.default" in called, f"of ATen's operators, the source names {called}")
    expect("async_compile" not in code, "the source compiles kernels")
    return f"the source calls {', '.join(called)}"


def the_source_is_self_contained() -> str:
    """The source runs by itself: it imports nothing but torch and what torch comes with, and needs no cache."""
    model, x = linear()
    for backend in BACKENDS:
        code, _ = precompile.precompile(_positive, model, x, backend=backend)
        foreign = {name.split(".")[0] for name in _imports(code)} - set(_RUNNERS) - sys.stdlib_module_names
        expect(not foreign, f"the {backend} source imports {', '.join(sorted(foreign))}")
        namespace: dict[str, Any] = {"__name__": "artifact"}
        with promised(f"running the {backend} source by itself"), torch_api.get("fresh_cache")():
            exec(compile(code, "<artifact>", "exec"), namespace)
            answer = namespace["forward"](model, x)
        expect(agree(answer, _positive(model, x)), f"the {backend} source by itself gives another answer")
    return "both backends' sources gave the right answer with no cache and empty compiler caches"


def no_weights_are_in_the_artifact() -> str:
    """No weights are baked in: neither the source nor the cache is as large as the weights, or holds their bytes."""
    torch.manual_seed(0)
    model, x = nn.Linear(512, 512), torch.randn(2, 512)
    weights = bytes(model.weight.detach().untyped_storage())
    sizes = []
    for backend in BACKENDS:
        code, cache = precompile.precompile(call, model, x, backend=backend)
        size = len(code) + len(cache)
        expect(size < len(weights), f"the {backend} artifact has {size} bytes, its weights {len(weights)}")
        expect(weights[:64] not in code.encode() + cache, f"the {backend} artifact holds the weights' bytes")
        sizes.append(size)
    return f"artifacts of {sizes[0]} and {sizes[1]} bytes for weights of {len(weights)}"


def the_model_is_passed_again() -> str:
    """The model is passed again at run time: the same artifact over other weights or inputs gives the answer of those.

    Weights that change between two calls are seen by the next one.
    """
    model, x = linear()
    (other, y) = linear(seed=1)
    for backend in BACKENDS:
        run = precompile.load(*precompile.precompile(call, model, x, backend=backend))
        expect(agree(run(other, y), other(y)), f"{backend}: other weights and inputs give another answer than fn's")
        with torch.no_grad():
            other.get_parameter("weight").mul_(3.0)
        expect(agree(run(other, y), other(y)), f"{backend}: a weight that was changed in place is not seen")
    return "over another model's weights, and after a change in place, both backends agree with fn"


def buffers_are_passed_like_parameters() -> str:
    """Buffers are inputs of the graph as parameters are: another model's buffers give that model's answer."""
    torch.manual_seed(0)
    model, other, x = nn.BatchNorm1d(3).eval(), nn.BatchNorm1d(3).eval(), torch.randn(4, 3)
    other.get_buffer("running_mean").fill_(5.0)
    for backend in BACKENDS:
        run = precompile.load(*precompile.precompile(call, model, x, backend=backend))
        expect(agree(run(model, x), model(x)), f"{backend}: another answer than fn's")
        expect(agree(run(other, x), other(x)), f"{backend}: another model's buffers are not used")
    return "a running mean of 5 in the model passed at run time is what both backends subtract"


def several_models_may_be_passed() -> str:
    """Any of the positional arguments may be a model; the others are the inputs."""
    (left, x), (right, _) = linear(0), linear(1)
    run = precompile.load(*precompile.precompile(_difference, left, x, right, backend="eager"))
    expect(agree(run(left, x, right), _difference(left, x, right)), "another answer than fn's")
    expect(agree(run(right, x, left), _difference(right, x, left)), "the models are not told apart by position")
    return "of two models around an input, each is taken from its own position"


def a_tensor_that_is_no_argument_is_refused() -> str:
    """A capture that breaks the contract raises ``PrecompileError``: one that would bake in a tensor, say."""
    model, x = linear()
    held = torch.randn(3)

    def closes_over(model: nn.Module, x: torch.Tensor) -> Any:
        return model(x) + held

    with refused("a tensor that fn closes over", refusal()) as caught:
        precompile.precompile(closes_over, model, x, backend="eager")
    return said(caught)


def control_flow_is_that_of_the_example() -> str:
    """The trace is not strict: the branch that the example inputs take is taken for all others, silently."""
    x = torch.ones(3)
    for backend in BACKENDS:
        run = precompile.load(*precompile.precompile(_by_flag, x, True, backend=backend))
        expect(agree(run(x, True), x + 1), f"{backend}: another answer than fn's for the example")
        expect(agree(run(x, False), x + 1), f"{backend}: with the flag unset, it gave {run(x, False).tolist()}")
    return "captured with a flag set, an artifact computes the same with the flag unset"


def a_branch_by_a_tensors_values_is_that_of_the_example() -> str:
    """Control flow that depends on the values of a tensor is specialised to the example's values too."""
    x = torch.ones(3)
    with promised("capturing a branch by a tensor's values"):
        run = precompile.load(*precompile.precompile(_by_value, x, backend="eager"))
    expect(agree(run(-x), -x + 1), f"with other values, it gave {run(-x).tolist()}")
    return "captured with a positive sum, an artifact computes the same for a negative one"


def python_runs_at_capture_alone() -> str:
    """What Python does beside tensor operators happens while it is captured, and never when the artifact is called."""
    model, x = linear()
    seen: list[int] = []

    def noting(model: nn.Module, x: torch.Tensor) -> Any:
        seen.append(1)
        return model(x)

    run = precompile.load(*precompile.precompile(noting, model, x, backend="eager"))
    at_capture = len(seen)
    run(model, x)
    expect(at_capture > 0, "fn did not run at capture")
    expect(len(seen) == at_capture, "fn's own Python ran when the artifact was called")
    return f"fn ran {at_capture} times at capture and not when the artifact was called"


def decompositions_are_applied() -> str:
    """``decompositions`` maps operators to functions, and what those call is captured in the operators' place."""
    function("precompile")
    x = torch.tensor([-1.0, 2.0])
    table: dict[Any, Callable[..., object]] = {torch.ops.aten.relu.default: lambda x: torch.clamp(x, min=0.0)}
    plain, _ = precompile.precompile(torch.relu, x, backend="eager")
    code, cache = precompile.precompile(torch.relu, x, backend="eager", decompositions=table)
    expect("torch.ops.aten.relu.default" in _names(plain), "without a table, relu is not in the source either")
    expect("torch.ops.aten.relu.default" not in _names(code), "relu is in the source in spite of the table")
    expect("torch.ops.aten.clamp.default" in _names(code), "what the function calls is not in the source")
    expect(agree(precompile.load(code, cache)(x), torch.relu(x)), "another answer than fn's")
    return "relu became clamp in the source"


def _positive(model: nn.Module, x: torch.Tensor) -> torch.Tensor:
    return torch.relu(model(x)) + 1


def _difference(left: nn.Module, x: torch.Tensor, right: nn.Module) -> Any:
    return left(x) - right(x)


def _by_flag(x: torch.Tensor, positive: bool) -> torch.Tensor:
    return x + 1 if positive else x - 1


def _by_value(x: torch.Tensor) -> torch.Tensor:
    return _by_flag(x, bool(x.sum() > 0))


def _names(code: str) -> set[str]:
    """The dotted names in a source."""
    return {ast.unparse(node) for node in ast.walk(ast.parse(code)) if isinstance(node, ast.Attribute)}


def _imports(code: str) -> set[str]:
    """The modules that a source imports."""
    nodes = list(ast.walk(ast.parse(code)))
    plain = {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    return plain | {node.module or "" for node in nodes if isinstance(node, ast.ImportFrom)}
