"""What was checked is what is loaded, whatever becomes of the folder; and no stated path or size is believed."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest
import signed_artifact
from signed_artifact import HERE, named, refused, sign

from pcbench import manifest, signing, vetting
from pcbench.errors import ArtifactError
from pcbench.manifest import File, Manifest


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return signed_artifact.make(tmp_path / "artifact")


def test_what_is_swapped_after_it_was_checked_changes_nothing(folder: Path, tmp_path: Path) -> None:
    """Each file is opened once: who swaps it when that is done, or writes into it later, is too late."""
    real, opens = vetting._regular, []

    def counted(name: str, top: int) -> object:
        opens.append(name)
        return real(name, top)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(vetting, "_regular", counted)
        vetting.checked_copy(folder, tmp_path / "copy")
    for path in (folder / "payload", folder / "below" / "kernel.so"):
        path.write_bytes(b"stranger's")

    assert sorted(opens) == sorted([*manifest.OWN_FILES, "payload", "kernel.so"])
    assert (tmp_path / "copy" / "payload").read_bytes() == b"weights"
    assert not (tmp_path / "copy" / "payload").samefile(folder / "payload")


def test_a_file_that_is_swapped_while_it_is_copied_is_refused_or_was_read_before(folder: Path, tmp_path: Path) -> None:
    real = manifest.parse

    def swapping(text: bytes, path: Path) -> Manifest:
        (folder / "aside").write_bytes(b"WEIGHTS")
        (folder / "aside").rename(folder / "payload")
        return real(text, path)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(vetting.manifest, "parse", swapping)
        with pytest.raises(ArtifactError, match="payload was changed after it was saved: its bytes are not those"):
            vetting.checked_copy(folder, tmp_path / "copy")


def test_a_folder_that_becomes_a_link_while_it_is_copied_is_not_followed(folder: Path, tmp_path: Path) -> None:
    real = manifest.parse

    def swapping(text: bytes, path: Path) -> Manifest:
        (folder / "below").rename(tmp_path / "aside")
        (folder / "below").symlink_to(tmp_path / "aside")
        return real(text, path)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(vetting.manifest, "parse", swapping)
        with pytest.raises(ArtifactError, match=r"kernel\.so cannot be read: "):
            vetting.checked_copy(folder, tmp_path / "copy")


@pytest.mark.parametrize(
    "name",
    ["../payload", "/etc/passwd", "", ".", "..", "below/../payload", "a//b", "a/", "a\0b", "\ud800", "manifest.sig"],
)
def test_a_path_that_is_none_below_the_folder_is_refused(folder: Path, name: str) -> None:
    sign(folder, named(name))

    error = refused(folder)
    assert (error.layer, "manifest.json names a file that is none" in error.problem) == ("paths", True), error


def test_a_file_that_is_also_a_folder_is_refused(folder: Path) -> None:
    sign(folder, named("payload/x"))

    assert "names 'payload' as file and folder" in refused(folder).problem


def test_a_name_that_is_too_long_is_refused_with_less_than_it(folder: Path) -> None:
    sign(folder, named("x" * 100_000))

    assert (error := refused(folder)).layer == "paths"
    assert len(str(error)) < 2000


def test_a_name_that_a_stranger_gave_cannot_drive_a_terminal(folder: Path) -> None:
    (folder / "\x1b[2J").touch(0o600)

    assert refused(folder).problem.endswith(r"\x1b[2J' is not part of the artifact")


def test_a_declared_size_is_never_read_nor_reserved(folder: Path) -> None:
    sign(folder, lambda found: replace(found, files=dict(found.files) | {"payload": File(10 * 2**60, "ab")}))

    assert (error := refused(folder)).layer == "files"
    assert "it has 7 bytes, and had 11,529,215,046,068,469,760" in error.problem


def test_what_there_is_no_room_for_is_refused_before_it_is_copied(folder: Path, tmp_path: Path) -> None:
    state = os.statvfs(tmp_path)
    size = (state.f_blocks + 1) * state.f_frsize
    os.truncate(folder / "payload", size)
    sign_as = {"payload": File(size, "ab")}
    text = manifest.text_of(Manifest("aoti", "baked", HERE, False, (), (), "f", sign_as))
    (folder / manifest.FILE).write_bytes(text)
    (folder / manifest.SIGNATURE).write_text(signing.sign(text))

    assert "cannot be copied to" in str(error := refused(folder))
    assert "set TMPDIR" in str(error)
    assert not (tmp_path / "copy").exists()
