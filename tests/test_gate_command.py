"""``pcbench gate`` and ``pcbench accept`` as a user calls them: output, files, exit codes, time."""

from __future__ import annotations

import json
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest
from results_folder import Folder, commit_of

from pcbench.commands import main

GOOD = {"capture.track_breaks": 0, "load.track_bytes": 100_000, "load.track_first(mlp)": [1.0, 1.01, 1.02]}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Folder:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("GITHUB_ACTIONS", raising=False)
    made = Folder(Path("results"))
    made.begin()
    made.add(1, GOOD)
    return made


def test_a_first_baseline_is_accepted_and_then_the_gate_passes(
    folder: Folder, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["gate"]) == 2
    assert "pcbench accept" in capsys.readouterr().out
    assert main(["accept", "--reason", "first baseline"]) == 0
    assert "+" in capsys.readouterr().out

    folder.add(2, GOOD)

    assert main(["gate"]) == 0
    assert "SAME" in capsys.readouterr().out


def test_what_got_worse_fails_until_it_is_accepted(folder: Folder, capsys: pytest.CaptureFixture[str]) -> None:
    main(["accept", "--reason", "first"])
    folder.add(2, {**GOOD, "capture.track_breaks": 1})

    assert main(["gate"]) == 1
    told = capsys.readouterr().out
    assert "SLOWER" in told
    assert "capture.track_breaks" in told
    assert "0 -> 1" in told

    assert main(["accept", "capture.track_breaks", "--reason", "the new layer breaks the graph"]) == 0
    baseline = Path("results/BASELINE").read_text()
    assert '"was": "0", "now": "1"' in baseline
    assert "the new layer breaks the graph" in baseline
    assert main(["gate"]) == 0


def test_accepting_cases_by_pattern_leaves_the_others_where_they_were(folder: Folder) -> None:
    main(["accept", "--reason", "first"])
    folder.add(2, {**GOOD, "capture.track_breaks": 1, "load.track_bytes": 200_000})

    assert main(["accept", "load.*", "--reason", "a bigger artifact"]) == 0

    assert main(["gate"]) == 1
    told = json.loads(Path("results/BASELINE").read_text())["places"]
    (accepted,) = told.values()
    assert accepted["commit"] == commit_of(1)
    assert set(accepted["cases"]) == {"load.track_bytes", "load.track_first(mlp)"}


def test_an_environment_that_is_gone_for_good_is_dropped_from_the_baseline(
    folder: Folder, capsys: pytest.CaptureFixture[str]
) -> None:
    folder.add(1, GOOD, environment="old")
    main(["accept", "--reason", "first"])
    folder.add(2, GOOD)
    assert main(["gate"]) == 2
    assert "accept --gone" in capsys.readouterr().out

    assert main(["accept", "--gone", "--env", "old", "--reason", "torch 2.13 is no longer supported"]) == 0

    assert main(["gate"]) == 0
    assert main(["accept", "--gone", "--reason", "again"]) == 2


def test_a_case_of_one_environment_is_accepted_where_another_has_none(
    folder: Folder, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["accept", "--reason", "first"])
    folder.add(2, {**GOOD, "capture.track_breaks": 1})
    folder.add(2, {"load.track_bytes": 1}, environment="other")
    capsys.readouterr()

    assert main(["accept", "capture.track_breaks", "--reason", "wanted"]) == 0

    assert (
        capsys.readouterr().out.splitlines()[-2].startswith("accepted 1 case of 00000002 in shared-py3.11-torch2.15.0")
    )


def test_a_case_that_is_gone_is_accepted_as_gone_and_the_others_stay_where_they_were(folder: Folder) -> None:
    main(["accept", "--reason", "first"])
    folder.add(2, {"capture.track_breaks": 1, "load.track_first(mlp)": [1.0, 1.01, 1.02]})

    assert main(["accept", "load.track_bytes", "--reason", "it told nothing"]) == 0

    assert main(["gate"]) == 1


def test_a_failure_without_a_reason_is_not_accepted(folder: Folder, capsys: pytest.CaptureFixture[str]) -> None:
    main(["accept", "--reason", "first"])
    folder.add(2, {**GOOD, "load.track_bytes": None})

    assert main(["accept", "load.track_bytes", "--reason", "x"]) == 2
    assert "failed and has no number" in capsys.readouterr().err
    assert main(["accept", "--reason", "all"]) == 0
    assert "1 case failed without a reason, and will fail on" in capsys.readouterr().out


def test_accepting_all_says_what_it_moves(folder: Folder, capsys: pytest.CaptureFixture[str]) -> None:
    main(["accept", "--reason", "first"])
    folder.add(2, {**GOOD, "capture.track_breaks": 7})
    capsys.readouterr()

    main(["accept", "--reason", "second"])

    assert "capture.track_breaks: 0 -> 7" in capsys.readouterr().out.splitlines()


