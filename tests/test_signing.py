"""The key that manifests are signed with: who may read it, when it is made, and what a wrong one says."""

from __future__ import annotations

import fcntl
import os
import signal
import stat
import subprocess
import sys
from pathlib import Path
from typing import IO

import pytest

from pcbench import signing
from pcbench.errors import ArtifactError, PcbenchError

WHAT = Path("artifact")


@pytest.fixture
def key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where this user's key will be: there is none yet."""
    monkeypatch.delenv(signing.KEYFILE)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    return tmp_path / "data" / "pcbench" / "key"


@pytest.fixture
def shared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A key that PCBENCH_KEYFILE names."""
    path = tmp_path / "shared"
    path.touch(0o600)
    path.write_text("k" * 64)
    monkeypatch.setenv(signing.KEYFILE, str(path))
    return path


def test_what_was_signed_is_verified(key: Path) -> None:
    signature = signing.sign(b"text")

    signing.verify(b"text", signature.encode(), WHAT)
    assert signing.path() == key


def test_another_text_is_refused() -> None:
    with pytest.raises(ArtifactError, match="artifact was changed after it was signed") as refused:
        signing.verify(b"texd", signing.sign(b"text").encode(), WHAT)

    assert refused.value.layer == "signature"


def test_a_key_is_made_on_first_use_for_this_user_alone(key: Path) -> None:
    signing.sign(b"text")

    assert stat.S_IMODE(key.stat().st_mode) == 0o600
    assert stat.S_IMODE(key.parent.stat().st_mode) == 0o700
    assert [path.name for path in key.parent.iterdir()] == ["key"]


def test_verifying_makes_no_key_and_says_that_there_is_none(key: Path, shared: Path) -> None:
    signature = signing.sign(b"text")
    os.environ.pop(signing.KEYFILE)

    with pytest.raises(ArtifactError, match=f"this user has no key .*set {signing.KEYFILE}") as refused:
        signing.verify(b"text", signature.encode(), WHAT)

    assert (refused.value.layer, key.exists(), shared.exists()) == ("signature", False, True)


def test_another_users_key_is_told_from_a_change(shared: Path) -> None:
    signature = signing.sign(b"text")
    shared.write_text("l" * 64)

    with pytest.raises(ArtifactError, match=r"was signed with the key \w{12}, this user has \w{12}"):
        signing.verify(b"text", signature.encode(), WHAT)


@pytest.mark.parametrize(
    "signature",
    [
        b"",
        b"\xff\xfe" * 40,
        "hmac-sha256 é é".encode(),
        b"md5 a b",
        b"hmac-sha256 a",
        b"hmac-sha256 \x1b[2J " + b"a" * 64,
    ],
)
def test_a_damaged_signature_is_refused(signature: bytes) -> None:
    with pytest.raises(ArtifactError, match="the signature of artifact is damaged"):
        signing.verify(b"text", signature, WHAT)


def test_a_shared_key_that_is_not_there_is_not_made(shared: Path) -> None:
    shared.unlink()

    with pytest.raises(PcbenchError, match=r"PCBENCH_KEYFILE names .*shared, and there is no such file .*umask 077"):
        signing.sign(b"text")
    assert not shared.exists()


@pytest.mark.parametrize("mode", [0o644, 0o604, 0o602, 0o620, 0o660, 0o777])
def test_a_key_that_others_can_read_or_write_is_not_used(shared: Path, mode: int) -> None:
    shared.chmod(mode)

    with pytest.raises(PcbenchError, match=r"can be read or written by others .*chmod 600"):
        signing.sign(b"text")


def test_a_key_may_be_read_by_a_group(shared: Path) -> None:
    shared.chmod(0o640)

    signing.verify(b"text", signing.sign(b"text").encode(), WHAT)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file away")
def test_another_users_key_is_not_used(shared: Path) -> None:
    os.chown(shared, 12345, -1)

    with pytest.raises(PcbenchError, match="belongs to another user, with the id 12345"):
        signing.sign(b"text")


@pytest.mark.parametrize("text", ["", "\n \n", "k" * 31])
def test_a_key_that_was_cut_short_is_not_used(key: Path, text: str) -> None:
    signing.sign(b"text")
    key.write_text(text)

    with pytest.raises(PcbenchError, match=r"has \d+ bytes, and 32 are the least .remove it for a new one"):
        signing.sign(b"text")


def test_a_pipe_for_a_key_is_not_waited_for(shared: Path) -> None:
    shared.unlink()
    os.mkfifo(shared, 0o600)

    with pytest.raises(PcbenchError, match="is no regular file"):
        signing.sign(b"text")


def test_a_key_that_cannot_be_made_is_said(key: Path) -> None:
    key.parent.parent.mkdir()
    (key.parent).symlink_to("gone")

    with pytest.raises(PcbenchError, match=f"could not be made in .*: .* .name another in {signing.KEYFILE}"):
        signing.sign(b"text")


def test_a_user_without_a_home_is_told_what_to_set(key: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def no_home() -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.delenv("XDG_DATA_HOME")
    monkeypatch.setattr(Path, "home", no_home)

    with pytest.raises(PcbenchError, match="no home folder to keep data in"):
        signing.sign(b"text")
    assert not key.exists()


def test_a_key_that_another_process_made_meanwhile_stays(key: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = fcntl.flock

    def late(file: IO[str], how: int) -> None:
        aside = key.with_name("key.new")
        if aside.exists():
            aside.write_text("k" * 64)
            aside.rename(key)
        real(file, how)

    monkeypatch.setattr(fcntl, "flock", late)
    signing.sign(b"text")

    assert key.read_text() == "k" * 64


def test_a_key_that_was_made_just_before_its_lock_was_opened_stays(key: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real, made = os.open, []

    def late(path: Path, *words: int) -> int:
        if Path(path).name == "key.new" and not made:
            made.append(path)
            signing.sign(b"text")
        return real(path, *words)

    monkeypatch.setattr(os, "open", late)
    signature = signing.sign(b"text")

    signing.verify(b"text", signature.encode(), Path("model"))
    assert list(key.parent.iterdir()) == [key]


def test_a_key_that_one_folder_alone_finds_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(signing.KEYFILE, "key")

    with pytest.raises(PcbenchError, match="is key, which is no whole path"):
        signing.path()


def test_what_a_killed_process_left_of_a_key_is_written_anew(key: Path) -> None:
    key.parent.mkdir(parents=True)
    key.with_name("key.new").write_text("k" * 200)
    key.with_name("key.new").chmod(0o600)
    signing.sign(b"text")

    assert len(key.read_text().strip()) == 64
    assert "k" not in key.read_text()


SIGN = "from pcbench import signing; print(signing.sign(b'text'), end='')"
DIE_AT = """
import os, signal, sys
seen = 0
def hook(event, args):
    global seen
    writes = event in ("os.mkdir", "os.rename", "os.remove", "os.truncate", "fcntl.flock")
    if writes or event == "open" and (args[2] or 0) & os.O_ACCMODE:
        seen += 1
        if seen == {at}:
            os.kill(os.getpid(), signal.SIGKILL)
"""


def test_all_of_many_processes_that_make_the_key_at_once_get_the_same(key: Path) -> None:
    running = [subprocess.Popen([sys.executable, "-c", SIGN], stdout=subprocess.PIPE) for _ in range(12)]
    signatures = {process.communicate()[0] for process in running}

    assert len(signatures) == 1
    signing.verify(b"text", signatures.pop(), WHAT)
    assert [path.name for path in key.parent.iterdir()] == ["key"]


def test_a_process_that_is_killed_while_it_makes_the_key_leaves_a_whole_one_or_none(key: Path) -> None:
    killed = 0
    for at in range(1, 100):
        program = DIE_AT.format(at=at) + "from pcbench import signing\nsys.addaudithook(hook)\nsigning.sign(b'text')"
        ended = subprocess.run([sys.executable, "-c", program], check=False)
        if key.exists():
            assert len(key.read_text().strip()) == 64
        if ended.returncode == 0:
            break
        assert ended.returncode == -signal.SIGKILL
        killed += 1
        signing.verify(b"text", signing.sign(b"text").encode(), WHAT)
        assert [path.name for path in key.parent.iterdir()] == ["key"]
        key.unlink()

    assert killed >= 4
