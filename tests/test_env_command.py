"""``pcbench env`` as a user runs it, with a torch of two files; pip and the virtual environments are real."""

from __future__ import annotations

import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import fake_torch
import pytest
from kept_envs import Kept

from pcbench import torch_envs

BACKEND = """
import os, time
from pathlib import Path

def prepare_metadata_for_build_wheel(folder, settings=None):
    Path("{started}").touch()
    while not Path("{go}").exists():
        time.sleep(0.05)
    info = Path(folder, "slow-1.dist-info")
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\\nName: slow\\nVersion: 1\\n")
    return info.name

def build_wheel(folder, settings=None, metadata=None):
    import zipfile
    with zipfile.ZipFile(Path(folder, "slow-1-py3-none-any.whl"), "w") as wheel:
        for file in Path(metadata).iterdir():
            wheel.write(file, f"slow-1.dist-info/{{file.name}}")
        wheel.writestr("slow-1.dist-info/WHEEL", "Wheel-Version: 1.0\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n")
        wheel.writestr("slow-1.dist-info/RECORD", "")
    return "slow-1-py3-none-any.whl"
"""


@pytest.fixture
def kept(tmp_path: Path) -> Kept:
    return Kept(tmp_path / "envs", fake_torch.wheels(tmp_path / "wheels", "9.9.1", "9.9.2"))


@pytest.mark.slow
def test_an_environment_is_made_used_and_mended_and_a_second_add_says_that_it_is_there(kept: Kept) -> None:
    words = ("add", "9.9.1", "--room", "0.01", "--", *kept.options)
    made, again = kept.env(*words), kept.env(*words)
    other = kept.env("add", "9.9.2", "--name", "9.9.1", "--", *kept.options)
    ran = kept.env("run", "9.9.1", "--", "-c", "import torch, numpy, pcbench; print(torch.__version__)")
    folder = kept.root / "9.9.1"

    assert (made.returncode, made.stdout) == (0, f"9.9.1: torch 9.9.1+fake (git {fake_torch.GIT})\n"), made.stderr
    assert [line[:5] for line in made.stderr.splitlines()] == ["[1/4]", "[2/4]", "[3/4]", "[4/4]"]
    assert (again.returncode, again.stderr) == (0, "")
    assert again.stdout.startswith("9.9.1 is there already: torch 9.9.1+fake")
    assert (other.returncode, ran.stdout) == (2, "9.9.1+fake\n")
    assert "there is another environment 9.9.1: torch 9.9.1+fake" in other.stderr
    assert kept.listed()["9.9.1"] == {
        "name": "9.9.1",
        "kind": "made",
        "interpreter": str(folder / "venv" / "bin" / "python"),
        "torch": "9.9.1+fake",
        "torch_git": fake_torch.GIT,
        "python": ".".join(map(str, sys.version_info[:3])),
        "lacking": [],
        "same_build_as": [],
        "problem": None,
    }

    # As a kill leaves it while pip installs: no record yet, and numpy's files without its RECORD.
    torch_envs.write_record(folder / torch_envs.MARKER, torch_envs.read_record(folder / torch_envs.RECORD))
    (folder / torch_envs.RECORD).unlink()
    (site,) = folder.glob("venv/lib/python*/site-packages")
    (site / "numpy" / "__init__.py").unlink()
    (next(site.glob("numpy-*.dist-info")) / "RECORD").unlink()
    mended = kept.env(*words)

    assert (mended.returncode, (site / "numpy" / "__init__.py").exists()) == (0, True), mended.stderr
    assert "going on with 9.9.1, which was interrupted" in mended.stderr

    # As an upgrade of pcbench leaves it, which asks for more.
    shutil.rmtree(next(site.glob("rich-*.dist-info")))
    complete = kept.env(*words)

    assert (complete.returncode, kept.listed()["9.9.1"]["lacking"]) == (0, [])
    assert complete.stdout.startswith("9.9.1 is there already: torch 9.9.1+fake")
    assert ", but lacks rich\n" in complete.stdout
    removed = kept.env("remove", "9.9.1")
    assert (removed.returncode, removed.stdout) == (0, "removed 9.9.1\n")
    assert not list(kept.root.glob("[!.]*"))


@pytest.mark.slow
def test_a_making_that_was_killed_leaves_no_pip_and_is_continued(kept: Kept, tmp_path: Path) -> None:
    slow, started, go = tmp_path / "slow", tmp_path / "started", tmp_path / "go"
    slow.mkdir()
    (slow / "backend.py").write_text(BACKEND.format(started=started, go=go))
    (slow / "pyproject.toml").write_text('[build-system]\nrequires=[]\nbuild-backend="backend"\nbackend-path=["."]\n')
    words = ("add", "9.9.1", "--room", "0.01", "--", *kept.options, str(slow))
    first = subprocess.Popen(kept.command(*words), env=kept.environment(), stderr=subprocess.DEVNULL)
    while not started.exists():
        assert first.poll() is None
        time.sleep(0.1)
    waiting, listed = kept.env(*words), kept.listed()
    first.send_signal(signal.SIGKILL)
    first.wait()
    go.touch()
    second = kept.env(*words)

    assert (waiting.returncode, listed["9.9.1"]["kind"]) == (2, "incomplete")
    assert "the environment 9.9.1 is in use by another command" in waiting.stderr
    assert (second.returncode, second.stdout.split(":")[0]) == (0, "9.9.1"), second.stderr
    assert "going on with 9.9.1" in second.stderr
    assert (kept.listed()["9.9.1"]["kind"], kept.listed()["9.9.1"]["problem"]) == ("made", None)


