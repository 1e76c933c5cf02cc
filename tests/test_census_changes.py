"""What differs between two censuses, in numbers and in words; each is made up so that the difference is known."""

from __future__ import annotations

from collections.abc import Mapping

from pcbench.analysis.census_changes import CensusChange, changes, sentences
from pcbench.guard_samples import EPILOGUE, ROOT, Census, Place


def census(
    places: Mapping[str, Place], counts: Mapping[str, int] | None = None, unknown: Mapping[str, str] | None = None
) -> Census:
    return Census(counts or {}, places, unknown or {})


def guarded(*guards: str, answers: tuple[str, ...] = ()) -> Place:
    return Place(guards, answers)


def test_equal_censuses_differ_in_nothing() -> None:
    one = census({"L['x']": guarded("TENSOR_MATCH", answers=("is_tag_safe",))}, {"guards": 1})

    assert changes(one, one) == ()
    assert sentences(one, one) == ()


def test_entries_come_in_the_order_in_which_people_act_on_them_and_a_fall_is_a_change_like_a_rise() -> None:
    old = census({}, {"accessors": 9, "guards": 5, "guards: A": 3, "guards: B": 2, "guards in Python": 0, "new": 1})
    new = census({}, {"accessors": 8, "guards": 4, "guards: A": 1, "guards: B": 3, "guards in Python": 1, "new": 1})

    assert [(change.entry, change.delta) for change in changes(old, new)] == [
        ("guards", -1),
        ("guards in Python", 1),
        ("guards: A", -2),
        ("guards: B", 1),
        ("accessors", -1),
    ]


def test_an_entry_that_is_not_there_is_none_of_its_kind() -> None:
    assert changes(census({}), census({}, {"guards: A": 2})) == (CensusChange("guards: A", 0, 2),)


def test_what_one_side_does_not_tell_is_said_last_and_with_its_reason_not_as_a_change_to_0() -> None:
    old = census({}, {"answers: is_safe": 4, "metrics: guard_count": 7, "depth": 1})
    new = census({}, {"depth": 2}, {"metrics: guard_count": "torch kept none"})
    found = changes(old, new)

    assert found == (
        CensusChange("depth", 1, 2),
        CensusChange("answers: is_safe", 4, None, "its torch has no such question"),
        CensusChange("metrics: guard_count", 7, None, "torch kept none"),
    )
    assert sentences(old, new)[1:] == (
        "answers: is_safe is 4 in baseline, unknown in candidate: its torch has no such question",
        "metrics: guard_count is 7 in baseline, unknown in candidate: torch kept none",
    )
    assert sentences(new, old)[-1] == ("metrics: guard_count is 7 in candidate, unknown in baseline: torch kept none")


def test_what_neither_side_tells_is_no_change() -> None:
    silent = census({}, {}, {"metrics: guard_count": "torch kept none"})

    assert changes(silent, silent) == ()


def test_guards_that_come_are_told_by_type_with_three_of_their_values() -> None:
    names = [f"L['x{number}']" for number in range(5)]
    bare, full = ({name: guarded("A", *more) for name in names} for more in ((), ("B",)))

    assert sentences(census(bare), census(full)) == ("5 B more: on 5 values (L['x0'], L['x1'], L['x2'] and 2 more)",)
    assert sentences(census(full), census(bare)) == ("5 B fewer: on 5 values (L['x0'], L['x1'], L['x2'] and 2 more)",)


def test_two_guards_of_a_type_on_a_value_are_two() -> None:
    assert sentences(census({"v": guarded("A")}), census({"v": guarded("A", "A", "A")})) == (
        "2 A more: on 1 value (v)",
    )


def test_a_value_whose_guard_has_another_type_moved_and_the_language_is_said_where_it_changed() -> None:
    old = census({"v": guarded("TENSOR_MATCH"), "w": guarded("TENSOR_MATCH"), "u": guarded("A", "A")})
    new = census({"v": guarded("LAMBDA_GUARD"), "w": guarded("LAMBDA_GUARD"), "u": guarded("B")})

    assert sentences(old, new) == (
        "TENSOR_MATCH became LAMBDA_GUARD, C++ to Python: on 2 values (v and w)",
        "2 A became B: on 1 value (u)",
    )
    assert sentences(new, old)[0] == "LAMBDA_GUARD became TENSOR_MATCH, Python to C++: on 2 values (v and w)"


def test_a_python_guard_after_all_others_that_makes_way_for_guards_on_values_is_told_as_both() -> None:
    old = census({ROOT: guarded("GLOBAL_STATE"), EPILOGUE: guarded("LAMBDA_GUARD"), "v": guarded("A")})
    new = census({ROOT: guarded("GLOBAL_STATE", "B"), "v": guarded("A", "OBJECT_ALIASING")})

    assert sentences(old, new) == (
        "1 LAMBDA_GUARD (Python) fewer: after all others",
        "1 B more: in the root",
        "1 OBJECT_ALIASING more: on 1 value (v)",
    )


def test_the_root_and_the_end_of_a_second_frame_are_no_values_either() -> None:
    old = census({f"{ROOT} #2": guarded("A"), f"{EPILOGUE} #2": guarded("LAMBDA_GUARD")})
    new = census({f"{ROOT} #2": guarded("A", "B")})

    assert sentences(old, new) == ("1 LAMBDA_GUARD (Python) fewer: after all others", "1 B more: in the root")


def test_values_that_are_guarded_newly_or_no_longer_are_named_but_not_those_that_are_only_passed() -> None:
    old = census({"v": guarded("A"), "way": guarded()})
    new = census({"w": guarded("A"), "path": guarded()})

    assert sentences(old, new)[2:] == ("1 value no longer guarded: v", "1 value newly guarded: w")


def test_an_answer_that_changed_is_told_with_the_number_of_managers() -> None:
    safe = {f"v{number}": guarded("A", answers=("is_tag_safe",)) for number in range(105)}
    unsafe = {name: guarded("A") for name in safe}
    asked = {"answers: is_tag_safe": 0}

    assert sentences(census(safe, asked), census(unsafe, asked)) == (
        "is_tag_safe lost: on 105 managers (v0, v1, v2 and 102 more)",
    )
    assert sentences(census(unsafe, asked), census(safe, asked)) == (
        "is_tag_safe now true: on 105 managers (v0, v1, v2 and 102 more)",
    )


def test_an_answer_to_a_question_that_one_torch_has_not_is_no_change_of_a_manager() -> None:
    old = census({"v": guarded("A")})
    new = census({"v": guarded("A", answers=("is_new",))}, {"answers: is_new": 1})

    assert sentences(old, new) == (
        "answers: is_new is 1 in candidate, unknown in baseline: its torch has no such question",
    )


def test_counts_that_are_no_matter_of_one_value_are_told_together() -> None:
    old = census({}, {"guards": 1000, "guards: A": 1000, "depth": 3})
    new = census({}, {"guards": 1002, "guards: A": 1002, "depth": 2})

    assert sentences(old, new) == ("counts: guards 1,000 to 1,002, depth 3 to 2",)
