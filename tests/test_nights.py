import math
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np

from pcbench.analysis.nights import all_nights, stretches_of
from pcbench.analysis.records import Case, Context, Machine, Measurement, Run

LOAD, CALL = Case("load.track_first", (("model", "mlp"),)), Case("call.time_call")


def run(night: int, *, told: bool = True, env: str = "shared", **facts: Any) -> Run:
    measured = {LOAD: Measurement(2.0, "seconds", (2.2, 1.9, 2.0), n=3, worse="up", kind="time")}
    if night % 2 == 0:
        measured[CALL] = Measurement(float(night), "seconds", worse="up", kind="time")
    context = Context(f"{night:040x}", env, **{"torch": "2.15.0", "threads": 2, **facts}) if told else None
    date = datetime(2026, 1, 1, tzinfo=UTC) + timedelta(days=night)
    return Run(f"{night:040x}", date, env, Machine("lab", cpu="a processor"), context, measured)


def test_a_series_has_the_least_sample_of_each_night_and_nan_where_there_is_none() -> None:
    load, call = all_nights([run(night) for night in range(4)])

    assert (load.case, load.unit, load.kind, load.worse) == (LOAD, "seconds", "time", "up")
    assert load.values.tolist() == [1.9] * 4
    np.testing.assert_equal(call.values, [0.0, math.nan, 2.0, math.nan])
    assert (load.measured, call.measured) == (4, 2)


def test_nights_are_by_date_whatever_the_order_of_the_runs() -> None:
    (stretch,) = stretches_of(all_nights([run(night) for night in (2, 0, 1)]))

    assert [night.commit for night in stretch.nights] == [f"{night:040x}" for night in range(3)]
    assert stretch.why is None


def test_a_series_is_cut_where_what_it_ran_on_changed_and_says_what() -> None:
    runs = [run(0), run(1), run(2, threads=4), run(3, threads=4), run(4, threads=4, driver="600.1")]

    before, between, after = stretches_of(all_nights(runs))

    assert [len(one.nights) for one in (before, between, after)] == [2, 2, 1]
    assert before.why is None
    assert between.why == "another number of threads: 2 in the baseline, 4 now"
    assert "another driver" in str(after.why)


def test_places_are_never_one_series() -> None:
    first, second = stretches_of(all_nights([run(0), run(1, env="other"), run(2)]))

    assert (len(first.nights), len(second.nights)) == (2, 1)


def test_a_run_that_does_not_say_what_it_ran_on_is_left_out_where_others_do() -> None:
    (stretch,) = stretches_of(all_nights([run(0), run(1, told=False), run(2)]))

    assert [night.commit[-1] for night in stretch.nights] == ["0", "2"]
    assert stretch.unknown == 1


def test_runs_of_which_none_says_what_it_ran_on_are_one_series() -> None:
    (stretch,) = stretches_of(all_nights([run(night, told=False) for night in range(3)]))

    assert (len(stretch.nights), stretch.unknown) == (3, 0)