@pytest.mark.slow
def test_a_release_that_pip_does_not_know_is_told_in_pip_s_words_and_leaves_nothing(kept: Kept) -> None:
    ended = kept.env("add", "8.8.8", "--room", "0.01", "--", *kept.options)

    assert ended.returncode == 2
    assert "No matching distribution found for torch==8.8.8" in ended.stderr
    assert "Could not find a version" in (kept.root / ".logs" / "8.8.8.log").read_text()
    assert list(kept.listed()) == ["this"]


def test_too_little_room_is_refused_with_what_there_is_and_what_is_wanted(kept: Kept) -> None:
    ended = kept.env("add", "9.9.1", "--room", "1000000", "--", *kept.options)

    assert ended.returncode == 2
    assert "GB free; this environment wants 1000000.0 GB" in ended.stderr
    assert list(kept.listed()) == ["this"]


def test_an_adopted_interpreter_is_listed_with_what_it_lacks_and_is_only_forgotten(kept: Kept, tmp_path: Path) -> None:
    python = fake_torch.python(tmp_path / "own", "9.9.1")
    first = kept.env("add", "--python", str(python))
    second = kept.env("add", "--python", str(python), "--name", "mine")
    again = kept.env("add", "--python", str(python), "--name", "mine")
    listed, table = kept.listed(), kept.env("list").stdout

    assert first.stdout.startswith(f"9.9.1+fake: torch 9.9.1+fake (git {fake_torch.GIT})\nit lacks ")
    assert "the same torch build as 9.9.1+fake\n" in second.stdout
    assert again.stdout.startswith("mine is there already: ")
    assert (listed["mine"]["kind"], listed["mine"]["interpreter"]) == ("adopted", str(python))
    assert listed["mine"]["same_build_as"] == ["9.9.1+fake"]
    assert {"numpy", "rich"} <= set(map(str, listed["mine"]["lacking"]))  # type: ignore[call-overload]
    assert "same build as mine" in table
    assert kept.env("remove", "mine").stdout == f"forgot mine; {python} is as it was\n"
    assert (python.exists(), set(kept.listed())) == (True, {"this", "9.9.1+fake"})


def test_an_interpreter_that_is_gone_stays_in_the_list_with_the_reason(kept: Kept, tmp_path: Path) -> None:
    python = fake_torch.python(tmp_path / "own", "9.9.1")
    kept.env("add", "--python", str(python), "--name", "mine")
    python.unlink()

    assert f"{python} cannot be run: No such file or directory" in kept.env("list").stdout
    assert kept.env("remove", "mine").returncode == 0


def test_a_damaged_environment_leaves_the_others_alone_and_can_be_removed(kept: Kept, tmp_path: Path) -> None:
    python = fake_torch.python(tmp_path / "own", "9.9.1")
    (kept.root / "odd").mkdir(parents=True)
    (kept.root / "odd" / torch_envs.RECORD).write_text('{"kind": "adopted"}')
    added, used = kept.env("add", "--python", str(python), "--name", "mine"), kept.env("run", "mine", "--", "-V")
    refused = [kept.env("run", "odd", "--", "-V"), kept.env("add", "--python", str(python), "--name", "odd")]
    listed = kept.listed()

    assert (added.returncode, used.returncode) == (0, 0), added.stderr + used.stderr
    assert (listed["mine"]["problem"], listed["odd"]["kind"]) == (None, "damaged")
    for told in (*(ended.stderr for ended in refused), str(listed["odd"]["problem"]), kept.env("list").stdout):
        assert "odd/env.json is damaged: it does not say python" in told
        assert "`pcbench env remove odd` removes it" in told
    assert [ended.returncode for ended in refused] == [2, 2]
    assert kept.env("remove", "odd").stdout == "removed odd\n"
    assert set(kept.listed()) == {"this", "mine"}


def test_an_adoption_that_was_interrupted_does_not_keep_the_name(kept: Kept, tmp_path: Path) -> None:
    python = fake_torch.python(tmp_path / "own", "9.9.1")
    (kept.root / "mine").mkdir(parents=True)
    (kept.root / "mine" / f"{torch_envs.RECORD}.new").write_text("{")

    assert kept.env("add", "--python", str(python), "--name", "mine").returncode == 0
    assert kept.listed()["mine"]["kind"] == "adopted"


def test_an_environment_in_use_is_not_removed(kept: Kept, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    python = fake_torch.python(tmp_path / "own", "9.9.1")
    kept.env("add", "--python", str(python), "--name", "mine")
    monkeypatch.setenv("PCBENCH_ENVS", str(kept.root))
    with torch_envs.held("mine"):
        refused = kept.env("remove", "mine")

    assert (refused.returncode, "mine is in use by another command" in refused.stderr) == (2, True)
    assert kept.env("remove", "mine").returncode == 0


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("add",), "give either a torch release to make or --python to adopt"),
        (("add", "2.15.0", "--python", "python"), "give either a torch release to make or --python to adopt"),
        (("add", "--python", sys.executable, "--", "--pre"), "adopts an interpreter as it is"),
        (("add", "--python", "no-such-python"), "there is no interpreter no-such-python"),
        (("add", "2.15.0", "--with-python", "no-such-python"), "there is no interpreter no-such-python"),
        (("add", "2.15.0", "--name", "../up"), "'../up' cannot name an environment"),
        (("add", "2.15.0", "--name", "this"), "'this' cannot name an environment"),
        (("remove", "2.15.0"), "there is no environment 2.15.0"),
        (("run", "2.15.0", "--", "-V"), "there is no environment 2.15.0"),
        (("list", "--", "x"), "takes no words after --"),
    ],
)
def test_bad_words_are_answered_with_2_and_no_traceback(words: tuple[str, ...], said: str, kept: Kept) -> None:
    ended = kept.env(*words)

    assert ended.returncode == 2
    assert said in ended.stderr
    assert "Traceback" not in ended.stderr
