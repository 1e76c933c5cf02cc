"""Figures are tested by what is on them: values, labels, and that no text is cut or covers another."""

import functools
import itertools
import statistics
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from examples import (
    captures,
    comparison,
    crashed,
    four_builds,
    guard_history,
    guard_slopes,
    history,
    ladder,
    load_case,
    row,
    run,
    timing,
)
from figures import drawn, texts
from matplotlib.figure import Figure
from matplotlib.text import Text

from pcbench import discovery, reports
from pcbench.analysis.asv_results import read_results
from pcbench.analysis.records import Absence, Measurement
from pcbench.analysis.shown import Shown
from pcbench.reports import Report, capture, guards, load, overview, releases, trend
from pcbench.reports._ladder import draw_comparison

DATA = Path(__file__).parent / "data" / "asv_results"
MANY = tuple(f"strategy_{letter}" for letter in "abcdefghij")


def boxes(found: Sequence[Text]) -> list[tuple[float, float, float, float]]:
    extents = [text.get_window_extent() for text in found if text.get_visible() and text.get_text()]
    return [(box.x0, box.y0, box.x1, box.y1) for box in extents]


@functools.cache
def example(name: str) -> Figure:
    return drawn(FIGURES[name]())


FIGURES: dict[str, Callable[[], Figure | None]] = {
    "a comparison": lambda: draw_comparison(ladder()),
    "a comparison of one sample": lambda: draw_comparison(comparison(row("eager", [2.0]), row("aoti", [0.02]))),
    "a comparison from 20 ms to 40 s": lambda: draw_comparison(
        comparison(row("eager", [0.02, 0.021]), row("aoti", [40.0, 41.0], call_s=[1e-6] * 9, eager_call_s=[9e-6] * 9))
    ),
    "a comparison in which all failed": lambda: draw_comparison(comparison(crashed("aoti", reason="no " * 200))),
    "a load ladder": lambda: load.REPORT.draw(Shown(history(1))),
    "a load ladder of many strategies": lambda: load.REPORT.draw(Shown(history(1, MANY))),
    "a load ladder of real results": lambda: load.REPORT.draw(Shown(read_results(DATA).runs)),
    "guards of one commit": lambda: guards.REPORT.draw(Shown(guard_history(1))),
    "guards of 60 commits and 11 models": lambda: guards.REPORT.draw(Shown(guard_history(60, 11))),
    "guards and slopes of many families": lambda: guards.REPORT.draw(
        Shown([*guard_history(3), run(3, guard_slopes({f"a_family_of_guards_{i}": 9e-9 * 1.7**i for i in range(10)}))])
    ),
    "slopes of two guard families": lambda: guards.REPORT.draw(
        Shown([run(0, guard_slopes({"tensors": 6e-7, "b": 5e-7}))])
    ),
    "captures by phase": lambda: capture.REPORT.draw(Shown([captures(0)])),
    "an overview without a baseline": lambda: overview.REPORT.draw(Shown(history(3, step_at=2))),
    "an overview of many changes": lambda: overview.REPORT.draw(
        Shown([run(i, {load_case(n, "warm", "mlp_" * 9): timing([1.0 + i]) for n in MANY}) for i in (0, 1)])
    ),
    "releases of four builds": lambda: releases.REPORT.draw(Shown(four_builds())),
    "a trend of 400 commits": lambda: trend.REPORT.draw(Shown(history(400, step_at=390))),
    "a trend of one commit": lambda: trend.REPORT.draw(Shown(history(1))),
    "a trend of 60 commits": lambda: trend.REPORT.draw(Shown(history(60, step_at=40))),
    "a trend of many strategies": lambda: trend.REPORT.draw(Shown(history(3, MANY))),
    "a trend of real results": lambda: trend.REPORT.draw(Shown(read_results(DATA).runs)),
}


