"""Whether a load compiled again: torch's counters, and a torch that counts under other names."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from pcbench import torch_api, torch_names
from pcbench.errors import UnavailableError
from pcbench.runner.recompiling import CompileWatch

READS: dict[str, Callable[[CompileWatch], object]] = {
    "frames": lambda watch: watch.recompiles,
    "fxgraph": lambda watch: watch.compiled(retraces=True),
    "aot_autograd": lambda watch: watch.compiled(retraces=True),
}


@pytest.fixture(autouse=True)
def look_up_again() -> Iterator[None]:
    """Words are looked up once per process: this one has other words."""
    torch_api.require_counters.cache_clear()
    yield
    torch_api.require_counters.cache_clear()


@pytest.mark.parametrize("key", READS)
def test_a_load_on_a_torch_that_counts_under_another_name_is_not_said_to_compile_nothing(
    key: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    watch = CompileWatch()
    READS[key](watch)
    torch_api.require_counters.cache_clear()
    gone = torch_names.Word(torch_names.WORDS[key][0].module, "a_counter_of_another_name")
    monkeypatch.setitem(torch_names.WORDS, key, (gone,))

    with pytest.raises(UnavailableError, match=r"compiled something again is unknown: .*has no a_counter_of_another"):
        READS[key](watch)


def test_the_source_of_torch_is_not_looked_up_before_a_count_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    looked_up: list[str] = []
    monkeypatch.setattr(torch_api, "lacking_word", looked_up.append)

    watch = CompileWatch()
    assert looked_up == []
    for _ in range(2):
        watch.compiled()
        watch.compiled(retraces=True)
    assert looked_up == ["frames", "fxgraph", "aot_autograd"]


@pytest.mark.parametrize(
    ("group", "counter"),
    [
        ("inductor", "fxgraph_cache_miss"),
        ("inductor", "fxgraph_cache_bypass"),
        ("aot_autograd", "autograd_cache_miss"),
        ("aot_autograd", "autograd_cache_bypass"),
    ],
)
def test_a_graph_that_a_cache_missed_or_could_not_take_was_compiled_again(group: str, counter: str) -> None:
    counters, watch = torch_api.get("dynamo_counters"), CompileWatch()
    assert watch.compiled(retraces=True) is None

    counters[group][counter] += 1

    assert watch.compiled(retraces=True) == "graphs were in no cache: 1"
    assert watch.compiled() is None
