import json
from pathlib import Path

import numpy as np
import pytest
from figures import drawn, texts
from matplotlib.image import imread

from pcbench.analysis.policy import Policy
from pcbench.analysis.selftest_history import excesses, measure
from pcbench.analysis.selftest_rules import ALERT, own_rules, rustc_perf, z_score
from pcbench.analysis.selftest_series import Planted, planted
from pcbench.commands import main
from pcbench.commands._asv_rules import asv_rules
from pcbench.reports import _selftest

FEW = ["--series", "2", "--steps", "2"]


def test_two_runs_of_one_seed_print_the_same_and_another_seed_does_not(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("pcbench.analysis.selftest_history.SIZES", (0.0,))
    monkeypatch.setattr("pcbench.analysis.selftest_history.SCENARIOS", {"base": ""})
    monkeypatch.setattr("pcbench.commands._selftest_history.asv_rules", lambda _values: {})
    said = []
    for seed in ("1", "1", "2"):
        assert main(["selftest", "history", "--series", "1", "--seed", seed, "--json"]) == 0
        said.append(capsys.readouterr().out)

    assert said[0] == said[1] != said[2]
    assert {one["rule"] for one in json.loads(said[0])["rules"]} > {ALERT}


def test_a_table_and_a_figure_come_of_a_file_of_real_timings(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pcbench.analysis.selftest_history.SIZES", (0.0, 0.05))
    monkeypatch.setattr("pcbench.analysis.selftest_history.SCENARIOS", {"real": ""})
    rows, picture = tmp_path / "rows.npy", tmp_path / "selftest.png"
    np.save(rows, np.exp(0.01 * np.random.default_rng(0).standard_t(4, (3, 100))))

    words = ["selftest", "history", "--series", "1", "--steps", "1", "--real", str(rows), "--figure", str(picture)]
    assert main([*words, "--markdown"]) == 0
    said = capsys.readouterr().out

    assert said.count("| rule | false alarms | step of 0% | step of 5% |") == 1
    assert "| asv: regressions of 5 % |" in said
    assert "real: nights per 1,000 at or above a multiple of the median of all nights before: 1.3 times: 0.00" in said
    assert imread(picture).shape[1] == 1500


@pytest.mark.parametrize(
    "content", [b"no array", np.ones((2, 99)), -np.ones((2, 100)), np.ones(100), np.array([["a"] * 100])], ids=str
)
def test_a_file_that_holds_no_timings_is_an_error(
    tmp_path: Path, content: object, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "rows.npy"
    if isinstance(content, bytes):
        path.write_bytes(content)
    else:
        np.save(path, np.asarray(content))

    assert main(["selftest", "history", *FEW, "--real", str(path)]) == 2
    assert "rows.npy" in capsys.readouterr().err


def test_rows_that_a_file_does_not_have_are_an_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    np.save(tmp_path / "real.npy", np.ones((3, 100)))

    assert main(["selftest", "history", "--real", str(tmp_path / "real.npy"), "--rows", "3:6"]) == 2
    assert "has 3 rows, none of which is from 3 to 6" in capsys.readouterr().err


def test_a_part_that_there_is_not_is_an_error(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["selftest", "nothing"])

    assert ended.value.code == 2
    assert "history" in capsys.readouterr().err


def clear(size: float) -> Planted:
    """Nearly no noise, and a step in the night 50."""
    values = np.exp(0.001 * np.random.default_rng(5).normal(size=(1, 100)))
    values[:, 50:] *= 1 + size
    return Planted(values, (50,), size)


def test_a_step_out_of_little_noise_is_caught_by_every_rule_after_as_many_nights_as_it_needs(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("pcbench.analysis.selftest_history.planted", lambda _, size, *__: clear(size))
    monkeypatch.setattr("pcbench.analysis.selftest_history.SCENARIOS", {"base": ""})
    monkeypatch.setattr("pcbench.analysis.selftest_history.SIZES", (0.0, 0.10))
    judges = [own_rules(Policy()), asv_rules, z_score, rustc_perf]

    *_, (_, _, results) = measure(judges, series=1, stepped=1, seed=0)

    told = {one.rule: (one.of(0.10).soon.value, one.of(0.10).delay) for one in results}
    assert told == {
        "pcbench: what it alerts on": (1.0, 4),
        "pcbench: tonight's run": (1.0, 4),
        "pcbench: located steps": (1.0, 4),
        "asv: any step upward": (1.0, 0),
        "asv: regressions of 5 %": (1.0, 0),
        "z-score of 20 nights, z > 3": (1.0, 0),
        "z-score of 20 nights, z > 5": (1.0, 0),
        "rustc-perf: Q3 + 3 IQR of 30 nights": (1.0, 0),
    }
    assert all(one.of(0.0).delay is None for one in results if one.rule.startswith("pcbench"))


def test_an_alarm_that_is_raised_again_counts_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pcbench.analysis.selftest_history.SCENARIOS", {"base": ""})
    monkeypatch.setattr("pcbench.analysis.selftest_history.SIZES", (0.0,))

    def judge(values: np.ndarray) -> dict[str, list[int]]:
        return {"always the same": [30], "far apart": [30] if len(values) < 60 else [50]}

    *_, (_, _, results) = measure([judge], series=2, stepped=1, seed=0)

    assert [(one.rule, one.false_alarms.value) for one in results] == [
        ("always the same", pytest.approx(1000 / 79)),
        ("far apart", pytest.approx(2000 / 79)),
    ]


def test_what_is_planted_is_in_the_series_from_its_night_on() -> None:
    without, stepped = (planted("real", size, 2, 9, np.ones((4, 100))) for size in (0.0, 0.10))

    assert np.all(without.values == 1)
    assert all(40 <= at < 70 for at in stepped.at)
    for row, at in zip(stepped.values, stepped.at, strict=True):
        assert np.allclose(row, np.where(np.arange(100) < at, 1.0, 1.1))


def test_noise_has_the_deviation_and_the_correlation_that_it_says() -> None:
    base, ar = (np.log(planted(name, 0.0, 300, 1).values) for name in ("base", "ar"))

    for values, correlation in ((base, 0.0), (ar, 0.5)):
        clipped = np.clip(values, -0.06, 0.06)
        assert clipped.std() == pytest.approx(0.02, rel=0.1)
        assert np.corrcoef(clipped[:, 1:].ravel(), clipped[:, :-1].ravel())[0, 1] == pytest.approx(correlation, abs=0.1)


def test_single_nights_far_above_those_before_are_counted() -> None:
    values = np.ones((2, 100))
    values[0, 50] = 1.6

    told = {one.ratio: one.nights.value for one in excesses("real", Planted(values, (40, 40), 0.0))}

    assert told == {1.3: pytest.approx(1000 / 158), 1.5: pytest.approx(1000 / 158), 2.0: 0}


def test_the_figure_names_every_rule_and_its_title_says_what_the_alert_catches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pcbench.analysis.selftest_history.SIZES", (0.0, 0.05))
    measured = measure([own_rules(Policy()), z_score], series=1, stepped=1, seed=0)
    results = [one for _, _, of_it in measured for one in of_it if one.scenario == "base"]

    said = texts(drawn(_selftest.draw(results, 0)))

    assert {one.rule for one in results} < set(said)
    assert any(text.startswith("Steps of 5% that pcbench's alert catches within 5 nights: ") for text in said)
