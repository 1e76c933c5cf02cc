"""``--env NAME``: several builds side by side."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import fake_torch
import pytest
from kept_envs import Kept

from pcbench.asking import Setting
from pcbench.commands import compare
from pcbench.commands._builds import Build
from pcbench.commands._compared import compared
from pcbench.commands._rounds import Plan
from pcbench.errors import PcbenchError


@pytest.fixture
def kept(tmp_path: Path) -> Kept:
    return Kept(tmp_path / "envs", ())


def test_doctor_shows_a_column_of_status_per_build_and_why_something_is_not_there(kept: Kept, tmp_path: Path) -> None:
    for name in ("one", "two"):
        python = fake_torch.python(tmp_path / name, "9.9.1")
        kept.env("add", "--python", str(python), "--name", name)
    doctor = [sys.executable, "-m", "pcbench", "doctor", "--env", "one", "--env", "two", "--env", "one"]
    shown = subprocess.run(doctor, env=kept.environment(), capture_output=True, text=True, check=False)
    told = subprocess.run([*doctor, "--json"], env=kept.environment(), capture_output=True, text=True, check=False)

    assert (shown.returncode, told.returncode) == (2, 2), shown.stderr
    lines = shown.stdout.splitlines()
    assert [line.split() for line in lines[2:4]] == [["one", "two"], ["torch", "UNAVAILABLE", "UNAVAILABLE"]]
    assert any(line.split() == ["export", "CRASHED", "CRASHED"] for line in lines)
    assert any(line.startswith("one, two: export: at ") for line in lines)
    found = json.loads(told.stdout)
    assert [build["name"] for build in found["builds"]] == ["one", "two"]
    assert {"torch", "python", "machine", "tools", "missing_torch_names", "strategies"} <= set(found["builds"][0])


@pytest.mark.slow
def test_compare_samples_builds_in_turn_and_one_that_fails_does_not_take_the_others_along(
    kept: Kept, tmp_path: Path
) -> None:
    kept.env("add", "--python", sys.executable, "--name", "twin")
    kept.env("add", "--python", str(fake_torch.python(tmp_path / "own", "9.9.1")), "--name", "broken")
    words = ("compare", "mlp", "--strategies", "export", "--temperatures", "warm", "--samples", "2", "--threads", "1")
    builds = ("--env", "twin", "--env", "broken", "--env", "this", "--json", str(tmp_path / "out.json"))
    command = [sys.executable, "-m", "pcbench", *words, *builds]
    ended = subprocess.run(command, env=kept.environment(), capture_output=True, text=True, check=False)

    assert ended.returncode == 2
    assert "pcbench: broken: torch could not be asked to describe" in ended.stderr
    header = next(line.split() for line in ended.stdout.splitlines() if line.startswith("strategy"))
    assert header == ["strategy", "twin", "this"]
    assert [line.split(":")[0] for line in ended.stdout.splitlines()[-2:]] == ["twin", "this"]
    written = json.loads((tmp_path / "out.json").read_text())
    assert (written["schema"], [build["name"] for build in written["builds"]]) == (1, ["twin", "broken", "this"])
    broken = written["builds"].pop(1)
    assert (set(broken), "could not be asked to describe" in broken["problem"]) == ({"name", "problem"}, True)
    assert all(len(row["samples"]) == 2 for build in written["builds"] for row in build["results"])
    first, second = (
        [line.split()[3] for line in ended.stderr.splitlines() if f"warm load {n} of 2: export" in line] for n in (1, 2)
    )
    assert (sorted(first), first) == (["this:", "twin:"], second[::-1])


def test_json_says_of_a_build_that_was_not_reached_or_failed_why_nothing_is_there() -> None:
    plan = Plan(Setting("mlp"), ("export",), ("cold",), 2)
    late, broken = (compared(Build(name), plan, (), 0) for name in ("late", "broken"))
    broken.failed = PcbenchError("it has no torch", hint="install it")

    assert compare._json(late, {}, {}) == {"name": "late", "problem": "the command ended before it was measured"}
    assert compare._json(broken, {}, {}) == {"name": "broken", "problem": "it has no torch"}
