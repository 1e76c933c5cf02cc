"""``pcbench guards`` with the processes that it starts."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import fake_torch
import pytest
import users_model
from kept_envs import Kept

from pcbench.commands import main


def test_a_target_at_fault_is_an_error_with_its_own_words(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "raising.py").write_text(
        "import torch\nfrom pcbench.models import Model\n"
        "class Raising(torch.nn.Module):\n"
        "    def forward(self, x):\n"
        "        raise ValueError('no such luck')\n"
        "MODEL = Model(build=Raising, inputs=lambda: ((torch.ones(1),), {}))\n"
    )

    assert main(["guards", str(tmp_path / "raising.py"), "--census"]) == 2
    assert "no such luck" in capsys.readouterr().err


def test_a_file_of_the_user_is_counted_for_real(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "mine.py").write_text(users_model.HEAD + users_model.TAIL)
    assert main(["guards", str(tmp_path / "mine.py"), "--census", "--json"]) == 0

    told = json.loads(capsys.readouterr().out)
    assert told["differing"] == {}
    assert told["census"]["guards: TENSOR_MATCH"] > 0


@pytest.mark.slow
def test_builds_are_counted_and_timed_side_by_side_and_one_without_torch_does_not_take_the_other_along(
    tmp_path: Path,
) -> None:
    kept = Kept(tmp_path / "envs", ())
    kept.env("add", "--python", sys.executable, "--name", "twin")
    kept.env("add", "--python", str(fake_torch.python(tmp_path / "own", "9.9.1")), "--name", "broken")
    builds = ("--env", "this", "--env", "twin", "--env", "broken")
    command = [sys.executable, "-m", "pcbench", "guards", "mlp", "--processes", "2", *builds]
    ended = subprocess.run(command, env=kept.environment(), capture_output=True, text=True, check=False)

    assert ended.returncode == 2
    assert "pcbench: mlp on broken: census: " in ended.stderr
    lines = ended.stdout.splitlines()
    assert "from this to twin: the same census" in lines
    header = next(line for line in lines if "twin / this" in line)
    assert "broken / this" in header
