"""The report on guards: its figure by what is on it, its table by the words in it."""

from __future__ import annotations

from dataclasses import replace

from examples import guard_history, guard_slopes, run
from figures import drawn, texts

from pcbench.analysis.records import Run
from pcbench.analysis.shown import Shown
from pcbench.guard_samples import Census
from pcbench.reports import guards

FAMILIES = {"constants": 40e-9, "tensors": 600e-9, "globals": 25e-9}


def timed(number: int) -> Run:
    return run(number, guard_slopes(FAMILIES))


def census(number: int, **counts: int) -> Run:
    return replace(run(number, {}), censuses={"mlp": Census(counts)})


def test_runs_without_guards_have_neither_figure_nor_table() -> None:
    assert guards.REPORT.draw(Shown([run(0, {})])) is None
    assert guards.REPORT.table(Shown([run(0, {})])) is None


def test_the_finding_names_what_changed_and_the_cheapest_and_the_dearest_guard() -> None:
    *older, newest = guard_history(3)
    runs = [*older, replace(newest, measurements=guard_slopes(FAMILIES))]
    figure = drawn(guards.REPORT.draw(Shown(runs)))

    assert " ".join(figure.get_suptitle().split()) == (
        "The newest commit changed the guard census of 1 of 3 models (model0 +1); "
        "a guard costs 25.0 ns (globals) to 600 ns (tensors)"
    )


def test_slopes_are_dots_at_the_medians_the_dearest_on_top_with_their_range() -> None:
    figure = drawn(guards.REPORT.draw(Shown([timed(0)])))
    left, right = figure.axes
    dots = [line for line in left.lines if line.get_marker() == "o"]
    ranges = [tuple(line.get_xdata()) for line in left.lines if line.get_marker() != "o"]

    assert [label.get_text() for label in left.get_yticklabels()] == ["tensors", "constants", "globals"]
    assert [float(dot.get_xdata()[0]) for dot in dots] == [600e-9, 40e-9, 25e-9]
    assert ranges[0] == (0.95 * 600e-9, 1.06 * 600e-9)
    assert {"1.30 us", "600 ns", "25.0 ns"} <= set(texts(figure))
    assert right.get_title("left") == "check with none of them (intercept)"


def test_the_caption_says_how_many_processes_and_how_far_the_range_is_to_be_trusted() -> None:
    caption = " ".join(drawn(guards.REPORT.draw(Shown([timed(0)]))).get_supxlabel().split())

    assert "median of n = 5 processes" in caption
    assert "min-max, which holds the median with 94 % confidence" in caption
    assert "toybox, a processor, 2 CPUs; torch 2.15.0" in caption


def test_a_change_of_a_model_s_guards_is_marked_at_its_commit_and_so_is_one_that_leaves_their_number() -> None:
    runs = [census(0, guards=46, depth=7), census(1, guards=44, depth=7), census(2, guards=44, depth=8)]
    *_, strip = drawn(guards.REPORT.draw(Shown(runs))).axes
    marks = [(line.get_marker(), *map(float, line.get_xdata())) for line in strip.lines if len(line.get_xdata()) == 1]

    assert marks == [("v", 1.0), ("D", 2.0)]
    assert [text.get_text() for text in strip.texts if text.get_text()] == ["-2", "44 guards"]


def test_a_census_that_stayed_and_one_without_another_to_compare_with_are_told_apart() -> None:
    same = [census(0, guards=46), census(1, guards=46)]

    stayed, alone = (drawn(guards.REPORT.draw(Shown(runs))).get_suptitle() for runs in (same, same[:1]))
    assert stayed == "The newest commit left the guard census of 1 model as it was"
    assert alone == "1 model with 46 guards, at one commit: no trend yet"


def test_a_change_that_leaves_the_number_of_guards_is_no_census_that_stayed() -> None:
    figure = drawn(guards.REPORT.draw(Shown([census(0, guards=46, depth=7), census(1, guards=46, depth=8)])))

    assert "changed the guard census of 1 of 1 model (mlp: other entries)" in " ".join(figure.get_suptitle().split())


def test_of_many_environments_the_newest_are_drawn_and_the_caption_says_so() -> None:
    runs = [one for number in range(5) for one in guard_history(number + 1, 1, environment=f"env{number}")]
    figure = drawn(guards.REPORT.draw(Shown(sorted(runs, key=lambda one: one.date))))
    headings = [axes.get_title("left") for axes in figure.axes if axes.get_title("left")]

    assert [heading.splitlines()[1] for heading in headings] == [f"env{number} on toybox" for number in (4, 3, 2)]
    assert "3 of 5 environments are drawn, the newest." in " ".join(figure.get_supxlabel().split())


def test_the_table_says_in_words_what_changed_at_which_commit() -> None:
    table = guards.REPORT.table(Shown(guard_history(3)))

    assert table is not None
    ran = ("00000001, torch 2.15.0", "00000002, torch 2.15.0", "shared on toybox")
    assert table.rows == (
        ("model0", "1 TENSOR_MATCH more: on 1 value (L['new'])", *ran),
        ("model0", "1 value newly guarded: L['new']", *ran),
        ("model0", "counts: guards 46 to 47", *ran),
    )


def test_the_table_says_what_the_next_torch_changed_too() -> None:
    older = guard_history(1, torch="2.9.1", environment="old")
    newer = [census(1, guards=46, depth=9)]
    table = guards.REPORT.table(Shown([*older, replace(newer[0], censuses={"model0": newer[0].censuses["mlp"]})]))

    assert table is not None
    assert {row[2:4] for row in table.rows} == {("00000000, torch 2.9.1", "00000001, torch 2.15.0")}
    assert "counts: guards 47 to 46, depth 0 to 9" in [row[1] for row in table.rows]


def test_another_torch_at_the_same_place_is_told_once_as_a_commit() -> None:
    (older,) = guard_history(1, torch="2.9.1")
    table = guards.REPORT.table(Shown([older, guard_history(2)[1]]))

    assert table is not None
    assert table.rows == ()
    changed = replace(guard_history(2)[1], censuses={"model0": Census({"guards": 40})})
    told = guards.REPORT.table(Shown([older, changed]))
    assert told is not None
    assert [row[1] for row in told.rows].count("counts: guards 47 to 40") == 1
