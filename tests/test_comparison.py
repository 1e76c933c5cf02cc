import json
from dataclasses import replace
from typing import Any

import pytest
from examples import comparison, crashed, ladder, row

from pcbench.analysis.comparison import from_json, to_json, with_calls
from pcbench.analysis.recommendation import recommend
from pcbench.errors import ResultsError
from pcbench.status import Status


def test_the_json_has_exactly_the_keys_of_schema_1() -> None:
    """Scripts of users read this."""
    written = to_json(ladder(), recommend(ladder()).to_json())
    top = "schema model torch triton python machine threads recommendation results"
    per_row = (
        "strategy temperature status reason weights capture_s save_s artifact_bytes samples "
        "call_s eager_call_s pairs_by_process"
    )
    per_sample = "phases total_s cpu_s peak_rss_bytes compiler_processes"
    phases = "interpreter_s import_torch_s import_other_s model_s load_s first_call_s"

    assert (written["schema"], list(written)) == (1, top.split())
    assert all(list(entry) == per_row.split() for entry in written["results"])
    sample = written["results"][0]["samples"][0]
    assert list(sample) == per_sample.split()
    assert list(sample["phases"]) == phases.split()
    assert sample["total_s"] == pytest.approx(sum(sample["phases"].values()))


def test_a_comparison_survives_its_json() -> None:
    assert from_json(json.loads(json.dumps(to_json(ladder())))) == ladder()


def test_a_status_that_is_not_ok_survives_with_its_reason() -> None:
    found = from_json(json.loads(json.dumps(to_json(comparison(crashed("aoti"))))))

    assert (found.rows[0].status, found.rows[0].reason) == (Status.CRASHED, "at load: ended by SIGSEGV")


@pytest.mark.parametrize(
    ("path", "value", "words"),
    [
        (("schema",), 2, "has schema 2; this pcbench reads schema 1"),
        (("threads",), "2", "threads is a text, not a whole number"),
        (("results", 0, "status"), "FINE", r"results\[0\]: status is 'FINE', not one of OK"),
        (("results", 1, "temperature"), "tepid", r"results\[1\]: temperature is 'tepid', not one of cold, warm, hot"),
        (("results", 0, "call_s"), ["x"], r"results\[0\]: call_s is a text"),
        (("results", 0, "samples", 0, "phases", "nap_s"), 1.0, "there is no phase 'nap_s'"),
    ],
)
def test_json_of_another_form_is_an_error_that_says_where(path: tuple[Any, ...], value: object, words: str) -> None:
    written = to_json(ladder())
    inner: Any = written
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = value

    with pytest.raises(ResultsError, match=words):
        from_json(written)


def test_rows_without_timed_calls_take_those_of_the_same_strategy_at_another_temperature() -> None:
    warm = row("aoti", [1.0], temperature="warm", call_s=[1e-3], eager_call_s=[2e-3])
    filled = with_calls(comparison(row("aoti", [2.0]), row("export", [2.0]), warm))

    assert [found.call_s for found in filled.rows] == [(1e-3,), (), (1e-3,)]


def test_calls_of_a_row_that_does_not_count_are_not_lent() -> None:
    degraded = row("aoti", [1.0], temperature="warm", call_s=[1e-3], eager_call_s=[2e-3])
    degraded = replace(degraded, status=Status.DEGRADED_TO_JIT)

    assert with_calls(comparison(row("aoti", [2.0]), degraded)).rows[0].call_s == ()


def test_temperatures_come_coldest_first() -> None:
    hot_first = comparison(row("eager", [1.0], temperature="hot"), row("eager", [1.0]))

    assert hot_first.temperatures == ("cold", "hot")
