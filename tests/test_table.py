from examples import comparison, crashed, ladder, row

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
    assert found["call/eager"] == "0.50"
    assert found["break-even"] == "from 2,585 calls"
    assert found["capture"] == "9.50 s"
    assert found["artifact"] == "1.20 MB"
    assert found["weights"] == "baked"


def test_eager_has_no_ratio_to_itself() -> None:
    eager = dict(zip(*table(ladder())[:2], strict=True))

    assert [eager[key] for key in ("call/eager", "break-even", "weights", "artifact")] == ["-"] * 4


def test_a_failed_row_has_its_status_and_reason_and_no_numbers() -> None:
    found = dict(zip(*table(comparison(crashed("aoti"))), strict=True))

    assert (found["status"], found["reason"]) == ("CRASHED", "at load: ended by SIGSEGV")
    assert found["start to first output"] == found["break-even"] == found["peak RSS"] == "-"


def test_the_lines_of_a_terminal_are_aligned_and_a_failed_row_has_its_reason() -> None:
    lines = text_lines(comparison(row("eager", [2.0]), crashed("aoti")))

    assert lines[0].index("start to first output") == lines[2].index("2 s (n=1)")
    assert lines[1] == "cold: a fresh process with empty compiler caches"
    assert lines[3] == "aoti      CRASHED: at load: ended by SIGSEGV"


def test_the_lines_of_a_terminal_are_not_much_wider_than_one() -> None:
    assert max(map(len, text_lines(ladder()))) <= 160
