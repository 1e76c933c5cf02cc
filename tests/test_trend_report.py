"""What the trend shows beside its lines: steps and accepted values."""

from __future__ import annotations

from dataclasses import replace

from examples import history, load_case, run
from figures import drawn, texts

from pcbench.analysis.baseline import Accepted, AcceptedCase, Baseline
from pcbench.analysis.policy import Policy
from pcbench.analysis.records import Case, Measurement
from pcbench.analysis.series import Place
from pcbench.analysis.shown import Shown, accepted_values
from pcbench.analysis.steps import Step
from pcbench.reports import trend

HERE = Place("toybox", "shared")
COUNT = Case("bench_capture.Counts.track_count", (("model", "mlp"),))


def test_a_step_is_found_at_the_commit_that_made_it() -> None:
    steps = Shown(history(60, step_at=40)).steps

    assert set(steps) == {(HERE, load_case("export", t)) for t in ("cold", "warm", "hot")}
    (step,) = steps[HERE, load_case("export", "warm")]
    assert (step.index, step.ratio) == (40, 2.0)


def test_steps_count_commits_that_lack_the_case() -> None:
    values = [3.0, 3.0, None, None, 4.0]
    runs = [run(i, {} if value is None else {COUNT: Measurement(value, "")}) for i, value in enumerate(values)]

    assert Shown(runs).steps[HERE, COUNT] == (Step(4, 3.0, 4.0, 4 / 3, 4 / 3),)


def test_steps_before_the_commits_that_are_searched_are_not_told() -> None:
    runs = [run(i, {COUNT: Measurement(3.0 if i < 5 else 4.0, "")}) for i in range(30)]
    few = Shown(runs, policy=Policy(report_nights=20))

    assert [step.index for step in Shown(runs).steps[HERE, COUNT]] == [5]
    assert few.steps == {}
    assert "Steps are sought among the newest 20 commits" in " ".join(
        drawn(trend.REPORT.draw(few)).get_supxlabel().split()
    )


def test_a_change_of_what_the_runs_ran_on_is_no_step() -> None:
    runs = history(60, step_at=40)
    newer = [replace(one, context=replace(one.context, torch="2.16.0")) for one in runs[40:] if one.context is not None]

    assert Shown(runs).steps
    assert Shown([*runs[:40], *newer]).steps == {}


def test_a_step_is_drawn_as_a_line_between_two_commits_with_its_size() -> None:
    figure = drawn(trend.REPORT.draw(Shown(history(60, step_at=40))))
    panel = next(axes for axes in figure.axes if "warm load" in axes.get_title("left"))

    assert [line.get_xdata()[0] for line in panel.lines if line.get_label() == "step"] == [39.5]
    assert "export 2.00 times" in texts(figure)


def test_an_accepted_value_is_a_level_in_the_panel_of_its_case() -> None:
    figure = drawn(trend.REPORT.draw(Shown(history(3), accepted={(HERE, load_case("aoti", "warm")): 2.5})))
    panel = next(axes for axes in figure.axes if "warm load" in axes.get_title("left"))

    assert [line.get_ydata()[0] for line in panel.lines if line.get_label() == "accepted"] == [2.5]
    assert "accepted value" in texts(figure)


def test_the_accepted_value_of_a_case_is_that_of_the_commit_that_was_accepted_for_it() -> None:
    runs = history(5, step_at=3)
    export, aoti = load_case("export", "warm"), load_case("aoti", "warm")
    later = AcceptedCase(runs[3].commit, "", "slower and wanted")
    baseline = Baseline({str(HERE): Accepted(runs[0].commit, "", "first", {str(export): later})})
    found = accepted_values(baseline, Shown(runs).places)

    assert found[HERE, export] == runs[3].measurements[export].value
    assert found[HERE, aoti] == runs[0].measurements[aoti].value


def test_panels_with_a_recent_step_come_before_those_that_stayed() -> None:
    figure = drawn(trend.REPORT.draw(Shown(history(60, step_at=50))))
    still = drawn(trend.REPORT.draw(Shown(history(60))))

    assert "export 2.00 times" in [text.get_text() for text in figure.axes[1].texts]
    assert not still.axes[1].texts