@pytest.mark.parametrize("name", FIGURES)
def test_no_text_is_cut_by_the_edge_of_the_figure(name: str) -> None:
    figure = example(name)
    width, height = figure.bbox.width, figure.bbox.height
    shown = [text for text in figure.findobj(Text) if text.get_visible() and text.get_text().strip()]
    ticks = {
        id(t) for axes in figure.axes for axis in (axes.xaxis, axes.yaxis) for t in axis.get_ticklabels(which="both")
    }
    inside = {id(t) for axes in figure.axes for axis in (axes.xaxis, axes.yaxis) for t in visible_labels(axis)}
    for text in shown:
        if id(text) in ticks and id(text) not in inside:
            continue  # a tick outside the limits is not drawn
        box = text.get_window_extent()

        assert box.x0 >= -1, text.get_text()
        assert box.x1 <= width + 1, text.get_text()
        assert box.y0 >= -1, text.get_text()
        assert box.y1 <= height + 1, text.get_text()


def visible_labels(axis: object) -> list[Text]:
    low, high = sorted(axis.get_view_interval())  # type: ignore[attr-defined]
    ticks = axis.get_major_ticks()  # type: ignore[attr-defined]
    return [tick.label1 for tick in ticks if low <= tick.get_loc() <= high and tick.label1.get_visible()]


@pytest.mark.parametrize("name", FIGURES)
def test_no_tick_label_covers_another(name: str) -> None:
    figure = example(name)
    for axes in figure.axes:
        if not axes.axison:
            continue
        labels = [*visible_labels(axes.xaxis), *visible_labels(axes.yaxis)]
        for one, other in itertools.combinations(boxes(labels), 2):
            apart = one[2] <= other[0] or other[2] <= one[0] or one[3] <= other[1] or other[3] <= one[1]

            assert apart, (axes.get_title("left"), [label.get_text() for label in labels])


@pytest.mark.parametrize("name", FIGURES)
def test_a_figure_has_a_finding_above_and_a_caption_below_that_state_machine_and_n(name: str) -> None:
    figure = example(name)
    below = " ".join(figure.get_supxlabel().split())

    assert figure.get_suptitle()
    assert "a processor" in below
    assert "torch" in below
    assert "n = " in below


def test_the_marks_of_the_load_ladder_are_the_newest_commits_medians() -> None:
    runs = history(3, step_at=2)
    axes = drawn(load.REPORT.draw(Shown(runs))).axes[1]
    marks = {line.get_label(): line.get_xdata()[0] for line in axes.lines if not line.get_label().startswith("_")}
    newest = runs[-1].measurements

    assert marks["export warm"] == newest[load_case("export", "warm")].value
    assert marks["eager cold"] == newest[load_case("eager", "cold")].value
    assert len(marks) == 9


def test_the_load_ladder_says_why_a_strategy_has_no_mark() -> None:
    assert "CRASHED: ended by SIGSEGV" in texts(example("a load ladder"))


@pytest.mark.parametrize(("temperature", "unit", "unit_s"), [("warm", "s", 1.0), ("hot", "ms", 1e-3)])
def test_the_lines_of_a_trend_are_the_medians_by_commit(temperature: str, unit: str, unit_s: float) -> None:
    runs = history(30, step_at=20)
    figure = drawn(trend.REPORT.draw(Shown(runs)))
    heading = f"time to the first output, mlp, {temperature} load"
    panel = next(axes for axes in figure.axes if axes.get_title("left") == heading)
    line = next(line for line in panel.lines if line.get_label() == "export")
    expected = [one.measurements[load_case("export", temperature)].value / unit_s for one in runs]

    assert list(line.get_ydata()) == pytest.approx(expected)
    assert panel.get_ylabel() == unit


def test_a_trend_draws_the_panels_that_moved_most_and_says_how_many_it_left_out() -> None:
    cases = [load_case("aoti", "warm", f"model{number:02}") for number in range(40)]
    before = {case: timing([1.0, 1.01, 1.02, 1.03]) for case in cases}
    after = before | {cases[39]: timing([3.0, 3.01, 3.02, 3.03])}
    figure = drawn(trend.REPORT.draw(Shown([run(0, before), run(1, after)])))

    assert figure.axes[1].get_title("left") == "time to the first output, model39, warm load"
    assert "16 of 40 panels are drawn" in " ".join(figure.get_supxlabel().split())


