from dataclasses import replace

import pytest
from examples import comparison, ladder, row

from pcbench.analysis.comparison import to_json, with_calls
from pcbench.analysis.recommendation import recommend
from pcbench.status import Status


def test_the_json_has_exactly_the_keys_of_schema_1() -> None:
    """Scripts of users read this."""
    written = to_json(ladder(), recommend(ladder()).to_json())
    top = "schema model torch triton python machine threads recommendation results captures shapes deployed workers"
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
