from dataclasses import replace

from examples import comparison, crashed, ladder, row

from pcbench.analysis.comparison import to_json
from pcbench.analysis.table import table, text_lines


def test_every_row_has_a_cell_for_every_column() -> None:
    header, *lines = table(ladder())

    assert len(lines) == len(ladder().rows)
    assert {len(line) for line in lines} == {len(header)}


def test_rows_come_by_temperature_eager_first_then_by_start_failures_last() -> None:
    lines = table(ladder())[1:]

    assert [line[0] for line in lines] == ["eager", "aoti", "export", "jit_script"] * 3
    assert [line[1] for line in lines[::4]] == ["cold", "warm", "hot"]


def test_eager_comes_first_though_a_strategy_starts_faster() -> None:
    lines = table(comparison(row("aoti", [1.0]), row("eager", [2.0])))[1:]

    assert [line[0] for line in lines] == ["eager", "aoti"]


def test_a_line_says_start_with_spread_and_n_ratio_break_even_and_pay_back() -> None:
    found = dict(zip(table(ladder())[0], table(ladder(), calls_per_start=10_000)[2], strict=True))

    assert found["start to first output"] == "2.40 s (2.30-2.50, n=3)"
    assert found["longest phase"] == "load 960 ms"
    assert found["call"] == "155 us, 0.50 x eager (0.50-0.50)"
    assert found["break-even"] == "from 2,585 calls"
    assert found["capture"] == "9.50 s"
    assert found["artifact"] == "1.20 MB"
    assert found["weights"] == "baked"


def test_eager_has_the_time_of_its_calls_and_no_ratio_to_itself() -> None:
    eager = dict(zip(*table(ladder())[:2], strict=True))

    assert eager["call"] == "310 us"
    assert [eager[key] for key in ("break-even", "weights", "artifact")] == ["-"] * 3


def test_a_hot_load_has_no_peak_memory_of_its_own() -> None:
    hot = row("aoti", [1.0], temperature="hot")
    hot = replace(hot, samples=tuple(replace(sample, peak_rss_bytes=None) for sample in hot.samples))
    found = dict(zip(*table(comparison(hot)), strict=True))

    assert found["peak RSS"] == "-"
    assert to_json(comparison(hot))["results"][0]["samples"][0]["peak_rss_bytes"] is None


def test_a_failed_row_has_its_status_and_reason_and_no_numbers() -> None:
    found = dict(zip(*table(comparison(crashed("aoti"))), strict=True))

    assert (found["status"], found["reason"]) == ("CRASHED", "at load: ended by SIGSEGV")
    assert found["start to first output"] == found["break-even"] == found["peak RSS"] == "-"


def test_the_lines_of_a_terminal_are_aligned_and_a_failed_row_has_its_reason() -> None:
    lines = text_lines(comparison(row("eager", [2.0]), crashed("aoti")))

    assert lines[0].index("start to first output") == lines[2].index("2 s (n=1)")
    assert lines[1] == "cold: a fresh process with empty compiler caches"
    assert lines[3] == "aoti      CRASHED: at load: ended by SIGSEGV"


def test_the_lines_of_a_terminal_stay_within_165_characters_and_leave_out_the_least_needed_columns() -> None:
    calls = [1234e-6 + i * 1e-6 for i in range(20)]
    long = row(
        "precompile_inductor",
        [12.4, 12.3, 12.5],
        call_s=[0.9999 * c for c in calls],
        eager_call_s=calls,
        capture_s=[99],
    )
    lines = text_lines(comparison(row("eager", [2.0, 2.1, 2.2]), long))

    assert max(map(len, lines)) <= 165
    assert "weights" not in lines[0]
    assert max(map(len, text_lines(ladder()))) <= 165
