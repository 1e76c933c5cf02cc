from dataclasses import replace

import pytest
from examples import comparison, crashed, ladder, row

from pcbench.analysis.comparison import Row
from pcbench.analysis.deployed import DeployedRow
from pcbench.analysis.recommendation import recommend
from pcbench.analysis.shape_calls import ShapeRow
from pcbench.conditions import LESSER_CPU, MOVED, READ_ONLY
from pcbench.samples import ShapeCall
from pcbench.status import Status

CALLS = [300e-6 + i * 1e-6 for i in range(20)]
EAGER = row("eager", [2.0, 2.1, 1.9])


def paired(name: str, starts: list[float], factor: float, temperature: str = "cold") -> Row:
    calls = [factor * call for call in CALLS]
    return row(name, starts, temperature=temperature, call_s=calls, eager_call_s=CALLS)


def test_few_calls_recommend_eager_and_many_the_strategy_with_the_fastest_call() -> None:
    few, many = recommend(ladder(), calls_per_start=10), recommend(ladder(), calls_per_start=1_000_000)

    assert (few.strategy, many.strategy) == ("eager", "aoti")
    assert (few.temperature, few.n) == ("cold", 3)


@pytest.mark.parametrize("calls", [1, 100, 2000, 3000, 50_000])
def test_the_recommended_way_has_the_least_total_time(calls: int) -> None:
    """Reference: start and calls of each, added up."""
    totals = {"eager": 2.0 + calls * 309.5e-6, "aoti": 2.4 + calls * 0.5 * 309.5e-6, "export": 4.1 + calls * 309.5e-6}

    assert recommend(ladder(), calls_per_start=calls).strategy == min(totals, key=lambda name: totals[name])


def test_the_sentence_says_the_totals_and_what_was_weighed_once_each() -> None:
    assert str(recommend(ladder(), calls_per_start=100_000)) == (
        "Recommended: aoti. With 100,000 calls per cold start (a fresh process with empty compiler caches) it needs "
        "17.9 s; eager, the next best, 33.0 s. "
        "Weighed: time alone, not memory, size, or whether the model's code must be present."
    )


def test_the_totals_are_in_the_json() -> None:
    written = recommend(ladder(), calls_per_start=10).to_json()

    assert written["totals_s"] == pytest.approx({"eager": 2.003095, "aoti": 2.4015475, "export": 4.103095})
    assert written["warning"] is None


def test_a_gain_within_the_spread_of_the_calls_is_none_as_in_the_table() -> None:
    noisy = [call * (0.5 if i % 2 else 1.49) for i, call in enumerate(CALLS)]
    found = recommend(comparison(EAGER, row("aoti", [2.4, 2.5], call_s=noisy, eager_call_s=CALLS)))

    assert found.totals_s["aoti"] == pytest.approx(2.45 + 1000 * 309.5e-6)


def test_eager_calls_that_vary_within_a_process_are_warned_of() -> None:
    quiet, noisy = recommend(ladder()), [50e-6] + [600e-6] * 19
    found = recommend(comparison(EAGER, row("aoti", [2.4, 2.5], call_s=CALLS, eager_call_s=noisy)))

    assert quiet.warning is None
    assert found.warning == (
        "eager's calls vary 12-fold within a process: other work shares the CPUs; try --threads 1 or a quiet machine."
    )
    assert str(found).endswith(found.warning)


def test_processes_that_differ_from_each_other_are_not_warned_of() -> None:
    eagers = [50e-6] * 10 + [600e-6] * 10
    aoti = replace(row("aoti", [2.4, 2.5], call_s=CALLS, eager_call_s=eagers), pairs_by_process=(10, 10))

    assert recommend(comparison(EAGER, aoti)).warning is None


def test_eager_is_recommended_with_the_number_of_calls_that_would_change_it() -> None:
    assert "aoti needs less from 2,585 calls" in recommend(ladder(), calls_per_start=10).reason


def test_a_difference_within_the_spread_is_called_a_toss_up() -> None:
    found = recommend(comparison(EAGER, paired("aoti", [2.05, 2.0, 1.92], 1.0)), calls_per_start=1)

    assert found.toss_up
    assert "a toss-up" in found.reason


