import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from many_results import write_results
from matplotlib.image import imread

from pcbench.analysis.asv_results import read_results
from pcbench.analysis.records import Run
from pcbench.commands import main, report

DATA = Path(__file__).parent / "data" / "asv_results"


@pytest.fixture
def results(tmp_path: Path) -> Path:
    shutil.copytree(DATA, tmp_path / "results")
    return tmp_path / "results"


def accepted(results: Path, folder: str) -> tuple[Run, ...]:
    """The runs, of which the oldest is the baseline; the folder of their machine is renamed, as an artifact may be."""
    runs = read_results(results).runs
    if folder != "toybox":
        (results / "toybox").rename(results / folder)
    told = {"commit": runs[0].commit, "date": "2026-11-30", "reason": "first", "cases": {}}
    places = {f"{runs[-1].environment} on {folder}": told}
    (results / "BASELINE").write_text(json.dumps({"schema": 1, "places": places}))
    return runs


def draw(results: Path, out: Path, *names: str) -> int:
    return main(["report", *names, "--results", str(results), "--out", str(out)])


def test_all_reports_and_a_page_with_them_are_written(
    results: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "new" / "folder"

    assert draw(results, out) == 0
    assert sorted(path.name for path in out.iterdir()) == ["index.html", "load.png", "overview.png", "trend.png"]
    assert imread(out / "trend.png").shape[1] == 1500
    assert capsys.readouterr().out.splitlines()[-1] == f"report: {out / 'index.html'}"


def test_a_named_report_alone_is_written(results: Path, tmp_path: Path) -> None:
    index = report.draw_reports(results, tmp_path / "out", ["load"])

    assert index == tmp_path / "out" / "index.html"
    assert sorted(path.name for path in index.parent.iterdir()) == ["index.html", "load.png"]


def test_what_changed_is_said_where_its_figure_is_drawn(
    results: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    draw(results, tmp_path / "out", "overview")
    said = capsys.readouterr().out

    assert (tmp_path / "out" / "overview.png").is_file()
    assert re.search(r"^overview: .*; first: ", said, re.MULTILINE)


def test_a_figure_that_is_not_drawn_any_more_is_removed_and_one_that_was_not_asked_for_stays(
    results: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    draw(results, out, "load")
    (out / "guards.png").write_text("of an earlier report")
    draw(results, out, "guards")

    assert sorted(path.name for path in out.iterdir()) == ["index.html", "load.png"]


def test_an_unknown_report_is_an_error_with_the_nearest_name(
    results: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert draw(results, tmp_path / "out", "tred") == 2
    assert "there is no report 'tred'" in (said := capsys.readouterr().err)
    assert "did you mean 'trend'? valid names: capture, contract, guards, kernels, load, overview, releases" in said
    assert not (tmp_path / "out").exists()


def test_a_broken_file_is_named_and_the_rest_is_drawn(
    results: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (results / "toybox" / "deadbeef-shared.json").write_text('{"half')

    assert draw(results, tmp_path / "out", "load") == 0
    assert "deadbeef-shared.json: is not JSON" in capsys.readouterr().out
    assert "toybox/deadbeef-shared.json" in (tmp_path / "out" / "index.html").read_text()


@pytest.mark.parametrize("folder", ["toybox", "toybox-of-friday"])
def test_the_page_shows_the_verdicts_on_the_newest_commit_where_a_baseline_was_accepted_in_a_copied_folder_too(
    results: Path, tmp_path: Path, folder: str
) -> None:
    runs = accepted(results, folder)
    draw(results, tmp_path / "out", "overview")
    page = (tmp_path / "out" / "index.html").read_text()

    assert 'data-name="verdict"' in page
    assert f"accepted {runs[0].commit[:8]}" in page
    assert "Without an accepted baseline" not in page


def test_a_baseline_whose_result_is_gone_is_said_where_its_verdicts_would_be(results: Path, tmp_path: Path) -> None:
    runs = accepted(results, "toybox")
    for path in (results / "toybox").glob(f"{runs[0].commit[:8]}-*"):
        path.unlink()
    draw(results, tmp_path / "out", "overview")
    page = (tmp_path / "out" / "index.html").read_text()

    assert f"has no verdict: BASELINE names {runs[0].commit[:8]}" in page
    assert "Without an accepted baseline" not in page


def test_a_baseline_that_cannot_be_read_is_named_and_the_rest_is_drawn(
    results: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (results / "BASELINE").write_text("{")

    assert draw(results, tmp_path / "out", "overview") == 0
    assert "BASELINE: is not JSON" in capsys.readouterr().out
    page = (tmp_path / "out" / "index.html").read_text()
    assert "has no verdict" in page
    assert "Without an accepted baseline" not in page


def test_releases_are_compared_with_the_torch_that_was_named(
    results: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert draw(results, tmp_path / "out", "releases", "--against", "1.0") == 2
    assert "no result is of torch 1.0" in capsys.readouterr().err


def test_a_folder_in_which_every_file_is_broken_is_an_error(
    results: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for path in (results / "toybox").glob("*-*.json"):
        path.write_text("")

    assert draw(results, tmp_path / "out") == 2
    assert "can be read" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["missing", "empty"])
def test_a_missing_and_an_empty_results_folder_are_errors(
    tmp_path: Path, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "empty").mkdir()

    assert draw(tmp_path / name, tmp_path / "out") == 2
    assert "results folder" in capsys.readouterr().err


def test_an_output_that_cannot_be_written_is_an_error_that_names_it(
    results: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").write_text("in the way")

    assert draw(results, tmp_path / "file", "load") == 2
    assert f"cannot write {tmp_path / 'file'}" in (said := capsys.readouterr().err)
    assert "--out" in said


def test_a_write_that_fails_leaves_the_earlier_files_whole(
    results: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    draw(results, tmp_path / "out", "load")
    before = {path.name: path.read_bytes() for path in (tmp_path / "out").iterdir()}

    def full(self: Path, data: bytes) -> int:
        with self.open("wb") as file:
            file.write(data[:10])
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", full)

    assert draw(results, tmp_path / "out", "load") == 2
    assert {path.name: path.read_bytes() for path in (tmp_path / "out").iterdir()} == before


def test_reports_need_no_torch(results: Path, tmp_path: Path) -> None:
    """A machine that only judges has no torch."""
    script = (
        "import sys; sys.modules['torch'] = None\nfrom pcbench.commands import main\n"
        f"sys.exit(main(['report', '--results', {str(results)!r}, '--out', {str(tmp_path / 'out')!r}]))"
    )

    subprocess.run([sys.executable, "-c", script], check=True, cwd=tmp_path)
    assert (tmp_path / "out" / "index.html").is_file()


def test_the_page_has_a_row_for_each_case_however_many_commits_there_are(tmp_path: Path) -> None:
    rows = []
    for commits in (3, 30):
        folder = tmp_path / str(commits)
        write_results(folder, [f"{number:040x}"[::-1] for number in range(commits)], cases=80)
        report.draw_reports(folder, folder / "out", ["contract"])
        rows.append((folder / "out" / "index.html").read_text().count('<th scope="row">'))

    assert rows == [80, 80]
