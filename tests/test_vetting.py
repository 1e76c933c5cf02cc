"""What an artifact is refused for, check by check."""

from __future__ import annotations

import os
import stat
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
import signed_artifact
from signed_artifact import refused, sign

from pcbench import manifest, vetting

FDS = Path("/proc/self/fd")
ROOT_ONLY = pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file away")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return signed_artifact.make(tmp_path / "artifact")


def test_the_copy_holds_the_payload_and_nothing_else(folder: Path, tmp_path: Path) -> None:
    found = vetting.checked_copy(folder, tmp_path / "copy")

    assert found == manifest.parse((folder / manifest.FILE).read_bytes(), folder)
    assert manifest.listed(tmp_path / "copy") == dict(found.files)
    assert {p.name for p in (tmp_path / "copy").iterdir()} == {"payload", "below"}
    assert stat.S_IMODE((tmp_path / "copy").stat().st_mode) == 0o700


@pytest.mark.parametrize("name", ["", "payload", "below", "below/kernel.so", manifest.FILE, manifest.SIGNATURE])
@pytest.mark.parametrize("bit", [stat.S_IWGRP, stat.S_IWOTH])
def test_what_others_can_write_is_refused(folder: Path, name: str, bit: int) -> None:
    path = folder / name
    path.chmod(stat.S_IMODE(path.stat().st_mode) | bit)

    error = refused(folder)
    assert (error.layer, error.problem) == ("owner", f"{path} can be written by other users")


@ROOT_ONLY
@pytest.mark.parametrize("name", ["", "payload", "below", manifest.FILE])
def test_what_another_user_owns_is_refused(folder: Path, name: str) -> None:
    os.chown(folder / name, 12345, -1)

    error = refused(folder)
    assert (error.layer, "belongs to another user, with the id 12345" in error.problem) == ("owner", True)


@ROOT_ONLY
def test_trust_takes_what_another_user_owns_can_write_and_did_not_sign(folder: Path, tmp_path: Path) -> None:
    os.chown(folder, 12345, -1)
    (folder / "payload").chmod(0o666)
    (folder / manifest.SIGNATURE).unlink()

    vetting.checked_copy(folder, tmp_path / "copy", trust=True)


def test_what_is_no_folder_is_no_artifact(tmp_path: Path) -> None:
    (tmp_path / "file").touch()

    assert "is no artifact: No such file" in refused(tmp_path / "gone").problem
    assert "is no artifact: Not a directory" in refused(tmp_path / "file").problem


def test_a_folder_without_a_manifest_is_no_artifact(folder: Path) -> None:
    (folder / manifest.FILE).unlink()

    assert (error := refused(folder)).layer == "format"
    assert error.problem.endswith("is no artifact: it has no manifest.json")


@pytest.mark.parametrize("name", manifest.OWN_FILES)
@pytest.mark.parametrize("make", [Path.mkdir, os.mkfifo, lambda path: path.write_bytes(b" " * 2**25)])
def test_a_manifest_or_signature_that_is_no_file_of_its_size_is_refused(
    folder: Path, name: str, make: Callable[[Path], object]
) -> None:
    (folder / name).unlink()
    make(folder / name)
    (folder / name).chmod(0o700)

    problem = refused(folder).problem
    assert f"{name} is no file of at most" in problem or problem == f"{folder} is not signed"


@pytest.mark.skipif(not FDS.exists(), reason="only Linux lists a process's open files")
@pytest.mark.parametrize("name", ["payload", manifest.FILE])
def test_a_refusal_leaves_no_file_open(folder: Path, name: str) -> None:
    (folder / name).unlink()
    (folder / name).mkdir(0o700)
    before = len(list(FDS.iterdir()))
    refused(folder)

    assert len(list(FDS.iterdir())) == before


def test_what_was_not_signed_is_refused(folder: Path) -> None:
    (folder / manifest.SIGNATURE).unlink()

    error = refused(folder)
    assert (error.layer, error.problem) == ("signature", f"{folder} is not signed")


def test_a_manifest_that_was_changed_is_refused(folder: Path) -> None:
    path = folder / manifest.FILE
    path.write_text(path.read_text().replace('"grad": false', '"grad": true'))

    error = refused(folder)
    assert (error.layer, error.problem) == ("signature", f"{folder} was changed after it was signed")


def changed(folder: Path) -> None:
    (folder / "payload").write_bytes(b"weightz")


def longer(folder: Path) -> None:
    (folder / "payload").write_bytes(b"weights!")


def gone(folder: Path) -> None:
    (folder / "payload").unlink()


def piped(folder: Path) -> None:
    gone(folder)
    os.mkfifo(folder / "payload", 0o600)


def foldered(folder: Path) -> None:
    gone(folder)
    (folder / "payload").mkdir(0o700)


def sparse(folder: Path) -> None:
    os.truncate(folder / "payload", 10 * 2**30)


def more(folder: Path) -> None:
    (folder / "below" / "more").touch(0o600)


def deep(folder: Path) -> None:
    for depth in range(1, 100):
        folder.joinpath(*["d"] * depth).mkdir(mode=0o700)


def linked(folder: Path) -> None:
    (folder / "payload").rename(folder.parent / "payload")
    (folder / "payload").symlink_to(folder.parent / "payload")


def linked_below(folder: Path) -> None:
    (folder / "below").rename(folder.parent / "below")
    (folder / "below").symlink_to(folder.parent / "below")


def linked_more(folder: Path) -> None:
    (folder / "more").symlink_to("/etc")


@pytest.mark.parametrize("trust", [False, True])
@pytest.mark.parametrize(
    ("damage", "layer", "words"),
    [
        (changed, "files", "payload was changed after it was saved: its bytes are not those that were saved"),
        (longer, "files", "payload was changed after it was saved: it has 8 bytes, and had 7"),
        (sparse, "files", "it has 10,737,418,240 bytes, and had 7"),
        (gone, "files", "lacks its file payload"),
        (piped, "files", "payload is no regular file"),
        (foldered, "files", "payload is no regular file"),
        (more, "extra", "below/more is not part of the artifact"),
        (deep, "extra", "holds folders more than 64 deep"),
        (linked, "paths", "payload is a link, and an artifact has none"),
        (linked_below, "paths", "below is a link"),
        (linked_more, "paths", "more is a link"),
    ],
)
def test_damage_is_refused_by_its_own_layer_trusted_or_not(
    folder: Path, damage: Callable[[Path], None], layer: str, words: str, trust: bool
) -> None:
    damage(folder)

    error = refused(folder, trust=trust)
    assert (error.layer, words in error.problem) == (layer, True), error


def test_a_link_to_an_artifact_is_followed(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "current").symlink_to(folder)

    vetting.checked_copy(tmp_path / "current", tmp_path / "copy")


def test_an_archive_is_checked_before_torch_unpacks_it(folder: Path) -> None:
    with zipfile.ZipFile(folder / "model.pt2", "w") as made:
        made.writestr("../x", b"x")
    sign(folder)

    assert (error := refused(folder, trust=True)).layer == "archive"
    assert f"{folder / 'model.pt2'} holds a path that leaves it" in error.problem