def test_starts_of_one_round_are_compared_pair_by_pair() -> None:
    """The machine slowed down over the rounds: the ranges overlap, yet aoti was faster in every round."""
    found = recommend(
        comparison(row("eager", [2.0, 2.5, 3.0]), paired("aoti", [1.8, 2.3, 2.8], 1.0)), calls_per_start=1
    )

    assert (found.strategy, found.toss_up) == ("aoti", ())


def test_one_sample_never_decides_and_that_is_said() -> None:
    found = recommend(comparison(row("eager", [2.0]), paired("aoti", [1.0], 0.5)))

    assert found.n == 1
    assert found.strategy == "aoti"
    assert str(found).startswith(
        "No recommendation from n=1 (one sample decides nothing); so far aoti leads: with 1,000 calls per cold start "
        "(a fresh process with empty compiler caches) it needs 1.15 s; eager, the next best, 2.31 s."
    )


def test_a_warmer_temperature_with_samples_goes_before_a_cold_one_with_one_sample() -> None:
    found = recommend(
        comparison(
            row("eager", [2.0]),
            paired("aoti", [1.0], 0.5),
            row("eager", [1.5, 1.6], temperature="warm"),
            paired("aoti", [1.2, 1.3], 0.5, "warm"),
        )
    )

    assert (found.temperature, found.n) == ("warm", 2)


def test_rows_that_failed_are_not_weighed_though_they_have_samples() -> None:
    degraded = replace(paired("export", [1.0, 1.0], 0.1), status=Status.DEGRADED_TO_JIT)

    assert recommend(comparison(EAGER, degraded, paired("aoti", [2.0, 2.0], 0.5))).strategy == "aoti"
    assert recommend(comparison(EAGER, crashed("export"), paired("aoti", [2.0, 2.0], 0.5))).strategy == "aoti"


def test_a_strategy_without_timed_calls_is_named_as_not_weighed() -> None:
    found = recommend(comparison(EAGER, row("export", [1.0, 1.1]), paired("aoti", [2.4, 2.5], 0.5)))

    assert "not weighed for want of samples or later calls: export" in found.reason


def test_without_eager_the_strategies_are_still_weighed_and_that_is_said() -> None:
    found = recommend(comparison(crashed("eager"), paired("aoti", [2.4, 2.5], 0.5)))

    assert found.strategy == "aoti"
    assert "eager could not be weighed" in found.reason


@pytest.mark.parametrize(
    ("rows", "reason"),
    [
        ((EAGER,), "no strategy was measured"),
        (
            (crashed("eager"), crashed("aoti")),
            "no strategy loaded and gave eager's answer (aoti CRASHED), eager neither",
        ),
        ((EAGER, row("aoti", [2.0, 2.1])), "the later calls of no strategy were timed"),
    ],
)
def test_nothing_is_recommended_where_nothing_can_be_weighed(rows: tuple[Row, ...], reason: str) -> None:
    found = recommend(comparison(*rows))

    assert (found.strategy, found.reason) == (None, reason)
    assert str(found) == f"No recommendation: {reason}."


def test_eager_is_recommended_where_nothing_else_worked() -> None:
    assert str(recommend(comparison(EAGER, crashed("aoti")))) == (
        "Recommended: eager, since nothing else worked: no strategy loaded and gave eager's answer (aoti CRASHED)."
    )


def test_a_recommended_way_that_fails_deployed_or_at_another_shape_is_said_to() -> None:
    beyond = replace(
        ladder(),
        deployed=(
            DeployedRow("aoti", LESSER_CPU, Status.LOAD_FAILED, "refused"),
            DeployedRow("aoti", READ_ONLY, Status.UNAVAILABLE, "not root"),
            DeployedRow("export", MOVED, Status.LOAD_FAILED, "gone"),
        ),
        shapes=(ShapeRow("aoti", "batch 9", (ShapeCall("batch 9", Status.WRONG_RESULT, "differs"),)),),
    )

    assert str(recommend(beyond, calls_per_start=100_000)).endswith(
        " Mind that aoti failed with shape batch 9 and deployed (lesser CPU)."
    )
    assert "Mind" not in str(recommend(beyond, calls_per_start=10))
