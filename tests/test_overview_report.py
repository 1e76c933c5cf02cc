"""The overview: by its figure, its sentences and its table; and the rows beneath them."""

from __future__ import annotations

from dataclasses import replace

from examples import guard_history, history, load_case, run, timing
from figures import drawn, texts

from pcbench.analysis.findings import Finding
from pcbench.analysis.gating import EVERY_CASE
from pcbench.analysis.overview_rows import overview
from pcbench.analysis.records import Absence, Case, Measurement, Verdict
from pcbench.analysis.series import Place
from pcbench.analysis.shown import Shown
from pcbench.reports import overview as report

HERE = Place("toybox", "shared")
COUNT = Case("bench_capture.Counts.track_count", (("model", "mlp"),))


def finding(case: Case, verdict: Verdict, ratio: float = 1.0, reason: str = "measured") -> Finding:
    return Finding(case, verdict, reason, HERE, "beyond 2.0%", "seconds", 1.0, ratio, "accepted 00000001")


def subjects(shown: Shown) -> list[str]:
    return [str(row.subject) for row in overview(shown).changed]


def test_without_a_baseline_the_newest_commit_is_beside_the_one_before_and_has_no_verdict() -> None:
    found = overview(Shown(history(3, step_at=2)))

    assert {row.verdict for row in found.changed} == {None}
    assert [str(row.subject).count("export") for row in found.changed] == [1, 1, 1]
    assert found.changed[0].ratio == 2.0
    assert (found.same, found.judged) == (6, 0)


def test_what_changed_most_comes_first_and_what_got_less_after_what_got_more() -> None:
    cases = [load_case("aoti", t) for t in ("cold", "warm", "hot")]
    before = dict.fromkeys(cases, timing([1.0]))
    after = dict(zip(cases, (timing([1.1]), timing([0.2]), timing([1.5])), strict=True))

    assert subjects(Shown([run(0, before), run(1, after)])) == [str(cases[i]) for i in (2, 0, 1)]


def test_verdicts_come_worst_first_and_what_could_not_be_judged_apart() -> None:
    cases = [load_case(name, "warm") for name in "abcde"]
    verdicts = (Verdict.FASTER, Verdict.SAME, Verdict.SLOWER, Verdict.MISSING, Verdict.CHANGED)
    findings = [finding(case, verdict, 1.3) for case, verdict in zip(cases, verdicts, strict=True)]
    found = overview(Shown(history(2), findings))

    assert [row.verdict for row in found.changed] == [Verdict.SLOWER, Verdict.CHANGED, Verdict.FASTER]
    assert [row.verdict for row in found.unknown] == [Verdict.MISSING]
    assert (found.same, found.judged) == (1, 1)


def test_many_cases_that_one_reason_keeps_from_being_compared_are_one_line() -> None:
    findings = [finding(load_case(f"s{i}", "warm"), Verdict.UNJUDGED, reason="another torch") for i in range(50)]
    (row,) = overview(Shown(history(1), findings)).unknown

    assert (row.subject, row.cases, row.reason) == ("50 cases", 50, "another torch")
    assert "50 cases could not be compared: see the table." in report.REPORT.said(Shown(history(1), findings))


def test_a_case_that_was_lost_is_among_what_could_not_be_compared_with_its_reason() -> None:
    case = load_case("aoti", "warm")
    table = report.REPORT.table(
        Shown([run(0, {case: timing([1.0])}), run(1, {}, {case: Absence("CRASHED", "ended by SIGSEGV")})])
    )

    assert table is not None
    assert table.rows[0][:3] == (str(case), "FAILED", "CRASHED: ended by SIGSEGV")


def test_a_count_that_was_0_is_a_change_without_a_ratio() -> None:
    runs = [run(0, {COUNT: Measurement(0.0, "")}), run(1, {COUNT: Measurement(3.0, "")})]

    assert "no ratio" in texts(drawn(report.REPORT.draw(Shown(runs))))
    assert any("0 -> 3" in text for text in texts(drawn(report.REPORT.draw(Shown(runs)))))


def test_a_guard_that_the_newest_commit_added_is_told_in_words() -> None:
    rows = overview(Shown(guard_history(3))).changed

    assert [row.subject for row in rows] == ["guards of model0"]
    assert "L['new']" in rows[0].reason


def test_the_numbers_are_said_to_be_the_least_samples_which_a_judgement_compares() -> None:
    assert any(
        "least sample of n = " in text for text in texts(drawn(report.REPORT.draw(Shown(history(3, step_at=2)))))
    )


def test_the_title_counts_verdicts_and_names_the_worst_case() -> None:
    slow, fast = load_case("aoti", "warm"), load_case("export", "warm")
    shown = Shown(history(2), [finding(fast, Verdict.FASTER, 0.5), finding(slow, Verdict.SLOWER, 1.3)])

    assert " ".join(drawn(report.REPORT.draw(shown)).get_suptitle().split()) == (
        "1 SLOWER and 1 FASTER; first: time to the first output, mlp, aoti, warm load, 1.30 times"
    )


def test_where_nothing_changed_a_sentence_says_so_and_no_figure_is_drawn() -> None:
    shown = Shown(history(2))

    assert report.REPORT.draw(shown) is None
    assert report.REPORT.said(shown)[:2] == [
        "Nothing changed at the newest commit.",
        "9 cases stayed within the threshold.",
    ]


def test_nothing_is_said_to_be_unchanged_where_cases_could_not_be_compared() -> None:
    findings = [finding(load_case(f"s{i}", "warm"), Verdict.UNJUDGED, reason="another torch") for i in range(99)]
    said = report.REPORT.said(Shown(history(2), [finding(COUNT, Verdict.SAME), *findings]))

    assert said[:2] == [
        "No case that could be compared changed at the newest commit.",
        "99 cases could not be compared: see the table.",
    ]
    assert report.REPORT.said(Shown(history(2), findings)) == ["99 cases could not be compared: see the table."]


def test_a_place_that_could_not_be_judged_says_why_and_not_that_it_has_no_baseline() -> None:
    shown = Shown(history(2), [finding(EVERY_CASE, Verdict.UNJUDGED, reason="its result is not there")])

    assert report.REPORT.said(shown) == ["shared on toybox has no verdict: its result is not there."]
    table = report.REPORT.table(shown)
    assert table is not None
    assert table.rows[0][:3] == ("every case", "UNJUDGED", "its result is not there")


def test_a_place_with_one_commit_says_that_there_is_nothing_to_compare_with() -> None:
    shown = Shown(history(1))

    assert (report.REPORT.draw(shown), report.REPORT.table(shown)) == (None, None)
    assert report.REPORT.said(shown) == ["One commit alone, so nothing to compare with: shared on toybox."]


def test_runs_with_another_torch_in_the_same_environment_are_not_compared() -> None:
    one, other = history(2, step_at=1)
    assert other.context is not None
    found = overview(Shown([one, replace(other, context=replace(other.context, torch="2.16.0"))]))

    assert found.changed == ()
    assert "another torch: 2.15.0 in the baseline, 2.16.0 now" in found.unknown[0].reason
