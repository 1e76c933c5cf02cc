"""What a benchmark of the suite declares to be worse."""

from __future__ import annotations

import pytest

from pcbench.analysis.asv_suite import read_suite
from pcbench.analysis.records import Case
from pcbench.errors import ResultsError

NAME = "bench.Counts.track_count"


def declared(**attributes: object) -> dict[str, object]:
    return {NAME: {"version": "1", "unit": "", "param_names": ["model", "count"], **attributes}, "version": 2}


def case(count: str) -> Case:
    return Case(NAME, (("model", "mlp"), ("count", count)))


def test_each_count_of_one_benchmark_may_be_worse_in_a_direction_of_its_own() -> None:
    suite = read_suite(declared(worse_by={"count": {"misses": "up", "hits": "down", "graphs": "any"}}, worse="down"))

    found = {count: suite[NAME].worse_for(case(count)) for count in ("misses", "hits", "graphs", "one of no direction")}
    assert found == {"misses": "up", "hits": "down", "graphs": "any", "one of no direction": "down"}


def test_without_directions_by_parameter_the_benchmark_s_own_counts() -> None:
    assert read_suite(declared(worse="up"))[NAME].worse_for(case("hits")) == "up"
    assert read_suite(declared())[NAME].worse_for(case("hits")) == "any"


def test_directions_of_another_form_are_an_error_that_names_the_benchmark() -> None:
    with pytest.raises(ResultsError, match=rf"worse_by of {NAME} is a text, not an object"):
        read_suite(declared(worse_by="up"))


def test_which_number_of_machine_code_it_is_a_benchmark_says_itself_and_a_word_that_nobody_knows_is_kept() -> None:
    declared_by = {word: read_suite(declared(codegen=word))[NAME].codegen for word in ("spills", "speed")}

    assert declared_by == {"spills": "spills", "speed": "speed"}
    assert read_suite(declared())[NAME].codegen == ""
    with pytest.raises(ResultsError, match=rf"codegen of {NAME} is a whole number, not a text"):
        read_suite(declared(codegen=3))
