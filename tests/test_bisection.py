"""Halving a range, with and without evidence."""

from __future__ import annotations

import pytest

from pcbench.analysis.bisection import Narrowed, narrow


@pytest.mark.parametrize("first", range(1, 12))
def test_the_first_changed_step_is_named_in_few_questions(first: int) -> None:
    asked: list[int] = []

    def differs(step: int) -> bool:
        asked.append(step)
        return step >= first

    found = narrow(12, differs)
    assert (found.unchanged, found.changed, found.named) == (first - 1, first, True)
    assert len(asked) <= 4


def test_two_steps_need_no_question() -> None:
    assert narrow(2, lambda step: pytest.fail("asked")).named


def test_a_step_that_tells_nothing_is_replaced_by_its_neighbour() -> None:
    found = narrow(9, lambda step: None if step == 4 else step >= 6)
    assert (found.unchanged, found.changed) == (5, 6)


def test_where_the_neighbours_tell_nothing_either_the_range_is_left() -> None:
    asked: list[int] = []

    def differs(step: int) -> bool | None:
        asked.append(step)
        return None if 2 < step < 8 else step >= 8

    found = narrow(11, differs)
    assert asked == [5, 6, 4]
    assert not found.named
    assert found == Narrowed(0, 10, found.stopped)
    assert "too little" in found.stopped
