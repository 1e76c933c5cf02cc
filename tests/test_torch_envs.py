"""Environments by name and torch version, their locks, and whose pcbench their processes import."""

from __future__ import annotations

import subprocess
import sys
from contextlib import AbstractContextManager
from pathlib import Path

import fake_torch
import git_history
import pytest

import pcbench
from pcbench import interpreters, torch_envs
from pcbench.errors import PcbenchError, UnavailableError, UsageError


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PCBENCH_ENVS", str(tmp_path / "envs"))
    return tmp_path / "envs"


def adopted(root: Path, name: str, python: Path) -> Path:
    (root / name).mkdir(parents=True)
    record = {"kind": "adopted", "python": str(python), "torch": "9.9.1+fake"}
    torch_envs.write_record(root / name / torch_envs.RECORD, record)
    return root / name


def test_environments_lie_where_the_user_says_else_in_the_users_data_folder(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PCBENCH_ENVS", str(tmp_path))
    named = torch_envs.root()
    monkeypatch.delenv("PCBENCH_ENVS")
    monkeypatch.setenv("XDG_DATA_HOME", "/data")
    data = torch_envs.root()
    monkeypatch.delenv("XDG_DATA_HOME")
    monkeypatch.setenv("HOME", "/home/me")

    assert (named, data) == (tmp_path, Path("/data/pcbench/envs"))
    assert torch_envs.root() == Path("/home/me/.local/share/pcbench/envs")
    monkeypatch.setenv("XDG_DATA_HOME", "relative")
    assert torch_envs.root() == Path("/home/me/.local/share/pcbench/envs")


def test_a_user_without_a_home_is_asked_to_name_a_folder_and_needs_none_where_one_is_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def no_home() -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(Path, "home", no_home)
    monkeypatch.delenv("XDG_DATA_HOME")
    monkeypatch.delenv("PCBENCH_ENVS", raising=False)
    with pytest.raises(PcbenchError, match=r"no home folder .*XDG_DATA_HOME"):
        torch_envs.root()
    monkeypatch.setenv("PCBENCH_ENVS", "~nobody-of-this-name/envs")
    with pytest.raises(PcbenchError, match="PCBENCH_ENVS is ~nobody-of-this-name/envs"):
        torch_envs.root()
    monkeypatch.setenv("PCBENCH_ENVS", str(tmp_path))
    assert torch_envs.root() == tmp_path


def test_an_environment_is_found_by_its_name_and_by_its_torch_s_version(root: Path, tmp_path: Path) -> None:
    python = fake_torch.python(tmp_path / "python", "9.9.1")
    adopted(root, "nightly", python)

    assert torch_envs.known() == (torch_envs.Env("nightly", "adopted", str(python)),)
    assert {torch_envs.find(word).python for word in ("nightly", "9.9.1", "9.9.1+fake")} == {str(python)}
    assert torch_envs.find("this").python == sys.executable
    with pytest.raises(UsageError, match=r"there is no environment 9.9.2 .*env add 9.9.2.*there are: nightly"):
        torch_envs.find("9.9.2")


def test_a_name_goes_before_a_version_and_two_builds_of_one_version_are_not_guessed_between(
    root: Path, tmp_path: Path
) -> None:
    pythons = [fake_torch.python(tmp_path / name, "9.9.1", name * 40) for name in ("a", "b")]
    for name, python in zip(("one", "two"), pythons, strict=True):
        adopted(root, name, python)
    with pytest.raises(UsageError, match=r"several builds have torch 9.9.1: one, two"):
        torch_envs.find("9.9.1")
    adopted(root, "9.9.1", pythons[1])

    assert torch_envs.find("9.9.1").python == str(pythons[1])


def test_an_incomplete_environment_is_not_used(root: Path) -> None:
    (root / "9.9.1").mkdir(parents=True)
    torch_envs.write_record(root / "9.9.1" / torch_envs.MARKER, {})

    assert torch_envs.known()[0].kind == "incomplete"
    with pytest.raises(UsageError, match="is incomplete"):
        torch_envs.find("9.9.1")


@pytest.mark.parametrize(
    ("text", "what"),
    [
        (b"{", "Expecting property name"),
        (b"\xff", "can't decode byte"),
        (b"[]", "it is no object"),
        (b"{}", "its kind is None"),
        (b'{"kind": ["made"]}', "its kind is "),
        (b'{"kind": "adopted", "torch": "9.9.1"}', "it does not say python"),
        (b'{"kind": "made", "torch": "9.9.1", "release": 9}', "it does not say release, made_with, options, base"),
    ],
)
def test_a_damaged_record_is_told_of_its_environment_alone(root: Path, tmp_path: Path, text: bytes, what: str) -> None:
    python = fake_torch.python(tmp_path / "python", "9.9.1")
    adopted(root, "good", python)
    (adopted(root, "odd", Path("/nowhere")) / torch_envs.RECORD).write_bytes(text)

    assert [(env.name, env.kind) for env in torch_envs.known()] == [("good", "adopted"), ("odd", "damaged")]
    assert [torch_envs.find(word).name for word in ("good", "9.9.1")] == ["good", "good"]
    with pytest.raises(PcbenchError, match=rf"odd/env.json is damaged: .*{what}.*env remove odd"):
        torch_envs.find("odd")


def test_what_is_being_made_is_seen_at_the_moment_when_it_is_done(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = adopted(root, "new", Path("/new"))
    (folder / torch_envs.RECORD).rename(folder / "later")
    torch_envs.write_record(folder / torch_envs.MARKER, {})
    read = torch_envs.read_record

    def finished_just_after(path: Path) -> dict[str, object]:
        try:
            return read(path)
        finally:
            (folder / "later").rename(folder / torch_envs.RECORD)
            (folder / torch_envs.MARKER).unlink()

    monkeypatch.setattr(torch_envs, "read_record", finished_just_after)
    assert [env.kind for env in torch_envs.known()] == ["incomplete"]


def test_an_environment_that_goes_while_it_is_read_is_none(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    adopted(root, "kept", Path("/kept"))
    gone, read = adopted(root, "gone", Path("/gone")), torch_envs.read_record

    def removed_meanwhile(path: Path) -> dict[str, object]:
        if path.parent == gone:
            torch_envs.discard(gone)
        return read(path)

    monkeypatch.setattr(torch_envs, "read_record", removed_meanwhile)
    assert [env.name for env in torch_envs.known()] == ["kept"]


def test_what_an_interpreter_holds_is_told_without_importing_its_torch(tmp_path: Path) -> None:
    python = fake_torch.python(tmp_path / "python", "9.9.1")
    (init,) = tmp_path.rglob("torch/__init__.py")
    init.write_text("raise OSError('no CUDA')\n")

    found = interpreters.facts(str(python))

    assert (found.torch, found.release, found.torch_git) == ("9.9.1+fake", "9.9.1", fake_torch.GIT)
    assert {"numpy", "rich"} <= set(found.lacking)
    with pytest.raises(UnavailableError, match="OSError: no CUDA"):
        interpreters.require_torch(str(python))


def test_what_cannot_be_run_is_said(tmp_path: Path) -> None:
    old = tmp_path / "old"
    old.write_text("""#!/bin/sh\necho 'pcbench is told: {"python": "3.10.1"}'\n""")
    mute = tmp_path / "mute"
    mute.write_text("#!/bin/sh\necho '{}'\n")
    for script in (old, mute):
        script.chmod(0o755)

    with pytest.raises(UnavailableError, match=r"is Python 3.10.1; pcbench needs 3.11"):
        interpreters.facts(str(old))
    with pytest.raises(UnavailableError, match=r"mute does not answer as a Python does"):
        interpreters.facts(str(mute))
    with pytest.raises(UnavailableError, match=r"none cannot be run: No such file"):
        interpreters.facts(str(tmp_path / "none"))


def test_what_an_interpreter_s_start_up_code_prints_is_not_taken_for_its_answer(tmp_path: Path) -> None:
    python = fake_torch.python(tmp_path / "python", "9.9.1")
    code = "import atexit, os\nos.write(1, b'\\xff {} no end of line')\natexit.register(print, '{}')\n"
    (git_history.site_packages(tmp_path / "python") / "sitecustomize.py").write_text(code)

    assert interpreters.facts(str(python)).torch == "9.9.1+fake"


def test_pcbench_s_requirements_leave_torch_and_extras_out() -> None:
    assert {"numpy", "asv", "asv-runner", "rich"} <= set(interpreters.dependencies())
    assert {"torch", "transformers"}.isdisjoint(interpreters.dependencies())


def test_a_process_of_another_interpreter_imports_the_running_pcbench_and_not_its_own(tmp_path: Path) -> None:
    python = fake_torch.python(tmp_path / "python", "9.9.1")
    (site,) = (tmp_path / "python" / "lib").glob("python*/site-packages")
    (site / "pcbench").mkdir()
    (site / "pcbench" / "__init__.py").touch()
    (tmp_path / "packages").mkdir()
    variables = torch_envs.exposed(tmp_path / "packages")
    env = {name: value for name, value in variables.items() if value is not None}
    code = "import pcbench, pcbench_kernels; print(pcbench.__file__); print(pcbench_kernels.__file__)"

    said = subprocess.check_output([python, "-P", "-c", code], env=env, text=True).split()

    here = Path(pcbench.__file__).parent
    assert [Path(file).resolve().parent for file in said] == [here, here.parent / "kernels"]


@pytest.mark.usefixtures("root")
def test_users_share_an_environment_and_only_one_may_change_it() -> None:
    def used(*, alone: bool) -> AbstractContextManager[object]:
        return torch_envs.held("9.9.1", alone=alone)

    with used(alone=False), used(alone=False), pytest.raises(PcbenchError, match=r"9.9.1 is in use"), used(alone=True):
        pytest.fail("it was in use")
    with used(alone=True), pytest.raises(PcbenchError, match=r"9.9.1 is in use"), used(alone=False):
        pytest.fail("it was being changed")
    with used(alone=True):
        pass


def test_what_an_interrupted_removal_left_goes_with_the_next(root: Path) -> None:
    kept, gone = adopted(root, "kept", Path("/a")), adopted(root, "gone", Path("/b"))
    (root / ".removed-older-1").mkdir()

    torch_envs.discard(gone)

    assert list(root.iterdir()) == [kept]
