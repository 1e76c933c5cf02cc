"""Whether a .pt2 archive may be unpacked: torch does so into a temporary folder, by the names and sizes it states."""

from __future__ import annotations

import stat
import zipfile
from pathlib import Path

from pcbench.errors import ArtifactError

_ENCRYPTED = 0x1


def check(path: Path, named: Path) -> None:
    """Check that the archive is one as torch writes it: entries that stay below it, stored as they are.

    Args:
        path: The archive.
        named: What it is called in errors.

    Raises:
        ArtifactError: It is not.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            entries = archive.infolist()
            for entry in entries:
                if entry.flag_bits & _ENCRYPTED:
                    raise zipfile.BadZipFile("an entry is encrypted")
                archive.open(entry).close()  # an entry has its name and place twice: they must agree
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError) as error:
        raise ArtifactError(f"{named} is no zip archive: {error}", hint="save it again", layer="archive") from error
    if len({entry.filename for entry in entries}) != len(entries):
        raise ArtifactError(f"{named} holds two entries of one name", layer="archive")
    for entry in entries:
        parts = entry.filename.replace("\\", "/").split("/")
        leaves = ".." in parts or parts[0] == "" or ":" in parts[0] or entry.orig_filename != entry.filename
        if leaves or stat.S_ISLNK(entry.external_attr >> 16):
            raise ArtifactError(f"{named} holds a path that leaves it: {entry.filename!r}", layer="archive")
        if entry.compress_type != zipfile.ZIP_STORED:
            raise ArtifactError(f"{named} holds a compressed entry, as torch writes none", layer="archive")
    if len({entry.filename.split("/")[0] for entry in entries}) != 1:
        raise ArtifactError(f"{named} does not hold one folder, as torch writes it", layer="archive")
    if sum(max(entry.file_size, entry.compress_size) for entry in entries) > path.stat().st_size:
        raise ArtifactError(f"{named} states more bytes than it holds", layer="archive")
