import csv
import importlib.util
import io
import json
import subprocess
import sys
from pathlib import Path

import pytest
from git_history import new
from results_folder import ENVIRONMENT, Folder, commit_of

from pcbench.commands import main


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    made = Folder(tmp_path / "results")
    made.begin()
    made.begin("other")
    for number in (2, 1):
        made.add(number, {"load.track_first(mlp)": [number + 0.25, number + 0.5], "load.track_bytes": None})
    made.add(1, {"load.track_bytes": 100}, machine="other", environment="py3.14")
    return made


def export(folder: Folder, *words: str, form: str = "csv") -> int:
    return main(["export", "--format", form, "--results", str(folder.root), *words])


def read(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text, newline="")))


def test_all_runs_are_rows_by_commit_date(folder: Folder, capfd: pytest.CaptureFixture[str]) -> None:
    assert export(folder) == 0
    found = read(capfd.readouterr().out)

    assert [(row["commit"], row["machine"]) for row in found if row["value"]] == [
        (commit_of(1), "other"),
        (commit_of(1), "lab"),
        (commit_of(2), "lab"),
    ]
    assert [row["status"] for row in found if not row["value"]] == ["failed", "failed"]


@pytest.mark.parametrize(
    ("words", "count"),
    [
        (["--machine", "other"], 1),
        (["--env", "py3.1*"], 1),
        (["--env", ENVIRONMENT[3:9]], 4),
        (["--commit", commit_of(2)[:8]], 2),
        (["--commit", commit_of(1)[:8], "--machine", "lab"], 2),
    ],
)
def test_rows_of_a_place_or_commit_alone(
    folder: Folder, words: list[str], count: int, capfd: pytest.CaptureFixture[str]
) -> None:
    assert export(folder, *words) == 0
    assert len(read(capfd.readouterr().out)) == count


def test_a_file_is_written_whole(folder: Folder, tmp_path: Path) -> None:
    out = tmp_path / "rows.json"
    out.write_text("before")

    assert export(folder, "--out", str(out), form="oss-v3") == 0
    assert [told["head_sha"] for told in json.loads(out.read_text())] == [commit_of(n) for n in (1, 1, 2)]
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []


def test_an_export_that_fails_leaves_what_was_there(folder: Folder, tmp_path: Path) -> None:
    out = tmp_path / "rows.csv"
    out.write_text("before")
    for path in folder.root.glob("*/*-*.json"):
        path.write_text(path.read_text()[:-20])

    assert export(folder, "--out", str(out)) == 2
    assert out.read_text() == "before"
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []


def test_what_is_not_in_the_export_is_said_beside_it(folder: Folder, capfd: pytest.CaptureFixture[str]) -> None:
    broken = folder.add(3, {"load.track_bytes": 100})
    broken.write_text(broken.read_text()[:-20])

    assert export(folder, form="oss-v3") == 2
    told = capfd.readouterr()
    assert len(json.loads(told.out)) == 3
    assert f"not read: {broken}" in told.err
    assert "left out 2 rows without a number" in told.err


def test_rows_without_a_number_alone_are_no_failure(folder: Folder, capfd: pytest.CaptureFixture[str]) -> None:
    assert export(folder, form="oss-v3") == 0
    assert "left out 2 rows without a number" in capfd.readouterr().err


def test_a_file_that_does_not_even_tell_its_commit_is_an_error_beside_the_rows(
    folder: Folder, capfd: pytest.CaptureFixture[str]
) -> None:
    (folder.root / "lab" / "deadbeef-shared.json").write_text('{"half')

    assert export(folder) == 2
    told = capfd.readouterr()
    assert len(read(told.out)) == 5
    assert "deadbeef-shared.json" in told.err


def test_a_commit_is_named_as_git_names_it(
    folder: Folder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    repository = new(tmp_path, {})
    first = repository.commit({"a": "1"})
    repository.commit({"a": "2"})
    for path in folder.root.glob(f"*/{commit_of(1)[:8]}-*"):
        path.write_text(path.read_text().replace(commit_of(1), first))
    monkeypatch.chdir(repository.root)

    assert export(folder, "--commit", "HEAD~1") == 0
    assert {row["commit"] for row in read(capfd.readouterr().out)} == {first}


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--machine", "none"], "no result is of this machine and environment"),
        (["--commit", "abcdef"], "there is no result of commit abcdef"),
        (["--out", "no/such/folder/rows.csv"], "cannot be written"),
    ],
)
def test_what_cannot_be_done_is_said(
    folder: Folder, words: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert export(folder, *words) == 2
    assert said in capsys.readouterr().err


def test_an_empty_folder_is_an_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "results").mkdir()

    assert export(Folder(tmp_path / "results")) == 2
    assert "holds no result" in capsys.readouterr().err


def test_parquet_is_no_text_for_a_terminal(
    folder: Folder, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)

    assert export(folder, form="parquet") == 2
    assert "--out" in capsys.readouterr().err


def test_parquet_goes_to_a_file_or_pipe_that_stdout_is(folder: Folder, tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet", reason="pyarrow is an optional extra")
    words = [sys.executable, "-m", "pcbench", "export", "-f", "parquet", "--results", str(folder.root)]
    out = tmp_path / "rows.parquet"
    with out.open("wb") as file:
        done = subprocess.run(words, stdout=file, stderr=subprocess.PIPE, check=False)
    piped = subprocess.run(words, capture_output=True, check=False)

    assert (done.returncode, done.stderr, piped.returncode, piped.stderr) == (0, b"", 0, b"")
    assert parquet.read_table(out).num_rows > 0
    assert piped.stdout == out.read_bytes()


def test_without_pyarrow_the_error_says_what_to_install(
    folder: Folder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    find = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == "pyarrow" else find(name))

    assert export(folder, "--out", str(tmp_path / "rows.parquet"), form="parquet") == 2
    assert "pip install 'pcbench[parquet]'" in capsys.readouterr().err
    assert not (tmp_path / "rows.parquet").exists()


def test_a_parquet_file_holds_the_same_rows(folder: Folder, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    parquet = pytest.importorskip("pyarrow.parquet", reason="pyarrow is an optional extra")
    out = tmp_path / "rows.parquet"

    assert export(folder, "--out", str(out), form="parquet") == 0
    assert export(folder) == 0
    found = parquet.read_table(out).to_pylist()
    as_csv = read(capfd.readouterr().out)
    assert [row["case"] for row in found] == [row["case"] for row in as_csv]
    assert [row["date"].isoformat() for row in found] == [row["date"] for row in as_csv]
    assert found[1]["samples"] == [1.25, 1.5]
