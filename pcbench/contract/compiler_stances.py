"""The stances of ``torch.compiler.set_stance``: what each promises of code that is compiled, and of what is not."""

from __future__ import annotations

import torch

from pcbench.contract import expect, refused
from pcbench.contract._programs import Counting, agree, compiled_or_not, function, said, scaled

DOCUMENT = "torch_compiler_api"


def fail_on_recompile_raises() -> str:
    """Under the stance ``fail_on_recompile``, what is compiled still runs, and a call that needs more is an error."""
    backend, x = Counting(), torch.ones(3)
    compiled = torch.compile(scaled, backend=backend)
    compiled(x, 2)
    with function("set_stance")("fail_on_recompile"):
        expect(agree(compiled(x, 2), x * 2), "what was compiled gives another answer")
        with refused("a call with another dtype", RuntimeError) as caught:
            compiled(x.double(), 2)
    expect(len(backend.graphs) == 1, f"{len(backend.graphs)} graphs were compiled")
    compiled(x.double(), 2)
    expect(len(backend.graphs) == 2, "after it, the same call did not compile")
    return said(caught)


def force_eager_ignores_compile() -> str:
    """Under the stance ``force_eager`` no compiled code runs and nothing is compiled."""
    backend, x = Counting(), torch.ones(3)
    compiled = torch.compile(compiled_or_not, backend=backend)
    traced = compiled(x)
    with function("set_stance")("force_eager"):
        expect(agree(compiled(x), x - 1), "the compiled code ran")
        compiled(x.double())
    expect(agree(traced, x + 1), "before, compiled code did not run")
    expect(len(backend.graphs) == 1, f"{len(backend.graphs)} graphs were compiled")
    expect(agree(compiled(x), x + 1), "after it, compiled code did not run")
    return "eager code ran in place of compiled code, for known and new inputs"


def eager_on_recompile_runs_eagerly() -> str:
    """Under the stance ``eager_on_recompile``, compiled code runs where it fits, and eager code where none does."""
    backend, x = Counting(), torch.ones(3)
    compiled = torch.compile(compiled_or_not, backend=backend)
    compiled(x)
    with function("set_stance")("eager_on_recompile"):
        expect(agree(compiled(x), x + 1), "compiled code that fits did not run")
        expect(agree(compiled(x.double()), x.double() - 1), "with another dtype, the function did not run eagerly")
    expect(len(backend.graphs) == 1, f"{len(backend.graphs)} graphs were compiled")
    return "compiled code ran for the known dtype and eager code for another one"


def skipped_guards_go_unnoticed() -> str:
    """``set_stance(skip_guard_eval_unsafe=True)`` runs no guard but those that tell compiled code apart.

    So what no other compiled code is for goes unnoticed, and the answer is silently wrong.
    """
    backend, x = Counting(), torch.ones(3)
    compiled = torch.compile(scaled, backend=backend, dynamic=False)
    compiled(x, 2)
    with function("set_stance")("default", skip_guard_eval_unsafe=True):
        answer = compiled(x, 3)
    expect(len(backend.graphs) == 1, "the change was noticed: it compiled again")
    expect(agree(answer, x * 2), f"the answer is {answer.tolist()}")
    expect(agree(compiled(x, 3), x * 3), "after it, guards are still skipped")
    return "a factor of 3 was computed with the 2 that was compiled"


def a_backend_can_be_forced() -> str:
    """``set_stance(force_backend=...)`` compiles with that backend, whatever was named."""
    named, forced, x = Counting(), Counting(), torch.ones(3)
    compiled = torch.compile(scaled, backend=named)
    with function("set_stance")("default", force_backend=forced):
        expect(agree(compiled(x, 2), x * 2), "another answer than eager's")
    expect((len(named.graphs), len(forced.graphs)) == (0, 1), f"{len(named.graphs)} graphs for the backend named")
    return "the forced backend was given the graph, the named one none"
