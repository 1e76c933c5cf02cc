"""What an artifact of ``precompile`` is specialised to, and how it refuses the rest.

Checked through :mod:`pcbench.precompile`, so that both forms of the call are held to it.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import nn

from pcbench import precompile, torch_api
from pcbench.contract import expect, promised, refused
from pcbench.contract._programs import BACKENDS, agree, call, function, linear, refusal, said

DOCUMENT = "torch_compiler_api"


def shapes_are_static() -> str:
    """Each size of the example inputs is baked in: an input of another size is refused with ``PrecompileError``."""
    model, x = linear()
    for backend in BACKENDS:
        run = _example_runs(model, x, backend)
        for other in (torch.randn(3, 4), torch.randn(4), torch.randn(2, 1, 4)):
            with refused(f"{backend}: an input of {tuple(other.shape)}", refusal(), saying="shape") as caught:
                run(model, other)
    return said(caught)


def another_dtype_is_refused() -> str:
    """Each input's dtype is specialised: another one is refused at run time."""
    model, x = linear()
    for backend in BACKENDS:
        run = _example_runs(model, x, backend)
        with refused(f"{backend}: an input of float64", refusal(), saying="dtype") as caught:
            run(model, x.double())
    return said(caught)


def another_device_is_refused() -> str:
    """Each input's device is specialised: another one is refused at run time."""
    model, x = linear()
    for backend in BACKENDS:
        run = _example_runs(model, x, backend)
        with refused(f"{backend}: an input on the meta device", refusal(), saying="device") as caught:
            run(model, x.to("meta"))
    return said(caught)


def inductor_refuses_another_memory_format() -> str:
    """Inductor specialises on the memory format too: an input with other strides is refused at run time."""
    x = torch.randn(2, 3, 4, 4)
    run = precompile.load(*precompile.precompile(_twice, x))
    expect(agree(run(x), _twice(x)), "the example gives another answer than fn's")
    with refused("an input in channels_last", refusal(), saying="memory format") as caught:
        run(x.to(memory_format=torch.channels_last))
    return said(caught)


def eager_takes_any_memory_format() -> str:
    """The eager backend is flexible as to layout: an input with other strides gives the right answer."""
    x = torch.randn(2, 3, 4, 4)
    run = precompile.load(*precompile.precompile(_twice, x, backend="eager"))
    other = x.to(memory_format=torch.channels_last)
    with promised("an input in channels_last"):
        answer = run(other)
    expect(agree(answer, _twice(x)), "another answer than fn's")
    return "contiguous at capture and channels_last at run time agree with fn"


def a_marked_dim_serves_any_size() -> str:
    """A dim marked with ``mark_unbacked`` before the capture takes any size, under Inductor."""
    model, x = linear()
    run = precompile.load(*precompile.precompile(call, model, _marked(x)))
    sizes = (1, 2, 3, 7, 64)
    for size in sizes:
        other = torch.randn(size, 4)
        with promised(f"an input of {size} rows"):
            answer = run(model, other)
        expect(agree(answer, model(other)), f"another answer than fn's for {size} rows")
    with refused("another size of the dim that is not marked", refusal(), saying="shape"):
        run(model, torch.randn(2, 5))
    return f"one artifact agrees with fn for {', '.join(map(str, sizes))} rows"


def a_marked_dim_that_must_be_guarded_fails_at_capture() -> str:
    """A graph that needs to guard on a marked dim fails at capture; it does not bake in an answer."""
    _, x = linear()
    precompile.precompile(_by_rows, x)
    with refused("a branch by a marked size", refusal()) as caught:
        precompile.precompile(_by_rows, _marked(x))
    return said(caught)


def marks_are_for_inductor_alone() -> str:
    """Only Inductor takes marked dims: the eager backend does not serve another size of one."""
    model, x = linear()
    with refused("a marked dim under eager", refusal(), NotImplementedError, saying="mark_unbacked") as caught:
        run = precompile.load(*precompile.precompile(call, model, _marked(x), backend="eager"))
        run(model, torch.randn(7, 4))
    return said(caught)


def a_model_of_another_structure_is_refused() -> str:
    """The model passed at run time must be built as the captured one: other names or sizes are refused."""
    model, x = nn.Sequential(nn.Linear(4, 4)), torch.randn(2, 4)
    others = {
        "with a layer more": nn.Sequential(nn.Linear(4, 4), nn.Linear(4, 4)),
        "without the bias": nn.Sequential(nn.Linear(4, 4, bias=False)),
        "of another width": nn.Sequential(nn.Linear(4, 5)),
        "of another dtype": nn.Sequential(nn.Linear(4, 4)).double(),
        "on another device": nn.Sequential(nn.Linear(4, 4)).to("meta"),
    }
    for backend in BACKENDS:
        run = _example_runs(model, x, backend)
        for what, other in others.items():
            with refused(f"{backend}: a model {what}", refusal()):
                run(other, x)
    return f"both backends refused models {', '.join(others)}"


def inputs_of_another_structure_are_refused() -> str:
    """The loaded callable is called as ``fn`` was: too few or too many arguments, or no model, are refused."""
    model, x = linear()
    for backend in BACKENDS:
        run = _example_runs(model, x, backend)
        for what, args in {
            "no input": (model,),
            "an input more": (model, x, x),
            "an input in place of the model": (x, x),
            "a list in place of the input": (model, [x]),
        }.items():
            with refused(f"{backend}: {what}", refusal()) as caught:
                run(*args)
    return said(caught)


def _example_runs(model: nn.Module, x: torch.Tensor, backend: str) -> Any:
    """The loaded artifact of this call, after it has served its own example."""
    run = precompile.load(*precompile.precompile(call, model, x, backend=backend))
    expect(agree(run(model, x), model(x)), f"{backend}: the example itself gives another answer than fn's")
    return run


def _marked(x: torch.Tensor) -> torch.Tensor:
    function("precompile")
    marked = x.clone()
    torch_api.get("mark_unbacked")(marked, 0)
    return marked


def _twice(x: torch.Tensor) -> torch.Tensor:
    return torch.sin(x) * 2


def _by_rows(x: torch.Tensor) -> torch.Tensor:
    return x + 1 if x.shape[0] > 3 else x - 1
