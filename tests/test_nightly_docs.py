"""What docs/nightly.md tells people to type is what the commands take."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import pytest
from results_folder import Folder

from pcbench.analysis.policy import read_policy
from pcbench.analysis.records import Verdict
from pcbench.commands import main, parser

TEXT = (Path(__file__).parent.parent / "docs" / "nightly.md").read_text()


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", TEXT, re.DOTALL | re.MULTILINE)


def calls() -> list[str]:
    """Every call of pcbench, in blocks and in the text."""
    text = TEXT.replace("CASE --reason TEXT", "a.track_b --reason TEXT")
    found = re.findall(
        r"(?:^|[ `/])pcbench ((?:accept|gate|ab|nightly|bisect|history|env) [^`|\n]*)", text, re.MULTILINE
    )
    return sorted({call.split(" || ")[0].strip() for call in found})


def test_the_document_has_calls_to_try() -> None:
    assert {call.split()[0] for call in calls()} >= {"accept", "gate", "ab", "nightly", "bisect", "env"}


@pytest.mark.parametrize("call", calls())
def test_each_call_is_one_that_the_command_takes(call: str) -> None:
    words = shlex.split(call)

    parser([words[0]]).parse_args(words)


@pytest.mark.parametrize("script", blocks("sh"))
def test_each_shell_script_is_one_that_the_shell_takes(script: str) -> None:
    assert subprocess.run(["sh", "-n"], input=script, text=True, capture_output=True, check=False).stderr == ""


@pytest.mark.parametrize("text", blocks("yaml"))
def test_each_workflow_is_yaml_whose_steps_run_or_use_something(text: str) -> None:
    yaml = pytest.importorskip("yaml", reason="PyYAML comes with the zoo's requirements")
    told: dict[str, Any] = yaml.safe_load(text)

    for job in told["jobs"].values():
        assert all("run" in step or "uses" in step for step in job["steps"])
        for step in job["steps"]:
            if "run" in step:
                subprocess.run(["sh", "-n"], input=re.sub(r"\$\{\{.*?\}\}", "1", step["run"]), text=True, check=True)


def keeping() -> list[str]:
    """What the scheduled workflow, and the cron job, keep a night's results with."""
    yaml = pytest.importorskip("yaml", reason="PyYAML comes with the zoo's requirements")
    night = yaml.safe_load(blocks("yaml")[0])
    (step,) = [s["run"] for s in night["jobs"]["bench"]["steps"] if "git add" in s.get("run", "")]
    cron = re.search(r"^git add results.*?^git push[^\n]*", blocks("sh")[0], re.DOTALL | re.MULTILINE)
    assert cron is not None
    return [step, cron[0]]


def test_a_night_is_kept_without_an_identity_and_with_nothing_new_and_without_what_pull_requests_left(
    tmp_path: Path,
) -> None:
    home = {"HOME": str(tmp_path), "PATH": os.environ["PATH"], "GIT_CONFIG_NOSYSTEM": "1"}
    for number, script in enumerate(keeping()):
        kept, work = tmp_path / f"kept{number}", tmp_path / f"work{number}"

        def git(*words: str, folder: Path) -> str:
            done = subprocess.run(["git", *words], cwd=folder, env=home, capture_output=True, text=True, check=True)
            return done.stdout

        git("init", "-q", "--bare", "-b", "main", str(kept), folder=tmp_path)
        git("clone", "-q", str(kept), str(work), folder=tmp_path)
        git("checkout", "-q", "-B", "main", folder=work)
        git("config", "push.autoSetupRemote", "true", folder=work)
        for machine in ("lab", "ci"):
            (work / "results" / machine).mkdir(parents=True)
            (work / "results" / machine / "one.json").write_text("{}")
        for _ in range(2):
            subprocess.run(["bash", "-e", "-c", script], cwd=work, env=home, capture_output=True, check=True)

        assert git("rev-list", "--count", "main", folder=kept) == "1\n"
        stored = git("ls-tree", "-r", "--name-only", "main", folder=kept).split()
        assert "results/lab/one.json" in stored
        assert "':!results/ci'" not in script or stored == ["results/lab/one.json"]


def test_the_scheduled_workflow_keeps_out_what_the_pull_request_left_and_a_night_may_end_without_its_summary(
    tmp_path: Path,
) -> None:
    assert "--machine ci" in blocks("yaml")[1]
    assert "':!results/ci'" in keeping()[0]
    (summary,) = re.findall(r"run: (.*night.md >> .*)", blocks("yaml")[0])
    told = {"GITHUB_STEP_SUMMARY": str(tmp_path / "summary"), "PATH": os.environ["PATH"]}

    subprocess.run(["bash", "-e", "-c", summary], cwd=tmp_path, env=told, check=True)
    (tmp_path / "night.md").write_text("worse")
    subprocess.run(["bash", "-e", "-c", summary], cwd=tmp_path, env=told, check=True)
    assert (tmp_path / "summary").read_text() == "worse"


def test_the_cron_job_has_at_most_ten_lines() -> None:
    assert len(blocks("sh")[0].splitlines()) <= 10


@pytest.mark.parametrize("text", blocks("toml"))
def test_the_policy_that_is_shown_is_one_that_is_read(text: str) -> None:
    policy = read_policy(tomllib.loads(text)["tool"]["pcbench"]["policy"])

    assert policy.delta == 0.03
    assert policy.of("bench_io.time_read").ignore


def test_every_verdict_but_same_is_told_what_to_do_about() -> None:
    assert [verdict for verdict in Verdict if verdict is not Verdict.SAME and verdict not in TEXT] == []


def test_what_a_benchmark_is_shown_to_declare_decides_its_rule(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (code,) = blocks("python")
    declared: dict[str, Any] = {}
    exec(code, declared)
    function = declared["track_graph_breaks"]
    said = {name: getattr(function, name) for name in ("unit", "kind", "worse")}
    folder = Folder(tmp_path / "results", {"b.track_graph_breaks": {**said, "param_names": [], "type": "track"}})
    folder.begin()
    folder.add(1, {"b.track_graph_breaks": function()}, sidecar=None)
    monkeypatch.chdir(tmp_path)
    main(["accept", "--reason", "first"])
    folder.add(2, {"b.track_graph_breaks": 1}, sidecar=None)
    capsys.readouterr()

    assert main(["gate", "--json", "-"]) == 1
    (finding,) = json.loads(capsys.readouterr().out)["findings"]
    assert (finding["verdict"], finding["rule"]) == ("SLOWER", "exact, more is worse")
