"""``pcbench save`` and ``pcbench check``, as a person calls them."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import artifact_bases as bases
import pytest
from users_model import Write

from pcbench import manifest, signing

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("check_command")]


def pcbench(*words: object, env: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-P", "-m", "pcbench", *map(str, words)]
    return subprocess.run(command, env=os.environ | (env or {}), capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("model") / "users.py"
    path.write_text(
        "import torch\nfrom torch import nn\nfrom pcbench.models import Model\n"
        "MODEL = Model(build=lambda: nn.Linear(4, 4), inputs=lambda: ((torch.ones(2, 4),), {}))\n"
    )
    return path


@pytest.fixture(scope="module")
def saved(model: Path) -> Path:
    """An artifact that no test changes."""
    folder = model.parent / "saved"
    ended = pcbench("save", model, folder, "--strategy", "precompile_eager", "--threads", 1)
    assert ended.returncode == 0, ended.stderr
    assert f"{folder}: precompile_eager, " in ended.stdout
    assert f"signed with the key in {signing.path()}: who has that key can load it without --trust" in ended.stdout
    assert sorted(path.name for path in model.parent.iterdir() if path.name != "__pycache__") == ["saved", "users.py"]
    return folder


def copied(saved: Path, tmp_path: Path) -> Path:
    folder = tmp_path / "copied"
    subprocess.run(["cp", "-a", saved, folder], check=True)
    return folder


def test_what_was_saved_would_load_here(saved: Path) -> None:
    ended = pcbench("check", saved)

    assert (ended.returncode, ended.stderr) == (0, "")
    assert "strategy: precompile_eager, weights passed, gradients off" in ended.stdout
    assert ended.stdout.endswith("it would load here, in a process with 1 thread and gradients off\n")


def test_with_a_model_it_is_loaded_and_its_answer_compared(saved: Path, model: Path) -> None:
    ended = pcbench("check", saved, model)

    assert ended.returncode == 0, ended.stderr
    assert "to the first output, which agrees with" in ended.stdout


def test_another_models_artifact_does_not_pass(saved: Path, write: Write) -> None:
    ended = pcbench("check", saved, write().target)

    assert ended.returncode == 2
    assert "mine.py has other weights or inputs" in ended.stderr
    assert "agrees" not in ended.stdout


def test_a_damaged_artifact_is_refused(saved: Path, tmp_path: Path) -> None:
    folder = copied(saved, tmp_path)
    (folder / "code.py").write_text("x")
    ended = pcbench("check", folder)

    assert (ended.returncode, ended.stdout) == (2, "")
    assert "code.py was changed after it was saved: it has 1 bytes, and had" in ended.stderr
    assert "Traceback" not in ended.stderr


def test_what_was_made_for_another_torch_would_not_load_here(saved: Path, tmp_path: Path) -> None:
    folder = copied(saved, tmp_path)
    path = folder / manifest.FILE
    path.write_text(path.read_text().replace(bases.read(folder).platform.torch, "1.0"))
    bases.signed_again(folder, digests=False)
    ended = pcbench("check", folder)

    assert ended.returncode == 2
    assert f"pcbench: {folder} was saved with torch 1.0, this is" in ended.stderr
    assert "it would load here" not in ended.stdout


def test_a_strangers_artifact_is_refused_and_trust_says_what_it_does(saved: Path, tmp_path: Path) -> None:
    key = tmp_path / "key"
    key.touch(0o600)
    key.write_text("k" * 64)
    env = {signing.KEYFILE: str(key)}
    refused, trusted = pcbench("check", saved, env=env), pcbench("check", saved, "--trust", env=env)

    assert refused.returncode == 2
    assert f"pcbench: {saved} was signed with the key" in refused.stderr
    assert trusted.returncode == 0
    assert trusted.stderr == f"pcbench: who saved {saved} is not checked, and loading it runs its code\n"
    assert "it would load here" in trusted.stdout


def test_a_check_runs_no_code_of_the_artifact(saved: Path, tmp_path: Path) -> None:
    folder, canary = copied(saved, tmp_path), tmp_path / "canary"
    bases.ARM["precompile_eager"](folder)
    bases.signed_again(folder)
    ended = pcbench("check", folder, env={bases.CANARY: str(canary)})

    assert (ended.returncode, canary.exists()) == (0, False)


def test_a_folder_that_is_there_is_not_saved_to(saved: Path, model: Path) -> None:
    ended = pcbench("save", model, saved, "--strategy", "export")

    assert ended.returncode == 2
    assert f"pcbench: {saved} exists already" in ended.stderr


def test_a_strategy_that_there_is_not_and_a_place_that_there_is_not_are_said(model: Path, tmp_path: Path) -> None:
    strategy = pcbench("save", model, tmp_path / "a", "--strategy", "exprt")
    place = pcbench("save", model, tmp_path / "gone" / "a", "--strategy", "export")

    assert (strategy.returncode, place.returncode) == (2, 2)
    assert "did you mean 'export'" in strategy.stderr
    assert f"there is no folder {tmp_path / 'gone'}" in place.stderr


def test_a_save_that_fails_leaves_nothing(tmp_path: Path) -> None:
    path = tmp_path / "fails.py"
    path.write_text(
        "import torch\nfrom torch import nn\nfrom pcbench.models import Model\n"
        "class Net(nn.Linear):\n    def forward(self, x):\n        return x[: int(x.sum().item())]\n"
        "MODEL = Model(build=lambda: Net(4, 4), inputs=lambda: ((torch.ones(2, 4),), {}))\n"
    )
    ended = pcbench("save", path, tmp_path / "a", "--strategy", "export")

    assert ended.returncode == 2
    assert f"pcbench: export could not save {path}: " in ended.stderr
    assert [each.name for each in tmp_path.iterdir() if each.name != "__pycache__"] == ["fails.py"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--threads", "0"), "'0' is not a whole number from 1"),
        (("--timeout", "nan"), "'nan' is not a number of seconds above 0"),
    ],
)
def test_a_number_that_cannot_be_is_said(tmp_path: Path, words: tuple[str, str], said: str) -> None:
    ended = pcbench("save", "mlp", tmp_path / "a", "--strategy", "export", *words)

    assert ended.returncode == 2
    assert said in ended.stderr
    assert list(tmp_path.iterdir()) == []
