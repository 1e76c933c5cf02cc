"""What docs/nightly.md tells people to type is what the commands take."""

from __future__ import annotations

import json
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
