"""The figure of a comparison, by what is on it."""

from dataclasses import replace

import pytest
from examples import comparison, crashed, ladder, row
from figures import drawn, texts

from pcbench.analysis.table import PHASE_LABELS, phase_medians
from pcbench.reports._ladder import draw_comparison, finding


@pytest.mark.parametrize(("place", "unit_s"), [(0, 1.0), (2, 1e-3)])
def test_the_bars_of_a_comparison_are_the_medians_of_the_phases_in_the_unit_of_the_axis(
    place: int, unit_s: float
) -> None:
    axes = drawn(draw_comparison(ladder())).axes[1 + place]
    found: dict[int, dict[str, float]] = {}
    for bars in axes.containers:
        bar = bars.patches[0]
        found.setdefault(round(bar.get_y() + bar.get_height() / 2), {})[bars.get_label()] = bar.get_width()
    for number in range(3):
        medians = phase_medians(ladder().rows[4 * place + number].samples)

        assert found[number] == pytest.approx({phase: value / unit_s for phase, value in medians.items()})
    assert axes.get_xlabel() == f"time to the first output ({'s' if unit_s == 1 else 'ms'})"


def test_the_circles_of_a_comparison_are_the_samples() -> None:
    cold = drawn(draw_comparison(ladder())).axes[1]
    circles = [list(line.get_xdata()) for line in cold.lines if line.get_marker() == "o"]

    assert circles[0] == pytest.approx([2.0, 2.1, 1.9])


def test_a_comparison_names_every_phase_that_shows_every_temperature_and_the_failed_strategy_with_its_reason() -> None:
    shown = texts(drawn(draw_comparison(ladder())))

    assert set(PHASE_LABELS.values()) - set(shown) == {"interpreter"}, "the examples have none that takes time"
    assert shown.count("CRASHED: at load: ended by SIGSEGV") == 3
    assert "cold: a fresh process with empty compiler caches" in shown
    assert shown.count("jit_script") == 3


def test_the_curve_of_total_time_crosses_eagers_where_its_mark_is() -> None:
    axes = drawn(draw_comparison(ladder())).axes[4]
    lines = {line.get_label().split(" ")[0]: line for line in axes.lines}
    mark = next(line for line in axes.lines if line.get_marker() not in ("None", ""))
    calls, total = mark.get_xdata()[0], mark.get_ydata()[0]

    assert calls == pytest.approx(0.4 / (0.5 * 309.5e-6))
    assert total == pytest.approx(2.0 + calls * 309.5e-6)
    assert lines["aoti"].get_label() == "aoti (cheaper: from 2,585 calls)"
    assert lines["aoti"].get_ydata()[-1] < lines["eager"].get_ydata()[-1]


def test_the_heading_of_the_curve_promises_a_mark_only_where_there_is_one() -> None:
    calls = [1e-4 + i * 1e-7 for i in range(9)]
    slow = row("aoti", [2.4, 2.5], call_s=[1.2 * call for call in calls], eager_call_s=calls)
    figure = drawn(draw_comparison(comparison(row("eager", [1.0, 1.1]), slow)))

    assert figure.axes[2].get_title("left") == "cold start and its calls"
    assert "a mark where" in drawn(draw_comparison(ladder())).axes[4].get_title("left")


def test_the_caption_counts_one_process_and_one_thread_in_the_singular() -> None:
    one = replace(comparison(row("eager", [2.0]), row("aoti", [1.0])), threads=1)
    below = " ".join(drawn(draw_comparison(one)).get_supxlabel().split())

    assert "1 thread on" in below
    assert "n = 1 fresh process per row" in below


def test_without_timed_calls_the_figure_says_that_it_has_no_curve() -> None:
    figure = drawn(draw_comparison(comparison(row("eager", [2.0]), row("aoti", [1.0]))))

    assert len(figure.axes) == 2
    assert "No curve of total time" in " ".join(figure.get_supxlabel().split())


@pytest.mark.parametrize(
    ("starts", "words"),
    [
        (
            [1.0, 1.1],
            "aoti loads fastest of the saved strategies, 1.05 s to the first output, 950 ms faster than eager",
        ),
        ([3.0, 3.1], "3.05 s to the first output, 1.05 s slower than eager"),
        ([2.0, 2.1], "2.05 s to the first output; eager 2 s, a difference within the spread"),
        ([2.1, 2.0, 2.2], "2.10 s to the first output, 100 ms slower than eager"),
    ],
)
def test_the_title_of_a_comparison_says_what_was_found(starts: list[float], words: str) -> None:
    rows = row("eager", [2.0, 1.9, 2.1]), row("aoti", starts), row("export", [9.0, 9.1])

    assert words in finding(comparison(*rows))


def test_the_title_calls_strategies_alike_whose_ranges_overlap() -> None:
    rows = [row("aoti", [1.0, 1.3]), row("export", [1.2, 1.5]), row("aot_compile", [1.9, 2.0])]

    assert finding(comparison(*rows)) == (
        "mlp, cold: aoti and export start alike, fastest of the saved strategies, 1.15 s to the first output; "
        "eager was not measured"
    )


def test_the_title_speaks_of_the_coldest_temperature_at_which_every_row_has_two_samples() -> None:
    cold = [row("eager", [2.0]), row("aoti", [1.0, 1.1]), row("export", [9.0, 9.1])]
    warm = [row(name, [time, 1.1 * time], temperature="warm") for name, time in (("aoti", 5.0), ("export", 2.0))]

    assert finding(comparison(*cold, *warm)).startswith("mlp, warm: export loads fastest")


def test_the_title_does_not_rank_single_samples() -> None:
    rows = row("eager", [2.0]), row("aoti", [1.0]), row("export", [3.0])

    assert finding(comparison(*rows)) == "mlp, cold: n=1, not judged; 2 saved strategies 1 s to 3 s, eager 2 s"


def test_the_title_says_when_nothing_loaded() -> None:
    assert finding(comparison(row("eager", [2.0]), crashed("aoti"))) == (
        "mlp: no strategy loaded and gave eager's answer"
    )
