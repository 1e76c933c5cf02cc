"""Two processes of a pair that take blocks in turn, for real."""

from __future__ import annotations

import os
from ast import literal_eval
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import paired_sides
import pytest
from paired_sides import ready
from worker_suite import SUITE

from pcbench.analysis import pairs
from pcbench.commands._pair_processes import Answers, Ends, Listed, listed, measured
from pcbench.sides import Ready


@pytest.fixture(scope="module")
def side(tmp_path_factory: pytest.TempPathFactory, small_python: Path) -> Ready:
    folder = tmp_path_factory.mktemp("worker")
    return ready(paired_sides.repository(folder, small_python, SUITE), small_python, folder / "side")


@pytest.fixture(scope="module")
def cases(side: Ready) -> dict[str, Listed]:
    return {str(case.case).removeprefix("bench_toy."): case for case in listed(side)}


def in_turn(side: Ready, cases: dict[str, Listed], one: list[str], other: list[str]) -> tuple[Answers, Answers]:
    """What two processes of a pair say of cases: each is told of its own."""
    (heard, answer), (question, said) = os.pipe(), os.pipe()
    ends = Ends(heard, said, True, 0), Ends(question, answer, False, 0)
    sides = side, replace(side, folder=side.folder.with_name("other"))
    sides[1].folder.mkdir(exist_ok=True)
    with ThreadPoolExecutor(2) as pool:
        asked = zip(sides, (one, other), ends, strict=True)
        found = [pool.submit(measured, ready, [cases[n] for n in names], {}, 1, end) for ready, names, end in asked]
        answers = [each.result() for each in found]
    return answers[0], answers[1]


def blocks_of(answers: Answers, name: str) -> int:
    told = answers.told[f"bench_toy.{name}"]
    assert told.failed is None
    return len(told.blocks)


def test_two_processes_take_blocks_in_turn_by_one_plan(side: Ready, cases: dict[str, Listed]) -> None:
    one, other = in_turn(side, cases, ["time_lazy", "track_samples"], ["time_lazy", "track_samples"])

    assert one.told["bench_toy.time_lazy"].plan == other.told["bench_toy.time_lazy"].plan
    assert blocks_of(one, "time_lazy") == blocks_of(other, "time_lazy") == 60
    assert len(one.control) == len(other.control) > 0
    assert one.told["bench_toy.track_samples"].value == 2.0


@pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="there is one CPU")
def test_both_are_on_one_cpu_unless_other_threads_work_for_the_case(side: Ready, cases: dict[str, Listed]) -> None:
    names = ["Alone.time_it", "Threads.time_it"]
    in_turn(side, cases, names, names)

    for folder in (side.folder, side.folder.with_name("other")):
        (place,) = folder.glob("in-*/alone")
        assert literal_eval(place.read_text()) == {0}
        assert len(literal_eval(place.with_name("threads").read_text())) > 1


@pytest.mark.parametrize("lacking", [["time_lazy"], ["track_killed", "time_lazy"], ["track_raises", "time_lazy"]])
def test_a_process_whose_other_is_not_at_its_case_measures_alone(
    side: Ready, cases: dict[str, Listed], lacking: list[str]
) -> None:
    one, other = in_turn(side, cases, ["Time.time_set_up_anew", "time_lazy"], lacking)

    assert blocks_of(one, "time_lazy") > 0
    assert blocks_of(one, "Time.time_set_up_anew") > 0
    assert blocks_of(other, "time_lazy") > 0


def test_the_number_of_a_pair_is_the_median_ratio_of_neighbouring_blocks() -> None:
    # Both are slowed to a half from some block on, and one block of one side is far off.
    one = [1e-4] * 5 + [2e-4] * 5
    other = [1.04 * block for block in one]
    other[3] *= 30.0

    baseline, candidate = pairs.pair_of((min(one), min(other)), one, other)

    assert (baseline, candidate) == (1e-4, pytest.approx(1.04e-4))


def test_which_of_two_neighbours_came_first_is_not_in_the_number_of_a_pair() -> None:
    # Whichever is first in a turn is slower by a third: A, B B, A A, B B, A.
    later = [1.0, 1.3, 1.0, 1.3, 1.0, 1.3]
    one = [1e-4 * slow for slow in later]
    other = [1.02e-4 * slow for slow in [1.3, 1.0, 1.3, 1.0, 1.3, 1.0]]

    baseline, candidate = pairs.pair_of((1e-4, 1.02e-4), one, other)

    assert candidate / baseline == pytest.approx(1.02)


def test_a_pair_without_blocks_is_the_two_numbers() -> None:
    assert pairs.pair_of((1.0, 2.0), [], []) == (1.0, 2.0)
    assert pairs.pair_of((1.0, 2.0), [1.0], [2.0, 3.0]) == (1.0, 2.0)
