from examples import load_case, run, timing

from pcbench.analysis.records import Absence
from pcbench.analysis.series import all_series, by_place, lost

CASE = load_case("aoti", "warm")


def test_runs_of_two_environments_are_two_series() -> None:
    runs = [run(0, {CASE: timing([1.0])}), run(1, {CASE: timing([2.0])}, environment="other")]

    assert [str(one.place) for one in all_series(runs)] == ["shared on toybox", "other on toybox"]


def test_points_come_by_commit_date_whatever_the_order_of_the_runs() -> None:
    runs = [run(number, {CASE: timing([float(number + 1)])}) for number in (2, 0, 1)]
    (only,) = all_series(runs)

    assert [(index, m.value) for index, m in only.points] == [(0, 1.0), (1, 2.0), (2, 3.0)]


def test_a_commit_at_which_the_case_has_no_number_is_a_gap() -> None:
    runs = [run(0, {CASE: timing([1.0])}), run(1, {}), run(2, {CASE: timing([3.0])})]
    (only,) = all_series(runs)

    assert [index for index, _ in only.points] == [0, 2]
    assert len(by_place(runs)[only.place]) == 3


def test_the_ratio_is_newest_by_the_one_before() -> None:
    (only,) = all_series([run(0, {CASE: timing([2.0])}), run(1, {CASE: timing([3.0])})])

    assert only.latest_ratio == 1.5


def test_there_is_no_ratio_of_a_difference_that_changed_its_sign() -> None:
    (only,) = all_series([run(0, {CASE: timing([2.0])}), run(1, {CASE: timing([-1.0])})])

    assert only.latest_ratio is None


def test_there_is_no_ratio_where_the_newest_commit_or_the_one_before_lacks_the_case() -> None:
    ends_early, gap = load_case("aoti", "warm"), load_case("aoti", "hot")
    one, two = timing([1.0]), timing([2.0])
    runs = [run(0, {ends_early: one, gap: one}), run(1, {ends_early: two}), run(2, {gap: two})]
    found = {series.case: series for series in all_series(runs)}

    assert (found[ends_early].latest_ratio, found[gap].latest_ratio) == (None, None)
    assert (found[ends_early].newest, found[gap].newest) == (None, two)


def test_a_case_is_lost_when_it_had_a_number_and_has_a_failure_now() -> None:
    failed, unknown, unselected, new = (load_case("aoti", "warm", model) for model in "abcd")
    before = run(0, {case: timing([1.0]) for case in (failed, unknown, unselected)})
    absences = {
        failed: Absence("failed"),
        unknown: Absence("n/a", "torch has no such thing"),
        unselected: Absence("n/a"),
        new: Absence("failed"),
    }

    assert [case for _, case in lost([before, run(1, {}, absences)])] == [failed, unknown]