def test_the_newest_is_that_of_git_whatever_the_authors_dates_say(folder: Folder, tmp_path: Path) -> None:
    def git(*words: str) -> str:
        identity = ("-c", "user.name=t", "-c", "user.email=t@t")
        return subprocess.check_output(["git", *identity, *words], cwd=tmp_path, text=True).strip()

    git("init", "-q")
    commits = []
    for number in (9, 8):  # the second is older by its author
        git("commit", "-q", "--allow-empty", "-m", "x")
        commits.append(git("rev-parse", "HEAD"))
        path = folder.add(number, {**GOOD, "capture.track_breaks": 9 - number})
        text = path.read_text().replace(commit_of(number), commits[-1])
        path.with_name(path.name.replace(path.name[:8], commits[-1][:8])).write_text(text)
        context = path.with_suffix(".context").read_text().replace(commit_of(number), commits[-1])
        path.with_name(path.name.replace(path.name[:8], commits[-1][:8])).with_suffix(".context").write_text(context)
        path.unlink()
    main(["accept", "--candidate", commits[0], "--reason", "first"])

    assert main(["gate"]) == 1


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["accept", "load.track_byte", "--reason", "x"], "near: load.track_bytes"),
        (["accept", "--reason", "  "], "the reason is empty"),
        (["accept", "load.track_bytes", "--reason", "x"], "there is no baseline yet"),
        (["accept", "--reason", "x", "--candidate", "ffff"], "there is no result of commit ffff"),
        (["gate", "--results", "nowhere"], "there is no results folder nowhere"),
        (["gate", "--env", "nosuch"], "no result is of this machine and environment"),
        (["gate", "--json", "no/such/folder.json"], "cannot be written"),
        (["gate", "--json", "-", "--junit", "-"], "two outputs are to go to stdout"),
        (["gate", "--baseline", "torch:1.0"], "there are: 2.15.0"),
    ],
)
def test_bad_input_is_said_and_exits_with_2(
    folder: Folder,  # noqa: ARG001  # the current folder
    capsys: pytest.CaptureFixture[str],
    words: list[str],
    said: str,
) -> None:
    assert main(words) == 2
    assert said in capsys.readouterr().err


def test_verdicts_are_written_as_json_markdown_and_junit(folder: Folder, capsys: pytest.CaptureFixture[str]) -> None:
    main(["accept", "--reason", "first"])
    folder.add(2, {**GOOD, "capture.track_breaks": 1})
    capsys.readouterr()

    assert main(["gate", "--json", "-", "--markdown", "comment.md", "--junit", "junit.xml"]) == 1

    told = json.loads(capsys.readouterr().out)
    assert told["exit_code"] == 1
    worse = [finding for finding in told["findings"] if finding["verdict"] == "SLOWER"]
    assert [(f["case"], f["baseline"], f["candidate"]) for f in worse] == [("capture.track_breaks", 0, 1)]
    assert "capture.track" in Path("comment.md").read_text()
    assert len(list(ElementTree.parse("junit.xml").iter("failure"))) == 1


def test_in_a_github_job_what_is_worse_is_annotated(
    folder: Folder, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    main(["accept", "--reason", "first"])
    folder.add(2, {**GOOD, "capture.track_breaks": 1})
    monkeypatch.setenv("GITHUB_ACTIONS", "true")

    main(["gate"])

    assert "::error" in capsys.readouterr().out


def test_a_policy_in_pyproject_is_used_and_a_wrong_one_refused(
    folder: Folder, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["accept", "--reason", "first"])
    folder.add(2, {**GOOD, "load.track_bytes": 101_000})
    assert main(["gate"]) == 1

    Path("pyproject.toml").write_text("[tool.pcbench.policy]\nbyte_share = 0.02\n")
    assert main(["gate"]) == 0

    Path("pyproject.toml").write_text("[tool.pcbench.policy]\nbyte_shares = 0.02\n")
    assert main(["gate"]) == 2
    assert "byte_shares" in capsys.readouterr().err

    Path("pyproject.toml").write_text("[tool.pcbench.policy\n")
    assert main(["gate"]) == 2
    assert "is no TOML" in capsys.readouterr().err


def test_the_gate_imports_neither_torch_nor_scipy_nor_matplotlib(folder: Folder) -> None:  # noqa: ARG001
    main(["accept", "--reason", "first"])
    code = (
        "import sys; from pcbench.commands import main; main(['gate']);"
        "print(sorted({'torch', 'triton', 'scipy', 'matplotlib', 'asv', 'numpy', 'ruptures'} & set(sys.modules)))"
    )
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert ended.stdout.splitlines()[-1] == "[]"
