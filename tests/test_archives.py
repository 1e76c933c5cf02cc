"""Archives that torch would unpack: what is refused before it does."""

from __future__ import annotations

import stat
import zipfile
from pathlib import Path

import pytest

from pcbench import archives
from pcbench.errors import ArtifactError


def archive(tmp_path: Path, *entries: tuple[zipfile.ZipInfo | str, bytes]) -> Path:
    path = tmp_path / "model.pt2"
    with zipfile.ZipFile(path, "w") as made:
        for name, content in (("model/version", b"1"), *entries):
            made.writestr(name, content)
    return path


def refused(tmp_path: Path) -> ArtifactError:
    with pytest.raises(ArtifactError) as caught:
        archives.check(tmp_path / "model.pt2", tmp_path / "model.pt2")
    assert caught.value.layer == "archive"
    return caught.value


def entry(name: str, mode: int = 0o600, compressed: int = zipfile.ZIP_STORED) -> zipfile.ZipInfo:
    made = zipfile.ZipInfo(name)
    made.external_attr, made.compress_type = mode << 16, compressed
    return made


def test_an_archive_as_torch_writes_it_is_taken(tmp_path: Path) -> None:
    path = archive(tmp_path, ("model/data/weights", b"w" * 100))

    archives.check(path, path)


@pytest.mark.parametrize("name", ["../x", "model/../../x", "/etc/x", "..\\x", "C:\\x", "C:x", "\\x"])
def test_an_archive_with_a_path_that_leaves_it_is_refused(tmp_path: Path, name: str) -> None:
    archive(tmp_path, (entry(name), b"x"))

    assert "model.pt2 holds a path that leaves it" in refused(tmp_path).problem


def test_an_archive_with_a_link_is_refused(tmp_path: Path) -> None:
    archive(tmp_path, (entry("model/link", stat.S_IFLNK | 0o777), b"/etc"))

    assert "holds a path that leaves it: 'model/link'" in refused(tmp_path).problem


def test_an_archive_with_two_entries_of_one_name_is_refused(tmp_path: Path) -> None:
    with pytest.warns(UserWarning, match="Duplicate name"):
        archive(tmp_path, ("model/a", b"1"), ("model/a", b"2"))

    assert "holds two entries of one name" in refused(tmp_path).problem


def test_an_archive_with_a_compressed_entry_is_refused(tmp_path: Path) -> None:
    archive(tmp_path, (entry("model/a", compressed=zipfile.ZIP_DEFLATED), b"0" * 10**6))

    assert "holds a compressed entry, as torch writes none" in refused(tmp_path).problem


@pytest.mark.parametrize("field", [20, 24], ids=["compressed", "whole"])
def test_an_archive_that_states_4_gb_is_refused(tmp_path: Path, field: int) -> None:
    path = archive(tmp_path, ("model/a", b"1" * 1000))
    content = path.read_bytes()
    at = content.rindex(b"PK\x01\x02") + field
    path.write_bytes(content[:at] + b"\xf0\xff\xff\xff" + content[at + 4 :])

    assert "states more bytes than it holds" in refused(tmp_path).problem


def test_an_archive_that_names_an_entry_in_two_ways_is_refused(tmp_path: Path) -> None:
    path = archive(tmp_path, ("model/weights", b"1"))
    path.write_bytes(path.read_bytes().replace(b"model/weights", b"model/WEIGHTS", 1))

    assert "is no zip archive: File name in directory" in refused(tmp_path).problem


def test_an_archive_of_two_folders_is_refused(tmp_path: Path) -> None:
    archive(tmp_path, ("other/a", b"1"))

    assert "does not hold one folder, as torch writes it" in refused(tmp_path).problem


@pytest.mark.parametrize("content", [b"", b"PK", b"PK\x05\x06" + b"\xff" * 18, b"x" * 10_000])
def test_what_is_no_archive_is_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "model.pt2").write_bytes(content)

    assert "model.pt2 is no zip archive" in refused(tmp_path).problem
