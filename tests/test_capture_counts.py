"""What is counted during a capture: graphs, breaks, recompiles and nodes, and what cannot be."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from dataclasses import asdict
from typing import Any

import pytest
import torch
from torch import nn

from pcbench import torch_api, torch_names
from pcbench.capture_counts import Counting, counted
from pcbench.precompile import precompile


def broken(x: torch.Tensor) -> torch.Tensor:
    y = x + 1
    torch._dynamo.graph_break()
    return y * 2


def sized(x: torch.Tensor) -> torch.Tensor:
    return x * 2 + 1


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(2, 2)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.linear(x).relu()


def during(run: Callable[[], object]) -> Counting:
    with counted() as counting:
        run()
    return counting


@pytest.fixture(autouse=True)
def fresh_dynamo() -> None:
    torch.compiler.reset()


def test_a_graph_break_is_counted_and_makes_two_graphs() -> None:
    found = during(lambda: torch.compile(broken, backend="eager")(torch.ones(2))).counts(0)

    # Each graph: an input, one operation, an output.
    assert (found.graph_breaks, found.graphs, found.fx_nodes, found.recompiles) == (1, 2, 6, 0)


def test_a_frame_that_is_compiled_for_another_size_is_a_recompile() -> None:
    def run() -> None:
        compiled = torch.compile(sized, backend="eager", dynamic=False)
        for size in (2, 3, 3, 4):
            compiled(torch.ones(size))

    found = during(run).counts(0)

    assert (found.recompiles, found.graphs, found.graph_breaks) == (2, 3, 0)


def test_what_was_compiled_before_does_not_count() -> None:
    compiled = torch.compile(sized, backend="eager", dynamic=False)
    compiled(torch.ones(2))

    assert during(lambda: compiled(torch.ones(2))).counts(0).graphs is None
    assert during(lambda: compiled(torch.ones(3))).counts(0).recompiles == 1


@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize("strict", [True, False])
def test_an_export_is_one_graph_whatever_traced_it(strict: bool) -> None:
    programs: list[Any] = []
    with counted() as counting, torch.no_grad():
        programs.append(torch.export.export(Net().eval(), (torch.ones(1, 2),), strict=strict))
    found = counting.counts(0)

    assert (found.graphs, found.fx_nodes) == (1, len(programs[0].graph.nodes))


def test_the_graph_that_precompile_traces_is_counted() -> None:
    if not hasattr(torch.compiler, "precompile"):
        pytest.skip("this torch has no precompile")
    with torch.no_grad():
        found = during(lambda: precompile(lambda m, x: m(x), Net().eval(), torch.ones(1, 2), backend="eager")).counts(0)

    assert found.graphs == 1
    assert found.fx_nodes is not None
    assert found.fx_nodes >= 4


def test_where_no_tracer_was_seen_graphs_and_nodes_are_unknown_and_not_zero() -> None:
    found = during(lambda: None).counts(3)

    assert (found.graphs, found.fx_nodes, found.graph_breaks, found.compiler_builds) == (None, None, 0, 3)
    assert found.unknown["graphs"].startswith("no graph came out of")


@pytest.mark.parametrize(
    ("key", "lost"),
    [("graph_breaks", {"graph_breaks"}), ("fxgraph", {"fxgraph_hits", "fxgraph_misses", "fxgraph_bypasses"})],
)
def test_a_counter_that_this_torch_lacks_is_unknown_and_not_zero(
    key: str, lost: set[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    gone = torch_names.Word(torch_names.WORDS[key][0].module, "a_counter_of_another_name")
    monkeypatch.setitem(torch_names.WORDS, key, (gone,))

    found = during(lambda: torch.compile(sized, backend="eager")(torch.ones(2))).counts(0)

    assert set(found.unknown) == lost
    assert {name for name, value in asdict(found).items() if value is None} == lost


@pytest.mark.parametrize(("name", "count"), [("frame_compiles", "recompiles"), ("kernel_count", "generated_kernels")])
def test_a_name_that_this_torch_lacks_makes_its_count_unknown(
    name: str, count: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    torch_api.get(name)
    gone = torch_names.Name(torch_names.NAMES[name].module, "NO_SUCH_NAME", "a test", ())
    monkeypatch.setitem(torch_names.NAMES, name, gone)

    found = during(lambda: torch.compile(sized, backend="eager")(torch.ones(2))).counts(0)

    assert set(found.unknown) == {count}
    assert "NO_SUCH_NAME" in found.unknown[count]


def test_a_tracer_that_this_torch_lacks_is_told_where_no_graph_was_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    gone = torch_names.Name(torch_names.NAMES["backend_call"].module, "OutputGraph.no_such_method", "a test", ())
    monkeypatch.setitem(torch_names.NAMES, "backend_call", gone)

    found = during(lambda: torch.compile(sized, backend="eager")(torch.ones(2))).counts(0)

    assert (found.graphs, found.fx_nodes) == (None, None)
    assert "no_such_method" in found.unknown["graphs"]


def test_a_counter_that_was_set_back_is_unknown() -> None:
    torch.compile(broken, backend="eager")(torch.ones(2))

    found = during(lambda: torch_api.get("dynamo_counters").clear()).counts(0)

    assert found.graph_breaks is None
    assert found.unknown["graph_breaks"] == "torch's counter was set back during the capture"


def test_torch_is_left_as_it_was_even_when_the_capture_raises() -> None:
    before = (torch.export.export, torch_api.get("backend_call"))

    with pytest.raises(ZeroDivisionError), counted():
        _ = 1 / 0

    assert (torch.export.export, torch_api.get("backend_call")) == before


@pytest.fixture
def workers(monkeypatch: pytest.MonkeyPatch) -> None:
    """torch as it is once it has started compile workers."""
    torch_api.get("worker_pool")
    pool = functools.lru_cache(1)(lambda: "a pool")
    pool()
    known = torch_names.NAMES["worker_pool"]
    monkeypatch.setattr(sys.modules[known.module].AsyncCompile, "process_pool", staticmethod(pool))


def triton_kernel() -> None:
    torch_api.get("dynamo_counters")["inductor"]["async_compile_cache_miss"] += 1


@pytest.mark.usefixtures("workers")
def test_what_compile_workers_may_have_built_is_unknown_and_not_zero() -> None:
    found = during(triton_kernel).counts(0)

    assert found.compiler_builds is None
    assert found.unknown["compiler_builds"].startswith("torch's compile workers may have built kernels")


@pytest.mark.usefixtures("workers")
def test_compile_workers_that_were_started_and_given_no_kernel_have_built_nothing() -> None:
    assert during(lambda: None).counts(2).compiler_builds == 2


def test_a_kernel_that_this_process_built_itself_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    torch_api.get("worker_pool")
    pool = functools.lru_cache(1)(lambda: "a pool")
    module = sys.modules[torch_names.NAMES["worker_pool"].module]
    monkeypatch.setattr(module.AsyncCompile, "process_pool", staticmethod(pool))

    assert during(triton_kernel).counts(1).compiler_builds == 1


@pytest.mark.usefixtures("workers")
@pytest.mark.parametrize("gone", ["a name", "a word"])
def test_where_torch_does_not_tell_of_workers_builds_are_unknown(gone: str, monkeypatch: pytest.MonkeyPatch) -> None:
    module = torch_names.NAMES["worker_pool"].module
    if gone == "a name":
        monkeypatch.setitem(torch_names.NAMES, "worker_pool", torch_names.Name(module, "NO_SUCH_NAME", "a test", ()))
    else:
        monkeypatch.setitem(torch_names.WORDS, "async_compile", (torch_names.Word(module, "NO_SUCH_WORD"),))

    found = during(lambda: None).counts(0)

    assert found.compiler_builds is None
    assert "NO_SUCH" in found.unknown["compiler_builds"]
