"""The table of all cases, as it is without JavaScript."""

from __future__ import annotations

from examples import history, load_case, run, timing

from pcbench.analysis.case_rows import case_rows
from pcbench.analysis.findings import Finding
from pcbench.analysis.records import Absence, Results, Verdict
from pcbench.analysis.series import Place
from pcbench.analysis.shown import Shown
from pcbench.reports._page import page
from pcbench.reports._page_cases import cases_section

HERE = Place("toybox", "shared")
EXPORT = load_case("export", "warm")


def test_a_row_has_the_newest_number_its_ratio_and_its_step() -> None:
    row = next(row for row in case_rows(Shown(history(60, step_at=59))) if row.case == EXPORT)
    html = cases_section([row])

    assert (row.ratio, row.commits, row.verdict) == (2.0, 60, None)
    assert '<td class="newest" data-v="4.48">4.48 s</td>' in html
    assert '<td class="ratio" data-v="2">2.000</td>' in html
    assert "4.44 s to 4.52 s" in html


def test_a_step_is_told_with_the_commit_that_made_it() -> None:
    row = next(row for row in case_rows(Shown(history(60, step_at=40))) if row.case == EXPORT)

    assert [(step.ratio, commit[:8]) for step, commit in row.steps] == [(2.0, "00000028")]
    assert "1: 2.00 times at 00000028" in cases_section([row])


def test_a_verdict_stands_beside_its_case_alone() -> None:
    finding = Finding(EXPORT, Verdict.SLOWER, "why", HERE)
    rows = case_rows(Shown(history(2), [finding]))

    assert [row.verdict for row in rows if row.case == EXPORT] == [Verdict.SLOWER]
    assert {row.verdict for row in rows if row.case != EXPORT} == {None}
    assert cases_section(rows).count("SLOWER") == 1


def test_a_case_that_the_newest_commit_lacks_says_so_and_has_no_number_to_sort_by() -> None:
    runs = [run(0, {EXPORT: timing([1.0])}), run(1, {}, {EXPORT: Absence("CRASHED", "why")})]
    html = cases_section(case_rows(Shown(runs)))

    assert '<td class="newest" data-v="Infinity">CRASHED</td>' in html


def test_columns_in_which_no_row_has_anything_are_left_out() -> None:
    html = cases_section(case_rows(Shown(history(2))))

    assert all(f'data-name="{name}"' in html for name in ("case", "newest", "ratio", "quartiles", "n", "commits"))
    assert not any(f'data-name="{name}"' in html for name in ("verdict", "steps", "environment"))


def test_names_are_escaped() -> None:
    html = cases_section(case_rows(Shown([run(0, {load_case("<script>", "warm"): timing([1.0])})])))

    assert "<script" not in html


def test_the_page_has_the_whole_table_and_one_script_that_nothing_is_loaded_for() -> None:
    runs = tuple(history(2))
    html = page([], Results(runs), case_rows(Shown(runs)))

    assert html.count('<th scope="row">') == 9
    assert html.count("<script") == 1
    assert "default-src 'none'" in html
    assert "http" not in html.replace("http-equiv", "")
