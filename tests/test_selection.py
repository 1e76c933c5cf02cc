"""Which cases and results patterns name."""

import pytest

from pcbench.analysis.records import Case
from pcbench.analysis.selection import is_of, names, near

PLAIN = Case("bench_call.Call.track_call")
BRACKETS = Case("bench_call.Call.track_call", (("model", "mlp"), ("shape", "[1, 2]")))


@pytest.mark.parametrize(
    ("pattern", "case", "named"),
    [
        ("bench_call.Call.track_call", PLAIN, True),
        ("bench_call.Call.track_call", BRACKETS, True),
        (str(BRACKETS), BRACKETS, True),
        (str(BRACKETS), str(BRACKETS), True),
        (str(BRACKETS), PLAIN, False),
        ("*([!e]*, [1, 2])", BRACKETS, False),
        ("*(*, [1, 2])", BRACKETS, True),
        ("*([klm]*", BRACKETS, True),
        ("*.track_call", BRACKETS, True),
        ("*.track_call", str(BRACKETS), True),
        ("bench_load.*", BRACKETS, False),
        ("BENCH_CALL.*", BRACKETS, False),
    ],
)
def test_a_pattern_names_ids_and_benchmarks_and_a_bracket_may_be_itself(
    pattern: str, case: Case | str, named: bool
) -> None:
    assert names(pattern, case) is named


@pytest.mark.parametrize(
    ("machine", "env", "wanted"),
    [
        (None, None, True),
        ("lab", "shared-torch2.15.0", True),
        ("la*", "torch2.15", True),
        ("la", None, False),
        (None, "*2.15.0", True),
        (None, "2.14", False),
    ],
)
def test_results_are_of_a_machine_by_name_and_of_an_environment_by_a_part_of_it(
    machine: str | None, env: str | None, wanted: bool
) -> None:
    assert is_of("lab", "shared-torch2.15.0", machine, env) is wanted


def test_names_with_brackets_are_their_own_patterns() -> None:
    assert is_of("lab[1]", "shared[2]", "lab[1]", "shared[2]")


def test_what_looks_like_a_name_is_named_and_nothing_else() -> None:
    assert near("bench.lod", ["bench.load(a, b)", "bench.load", "bench.load"]) == "near: bench.load; bench.load(a, b)"
    assert near("xyz", ["bench.load"]) == ""
