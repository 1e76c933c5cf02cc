"""The findings that the titles of load and trend state."""

from collections.abc import Sequence

from examples import history, load_case, run, timing
from figures import drawn

from pcbench.analysis.policy import Policy
from pcbench.analysis.records import Absence, Case, Measurement, Run
from pcbench.analysis.shown import Shown
from pcbench.reports import load, trend


def load_title(measurements: dict[Case, Measurement]) -> str:
    return " ".join(drawn(load.REPORT.draw(Shown([run(0, measurements)]))).get_suptitle().split())


def test_the_title_of_the_load_ladder_passes_over_a_temperature_with_single_samples() -> None:
    assert " ".join(drawn(load.REPORT.draw(Shown(history(1)))).get_suptitle().split()) == (
        "mlp, warm: aoti loads fastest of the saved strategies, 1.82 s to the first output, slower than eager (1.40 s)"
    )


def test_the_title_of_the_load_ladder_does_not_rank_single_samples() -> None:
    times = {"eager": 2.0, "aoti": 1.0, "export": 3.0}

    assert load_title({load_case(name, "cold"): timing([time]) for name, time in times.items()}) == (
        "mlp, cold: n=1, not judged; 2 saved strategies 1 s to 3 s, eager 2 s"
    )


def test_the_title_of_the_load_ladder_counts_models_and_calls_overlapping_ranges_alike() -> None:
    times = {"eager": [2.0, 2.1], "aoti": [1.0, 1.2], "export": [1.1, 1.3], "aot_compile": [5.0, 5.1]}
    found = {load_case(name, "cold", model): timing(t) for name, t in times.items() for model in ("mlp", "encoder")}

    assert load_title(found) == (
        "aoti and export start alike, fastest of the saved strategies, cold, for 2 of 2 models"
    )


def trend_title(runs: Sequence[Run], policy: Policy | None = None) -> str:
    return " ".join(drawn(trend.REPORT.draw(Shown(runs, policy=policy or Policy()))).get_suptitle().split())


def test_the_title_of_a_trend_names_the_largest_change_at_the_newest_commit_beside_eagers() -> None:
    assert trend_title(history(5, step_at=4)) == (
        "Largest change at the newest commit: time to the first output, mlp, export, cold load 2.00 times "
        "(n=1, eager: 1.00 times); not a verdict"
    )


def test_the_title_of_a_trend_says_nothing_of_a_case_that_the_newest_commit_lacks_but_that_it_was_lost() -> None:
    export, aoti = load_case("export", "warm"), load_case("aoti", "warm")
    runs = [
        run(0, {export: timing([1.5]), aoti: timing([1.0])}),
        run(1, {export: timing([9.5]), aoti: timing([1.0])}),
        run(2, {aoti: timing([1.1])}, {export: Absence("failed")}),
    ]

    assert trend_title(runs) == (
        "Largest change at the newest commit: time to the first output, mlp, aoti, warm load 1.10 times (n=1); "
        "not a verdict; 1 case lost (failed or n/a now, measured before)"
    )


def test_the_title_of_a_trend_says_that_eager_moved_as_much_and_never_that_eager_moved_most() -> None:
    eager, aoti = load_case("eager", "warm"), load_case("aoti", "warm")
    runs = [
        run(0, {eager: timing([1.0]), aoti: timing([1.0])}),
        run(1, {eager: timing([1.40]), aoti: timing([1.32])}),
    ]

    assert "mlp, aoti, warm load 1.32 times (n=1); eager moved as much (1.40 times): the machine changed;" in (
        trend_title(runs)
    )
    for policy in (Policy(eager_moved=0.5), Policy(eager_share=1.5)):
        assert "aoti, warm load 1.32 times (n=1, eager: 1.40 times); not a verdict" in trend_title(runs, policy)


def test_the_title_of_a_trend_says_that_nothing_changed() -> None:
    assert trend_title(history(3)) == "No case changed by as much as 1 % at the newest commit; not a verdict"


def test_the_title_of_a_trend_says_when_nothing_can_be_compared() -> None:
    runs = [run(0, {load_case("aoti", "warm"): timing([1.0])}), run(1, {load_case("export", "warm"): timing([1.0])})]

    assert trend_title(runs) == "No case was measured at both the newest commit and the one before"


def test_a_strategy_that_was_compared_with_none_is_not_called_the_fastest() -> None:
    found = {load_case("eager", "cold"): timing([2.0, 2.1]), load_case("aoti", "cold"): timing([1.0, 1.1])}

    assert load_title(found) == (
        "mlp, cold: aoti is the only saved strategy with a number, 1.10 s to the first output, "
        "faster than eager (2.10 s)"
    )


def test_a_load_ladder_of_many_models_draws_some_and_says_how_many() -> None:
    found = {load_case(name, "cold", f"m{i:02}"): timing([1.0, 1.1]) for name in ("eager", "aoti") for i in range(40)}
    figure = drawn(load.REPORT.draw(Shown([run(0, found)])))

    assert len(figure.axes) == 13
    assert "12 of 40 panels are drawn; the table has all" in " ".join(figure.get_supxlabel().split())
    assert "for 40 of 40 models" in " ".join(figure.get_suptitle().split())


def test_the_title_of_a_trend_counts_the_steps_of_the_newest_commits() -> None:
    assert trend_title(history(60, step_at=50)) == (
        "No case changed by as much as 1 % at the newest commit; not a verdict; 3 steps among the newest 30 commits"
    )
