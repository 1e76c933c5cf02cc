import json
from pathlib import Path

import numpy as np
import pytest
from results_folder import Folder, commit_of

from pcbench.commands import main

LOAD = "load.track_first(mlp)"
NOISE = np.exp(0.01 * np.random.default_rng(4).standard_t(4, 60))


def results(tmp_path: Path, *, at: int = 30, nights: int = 60, **late: int) -> Path:
    """Nights of a load that takes 1.2 times as long from night ``at`` on, and of a count that rises there."""
    folder = Folder(tmp_path / "results")
    folder.begin()
    for night in range(nights):
        seconds = 2.0 * float(NOISE[night]) * (1.2 if night >= at else 1.0)
        cases = {LOAD: [seconds * 1.1, seconds, seconds * 1.05], "capture.track_breaks": 3 + (night >= at)}
        folder.add(night, cases, **(late if night >= at else {}))
    return folder.root


def history(root: Path, *words: str) -> int:
    return main(["history", "--results", str(root), *words])


def test_a_step_is_told_with_its_date_its_commits_and_its_size(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert history(results(tmp_path), LOAD) == 0
    said = capsys.readouterr().out

    assert said.startswith("1 step in 1 case over 60 nights")
    line = next(line for line in said.splitlines() if line.startswith("2026"))
    assert f"{commit_of(29)[:8]}..{commit_of(30)[:8]}  {LOAD}" in line
    assert "worse  1.2" in line
    assert "  1.99 s  2.40 s  " in line
    assert "▁" in said
    assert "rule: kernel penalty 4 (6 if nights correlate by more than 0.3), 4 nights on either side" in said


def test_json_has_what_the_text_has(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert history(results(tmp_path), "--json", "-") == 0
    told = json.loads(capsys.readouterr().out)

    assert {step["case"]: step["way"] for step in told["steps"]} == {LOAD: "worse", "capture.track_breaks": "worse"}
    load = next(step for step in told["steps"] if step["case"] == LOAD)
    assert load["low"] < load["ratio"] < load["high"]
    assert load["last_before"]["commit"] == commit_of(29)
    assert load["first_after"]["commit"] == commit_of(30)
    assert (told["series"], told["nights"], told["policy"]["step_penalty"]) == (2, 120, 4.0)


def test_without_a_step_it_says_so_and_over_how_many_nights(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert history(results(tmp_path, at=99)) == 0
    assert capsys.readouterr().out.startswith("no step in 2 cases over 60 nights")


def test_an_alert_is_about_the_newest_nights(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert history(results(tmp_path / "new", at=55), "--alert") == 0
    new = capsys.readouterr().out
    assert history(results(tmp_path / "old", at=30), "--alert") == 0
    old = capsys.readouterr().out

    assert new.startswith("2 new steps in 2 cases over 60 nights")
    assert f"{commit_of(54)[:8]}..{commit_of(55)[:8]}" in new
    assert old.startswith("nothing new in 2 cases over 60 nights")


def test_a_change_of_what_it_ran_on_is_a_cut_and_no_step(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert history(results(tmp_path, at=30, threads=4)) == 0
    said = capsys.readouterr().out

    assert said.startswith("no step in 2 cases over 60 nights")
    assert f"cut at {commit_of(30)[:8]}" in said
    assert "another number of threads" in said


def test_a_case_that_there_is_not_is_an_error_with_the_nearest(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert history(results(tmp_path, nights=2), "load.track_frist") == 2
    assert "no case is 'load.track_frist'" in (said := capsys.readouterr().err)
    assert "near: load.track_first; load.track_first(mlp)" in said


@pytest.mark.parametrize("words", [("--env", "nowhere"), ("--machine", "nowhere")])
def test_a_place_that_there_is_not_is_an_error_with_those_there_are(
    tmp_path: Path, words: tuple[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert history(results(tmp_path, nights=2), *words) == 2
    assert "there are: shared-py3.11-torch2.15.0 on lab" in capsys.readouterr().err


def test_a_folder_that_is_not_there_is_an_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert history(tmp_path / "none") == 2
    assert "there is no results folder" in capsys.readouterr().err


def test_a_broken_file_is_named_and_the_rest_is_read(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    root = results(tmp_path)
    (root / "lab" / "deadbeef-shared.json").write_text('{"half')

    assert history(root) == 0
    said = capsys.readouterr().out.splitlines()
    assert "deadbeef-shared.json: is not JSON" in said[0]
    assert said[1].startswith("2 steps")


def test_series_that_are_too_short_to_show_a_step_are_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    root = results(tmp_path, nights=6)

    assert history(root) == 0
    assert "1 of 2 series are too short to tell: they need 8 nights" in capsys.readouterr().out
    assert history(root, "--alert") == 0
    assert "1 of 2 series are too short to tell: they need 25 nights" in capsys.readouterr().out
