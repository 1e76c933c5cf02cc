"""One process of a pair, for real, on a small suite of every kind of case."""

from __future__ import annotations

import shutil
import subprocess
import time
from pathlib import Path

import paired_sides
import pytest
from paired_sides import ready
from worker_suite import SUITE

from pcbench.commands._pair_processes import Answers, Listed, Told, listed, measured
from pcbench.pair_worker import blocks
from pcbench.sides import Ready


@pytest.fixture(scope="module")
def side(tmp_path_factory: pytest.TempPathFactory, small_python: Path) -> Ready:
    folder = tmp_path_factory.mktemp("worker")
    return ready(paired_sides.repository(folder, small_python, SUITE), small_python, folder / "side")


@pytest.fixture(scope="module")
def cases(side: Ready) -> dict[str, Listed]:
    return {str(case.case).removeprefix("bench_toy."): case for case in listed(side)}


@pytest.fixture(scope="module")
def answers(side: Ready, cases: dict[str, Listed]) -> Answers:
    """What one call says of all cases: it needs another process after the one that is killed."""
    return measured(side, list(cases.values()), {}, 7)


@pytest.fixture(scope="module")
def told(answers: Answers) -> dict[str, Told]:
    return {name.removeprefix("bench_toy."): each for name, each in answers.told.items()}


def test_the_suite_is_listed_with_units_limits_and_a_case_for_each_parameter(cases: dict[str, Listed]) -> None:
    assert cases["time_lazy"].unit == "seconds"
    assert cases["track_late"].timeout_s == 0.5
    assert cases["time_lazy"].timeout_s == 60.0
    assert [cases[f"Skipped.track_n({n})"].index for n in (1, 2)] == [0, 1]


def test_a_timed_case_is_laid_out_in_blocks_of_a_millisecond_whatever_its_first_call_took(
    told: dict[str, Told],
) -> None:
    plan, value = told["time_lazy"].plan, told["time_lazy"].value

    assert plan is not None
    assert value is not None
    assert plan["blocks"] == 63
    assert plan["discard"] == 3
    assert plan["number"] > 10
    assert value < 0.01


def test_a_plan_that_is_given_is_kept_to(side: Ready, cases: dict[str, Listed]) -> None:
    plan = {"number": 7, "blocks": 4, "discard": 1}

    found = measured(side, [cases["time_lazy"]], {"bench_toy.time_lazy": plan}, 1).told["bench_toy.time_lazy"]

    assert found.plan == plan


def test_a_slow_case_has_fewer_blocks() -> None:
    class Slow:
        number = 0

        def do_run(self) -> dict[str, list[float]]:
            time.sleep(0.8)
            return {"samples": [0.8]}

    plan = blocks.planned(Slow())

    assert plan["number"] == 1
    assert plan["blocks"] < 12
    assert plan["discard"] == 1


def test_a_block_that_is_disturbed_while_a_case_is_planned_does_not_shorten_its_blocks() -> None:
    class Disturbed:
        number = 0
        calls = 0

        def do_run(self) -> dict[str, list[float]]:
            self.calls += 1
            return {"samples": [1e-2 if self.calls == 1 else 1e-6]}

    assert blocks.planned(Disturbed())["number"] >= 1000


def test_a_setup_is_run_anew_before_each_call(told: dict[str, Told]) -> None:
    assert told["Time.time_set_up_anew"].failed is None


def test_a_tracked_case_gives_its_number_or_the_least_of_its_samples_under_the_seed_of_the_pair(
    told: dict[str, Told],
) -> None:
    assert told["track_samples"].value == 2.0
    assert told["track_seed"].value == 7.0


@pytest.mark.skipif(
    shutil.which("setarch") is None or subprocess.call(["setarch", "-R", "true"]) != 0,
    reason="addresses cannot be fixed here",
)
def test_code_lies_at_the_same_addresses_in_every_process_and_objects_elsewhere_with_each_seed(
    side: Ready, cases: dict[str, Listed]
) -> None:
    asked = [cases["track_stack"], cases["track_object"]]
    stacks, objects = zip(
        *([each.value for each in measured(side, asked, {}, seed).told.values()] for seed in (8, 8, 9)), strict=True
    )

    assert len(set(stacks)) == 1
    assert objects[0] == objects[1] != objects[2]


def test_a_case_that_does_not_apply_says_why(told: dict[str, Told]) -> None:
    assert told["track_nan"].skipped == "this commit lacks it"
    assert told["track_nan_sample"].skipped == "its value is NaN"
    assert told["Skipped.track_n(2)"].skipped == "NotImplementedError('not for 2')"
    assert told["Skipped.track_n(1)"].value == 1.0


def test_a_case_that_fails_hangs_or_kills_its_process_says_how_and_the_others_go_on(told: dict[str, Told]) -> None:
    assert told["track_raises"].failed == "ValueError: wrong"
    assert told["track_exits"].failed == "it exits with 1"
    assert told["track_late"].failed == "still at it after 0.5 s"
    assert "killed by SIGKILL" in str(told["track_killed"].failed)
    assert "its value is inf" in str(told["track_infinite"].failed)
    assert "no number: 'three'" in str(told["track_text"].failed)


def test_a_cache_is_set_up_once_a_side_and_one_that_fails_takes_its_own_cases_alone(
    side: Ready, cases: dict[str, Listed], told: dict[str, Told]
) -> None:
    again = measured(side, [cases["Cached.track_cached"]], {}, 2).told["bench_toy.Cached.track_cached"]

    assert told["Cached.track_cached"].value == 6.0
    assert again.value == 6.0
    assert "its setup_cache" in str(told["NotCached.track_it"].failed)
    assert "no room" in str(told["NotCached.track_it"].failed)


def test_every_process_times_the_control(answers: Answers) -> None:
    assert 0 < min(answers.control) < 1
