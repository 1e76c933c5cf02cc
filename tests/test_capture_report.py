"""The report of captures by phase, and the trend's order of counts that stand still."""

from __future__ import annotations

from examples import captures, run
from figures import drawn, texts

from pcbench.analysis.shown import Shown
from pcbench.reports import capture, trend


def test_bars_say_strategy_temperature_and_the_sum_and_which_phase_is_not_in_it() -> None:
    shown = texts(drawn(capture.REPORT.draw(Shown([captures(0)]))))

    assert {"aoti, cold", "aoti, warm", "export, cold", "nativert, cold"} <= set(shown)
    assert {"33 s", "13 s", "3 s, without Dynamo: unknown"} <= set(shown)
    assert any(text.startswith("UNAVAILABLE: no such runtime") and text.endswith("...") for text in shown)


def test_the_slowest_strategy_comes_first_and_its_cold_capture_before_its_warm_one() -> None:
    table = capture.REPORT.table(Shown([captures(0)]))

    assert table is not None
    assert [row[1:3] for row in table.rows] == [
        ("aoti", "cold"),
        ("aoti", "warm"),
        ("export", "cold"),
        ("nativert", "cold"),
    ]


def test_the_title_names_the_longest_phase_of_most_cold_captures() -> None:
    shown = texts(drawn(capture.REPORT.draw(Shown([captures(0, compile_s=1.0)]))))

    assert "Inductor: the longest phase of 2 of 2 cold captures" in shown


def test_the_table_has_phases_counts_and_the_status_of_what_is_unknown() -> None:
    table = capture.REPORT.table(Shown([captures(0, kernels=43)]))
    assert table is not None
    rows = {row[1:3]: dict(zip(table.header, row, strict=True)) for row in table.rows}

    assert rows["aoti", "cold"]["compilers"] == "30 s"
    assert rows["aoti", "cold"]["generated_kernels"] == "43"
    assert rows["aoti", "cold"]["recompiles"] == "-"
    assert rows["export", "cold"]["Dynamo"] == "UNAVAILABLE"


def test_only_the_newest_run_is_shown() -> None:
    shown = texts(drawn(capture.REPORT.draw(Shown([captures(0, compile_s=99.0), captures(1)]))))

    assert "33 s" in shown
    assert "102 s" not in shown


def test_runs_without_captures_give_neither_figure_nor_table() -> None:
    assert capture.REPORT.draw(Shown([run(0, {})])) is None
    assert capture.REPORT.table(Shown([run(0, {})])) is None


def test_in_the_trend_a_count_that_changed_comes_first_and_one_that_stands_still_last() -> None:
    changed = [captures(0), captures(1, kernels=2)]
    still = [captures(0), captures(1, compile_s=31.0)]

    for runs, first, last in ((changed, "capture count", "capture time"), (still, "capture time", "capture count")):
        headings = [axes.get_title(loc="left") for axes in drawn(trend.REPORT.draw(Shown(runs))).axes[1:]]
        assert headings[0].startswith(first), headings
        assert headings[-1].startswith(last), headings
