from pcbench.analysis.records import Case

CASE = Case("bench_load.Load.track_first_output", (("model", "mlp"), ("strategy", "aoti")))


def test_a_case_reads_as_its_benchmark_and_values() -> None:
    assert str(CASE) == "bench_load.Load.track_first_output(mlp, aoti)"


def test_a_case_without_parameters_reads_as_its_benchmark() -> None:
    assert str(Case("bench_x.track_y")) == "bench_x.track_y"


def test_a_parameter_is_found_by_name_and_a_missing_one_is_none() -> None:
    assert (CASE.param("strategy"), CASE.param("temperature")) == ("aoti", None)


def test_cases_that_differ_in_one_parameter_are_the_same_without_it() -> None:
    other = Case(CASE.benchmark, (("model", "mlp"), ("strategy", "export")))

    assert CASE.without("strategy") == other.without("strategy") != CASE
