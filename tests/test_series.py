import pytest
from examples import load_case, run, timing

from pcbench.analysis.records import Measurement
from pcbench.analysis.series import all_series, by_place

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


@pytest.mark.parametrize(
    ("before", "after", "left"),
    [
        (timing([1.0, 1.1, 1.2, 1.3, 1.4]), timing([2.0, 2.1, 2.2, 2.3, 2.4]), True),
        (timing([2.0, 2.1, 2.2, 2.3, 2.4]), timing([1.0, 1.1, 1.2, 1.3, 1.4]), True),
        (timing([1.0, 1.1, 1.2, 1.3, 1.4]), timing([1.1, 1.2, 1.3, 1.4, 1.5]), False),
        (timing([1.0]), timing([9.0]), None),
        (Measurement(7.0, "guards"), Measurement(7.0, "guards"), False),
        (Measurement(7.0, "guards"), Measurement(8.0, "guards"), True),
    ],
)
def test_a_step_is_quartiles_apart_or_another_count_and_unknown_for_single_samples(
    before: Measurement, after: Measurement, left: bool | None
) -> None:
    (only,) = all_series([run(0, {CASE: before}), run(1, {CASE: after})])

    assert only.left_spread is left


def test_the_ratio_is_newest_by_the_one_before() -> None:
    (only,) = all_series([run(0, {CASE: timing([2.0])}), run(1, {CASE: timing([3.0])})])

    assert only.latest_ratio == 1.5