def test_a_result_without_a_sidecar_is_said_to_be_of_unknown_torch() -> None:
    figure = drawn(load.REPORT.draw(Shown([run(0, {load_case("aoti", "cold"): timing([1.0])}, context=False)])))

    assert "torch unknown: the result has no readable sidecar" in " ".join(figure.get_supxlabel().split())


def test_every_report_in_the_folder_can_be_loaded_and_copes_with_nothing_to_show() -> None:
    for name in discovery.names(Path(reports.__file__).parent):
        report = discovery.load("pcbench.reports", name, "REPORT", Report)

        assert (report.draw(Shown([])), report.table(Shown([]))) == (None, None)
        assert report.draw(Shown([run(0, {}, {load_case("aoti", "cold"): Absence("failed")})])) is None


def test_the_tables_of_reports_have_the_numbers_of_the_figures() -> None:
    ladder_table, trend_table = load.REPORT.table(Shown(history(1))), trend.REPORT.table(Shown(history(60, step_at=40)))
    assert ladder_table is not None
    assert trend_table is not None
    export = next(cells for cells in trend_table.rows if "export, warm" in cells[0])

    assert ladder_table.rows[0][:3] == ("mlp", "eager", "2 s (n=1)")
    assert ("mlp", "torchscript", "CRASHED", "-", "-") in [cells[:5] for cells in ladder_table.rows]
    assert export[1:6] == ("00000028", "2026-10-11", "2.17 s", "4.35 s", "2.000")


def test_the_load_ladder_says_of_a_strategy_that_the_run_left_out_that_it_was_not_measured() -> None:
    one = run(0, {load_case("aoti", "cold"): timing([1.0])}, {load_case("export", "cold"): Absence("n/a")})

    assert "not measured in this run" in texts(drawn(load.REPORT.draw(Shown([one]))))


def shown_ticks(axis: object) -> list[str]:
    return [label.get_text() for label in visible_labels(axis)]


def test_an_axis_of_less_than_a_decade_has_labels_at_1_2_3_and_5() -> None:
    found = {load_case(name, "cold"): timing([time]) for name, time in (("eager", 1.4), ("aoti", 3.1))}
    axes = drawn(load.REPORT.draw(Shown([run(0, found)]))).axes

    assert shown_ticks(axes[1].xaxis) == ["1 s", "2 s", "3 s", "5 s"]


def test_only_the_temperatures_that_were_measured_are_in_the_key_and_the_caption() -> None:
    figure = drawn(load.REPORT.draw(Shown([run(0, {load_case("aoti", "cold"): timing([1.0])})])))

    assert [text.get_text() for text in figure.axes[0].get_legend().get_texts()] == ["cold"]
    assert "warm:" not in figure.get_supxlabel()


def test_every_tick_of_a_logarithmic_trend_has_the_unit_that_suits_it() -> None:
    found = {
        load_case(name, "cold"): Measurement(size, "bytes") for name, size in (("aoti", 1.8e6), ("export", 14_045.0))
    }
    axes = drawn(trend.REPORT.draw(Shown([run(0, found)]))).axes[1]

    assert {"30 kB", "1 MB"} <= set(shown_ticks(axes.yaxis))


def test_counts_of_zero_are_drawn() -> None:
    case = load_case("aoti", "cold")
    runs = [run(number, {case: Measurement(0.0, "guards")}) for number in range(2)]

    assert drawn(trend.REPORT.draw(Shown(runs))).axes[1].lines


def test_reports_import_neither_pyplot_nor_torch() -> None:
    script = "import sys, pcbench.reports.load, pcbench.reports.trend, pcbench.reports._ladder; print(*sys.modules)"
    modules = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout.split()

    assert not {"matplotlib.pyplot", "torch", "asv"} & set(modules)


def test_median_of_the_drawn_totals_is_the_label() -> None:
    cold = example("a comparison").axes[1]
    labels = [text.get_text() for text in cold.texts]

    assert labels[:3] == [
        f"{statistics.median(starts):.2f} s".replace("2.00 s", "2 s")
        for starts in ([2.0, 2.1, 1.9], [2.4, 2.3, 2.5], [4.0, 4.2, 4.1])
    ]
