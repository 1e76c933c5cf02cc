"""Whether an artifact is to be trusted, before anything in it is unpickled, executed or mapped. Needs no torch.

Each file is read once, into a private copy: what was checked is what is loaded, whatever becomes of the folder.
"""

from __future__ import annotations

import errno
import hashlib
import os
import stat
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import IO

from pcbench import archives, manifest, signing
from pcbench.errors import ArtifactError
from pcbench.manifest import File, Manifest

LAYERS = ("owner", "format", "signature", "paths", "files", "extra", "archive", "platform")
"""What an artifact is checked for, in this order; the last by :func:`pcbench.manifest.check`."""

_LARGEST_MANIFEST = 16 * 2**20
_LARGEST_SIGNATURE = 4096
_CHUNK = 2**20
_DEEPEST = 64
_LONGEST_NAME = 1024
_INSIDE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


def checked_copy(folder: Path, into: Path, *, trust: bool = False) -> Manifest:
    """Copy the files of the artifact in ``folder`` to ``into``, which is made, and check all of them on the way.

    Args:
        folder: The artifact's.
        into: A path that is not there yet, in a folder that nobody else can write to.
        trust: Do without a signature, and take another user's files. Loading then runs whatever code they hold.

    Raises:
        ArtifactError: It is refused; ``layer`` says by which check. ``into`` may hold a part of it then.
        PcbenchError: The user's own key cannot be used.
    """
    with _opened(folder) as top:
        _require_manifest(top, folder)
        sizes, links = _walk(top, folder, own=not trust)
        text = _read(top, manifest.FILE, folder, _LARGEST_MANIFEST)
        found = manifest.parse(text, folder / manifest.FILE)
        if not trust:
            _require_signature(top, text, folder, sizes)
        if links:
            raise ArtifactError(f"{_shown(folder / links[0])} is a link, and an artifact has none", layer="paths")
        _require_plain(found.files, folder)
        _require_room(found.files, sizes, folder, into)
        into.mkdir(mode=0o700)
        for name, file in found.files.items():
            _copy(top, name, file, folder, into / name)
    extra = sorted(set(sizes) - set(found.files) - set(manifest.OWN_FILES))
    if extra:
        raise ArtifactError(
            f"{_shown(folder / extra[0])} is not part of the artifact", hint="save it again", layer="extra"
        )
    for name in found.files:
        if name.endswith(".pt2"):
            archives.check(into / name, folder / name)
    return found


def _require_manifest(top: int, folder: Path) -> None:
    """Say of a folder that is something else that it is no artifact, whoever may write to it."""
    try:
        os.stat(manifest.FILE, dir_fd=top, follow_symlinks=False)
    except OSError as error:
        raise ArtifactError(
            f"{folder} is no artifact: it has no {manifest.FILE}", hint="save the model again", layer="format"
        ) from error


@contextmanager
def _opened(folder: Path) -> Iterator[int]:
    try:
        top = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError as error:
        raise ArtifactError(f"{folder} is no artifact: {error.strerror}", layer="format") from error
    try:
        yield top
    finally:
        os.close(top)


def _walk(top: int, folder: Path, *, own: bool) -> tuple[dict[str, int], list[str]]:
    """The paths and sizes of everything below the folder that is no folder itself, and the paths of links among them.

    Raises:
        ArtifactError: With ``own``, something in it could be changed by another user.
    """
    if own:
        _require_own(os.fstat(top), folder)
    found: dict[str, int] = {}
    links: list[str] = []
    try:
        for where, folders, files, here in os.fwalk(".", dir_fd=top, onerror=_raise):
            if where.count("/") > _DEEPEST:  # a walk holds a file open for each level
                raise ArtifactError(f"{folder} holds folders more than {_DEEPEST} deep", layer="extra")
            for name in (*folders, *files):
                path = os.path.normpath(Path(where, name))
                state = os.stat(name, dir_fd=here, follow_symlinks=False)
                if own:
                    _require_own(state, folder / path)
                if stat.S_ISLNK(state.st_mode):
                    links.append(path)
                if not stat.S_ISDIR(state.st_mode):
                    found[path] = state.st_size
    except OSError as error:
        raise ArtifactError(f"{folder} cannot be read: {error.strerror}", layer="owner") from error
    return found, links


def _raise(error: OSError) -> None:
    raise error


def _require_own(state: os.stat_result, path: Path) -> None:
    if state.st_uid not in (0, os.geteuid()):
        raise ArtifactError(
            f"{_shown(path)} belongs to another user, with the id {state.st_uid}",
            hint="copy it as this user, or trust it: loading runs its code",
            layer="owner",
        )
    if state.st_mode & (stat.S_IWGRP | stat.S_IWOTH) and not stat.S_ISLNK(state.st_mode):
        raise ArtifactError(
            f"{_shown(path)} can be written by other users",
            hint="if none of them has changed it, take that right from them: chmod -R go-w",
            layer="owner",
        )


def _require_signature(top: int, text: bytes, folder: Path, there: Collection[str]) -> None:
    if manifest.SIGNATURE not in there:
        raise ArtifactError(
            f"{folder} is not signed", hint="save it again, or trust it: loading runs its code", layer="signature"
        )
    signing.verify(text, _read(top, manifest.SIGNATURE, folder, _LARGEST_SIGNATURE), folder)


def _require_plain(files: Collection[str], folder: Path) -> None:
    for name in files:
        path = PurePosixPath(name)
        plain = path.as_posix() == name and ".." not in path.parts and not path.is_absolute() and path.parts != ()
        if not plain or name in manifest.OWN_FILES or not name.isprintable() or len(name) > _LONGEST_NAME:
            raise ArtifactError(f"{folder / manifest.FILE} names a file that is none: {name!r:.200}", layer="paths")
    for name in files:
        twice = [parent for parent in map(str, PurePosixPath(name).parents) if parent in files]
        if twice:
            raise ArtifactError(f"{folder / manifest.FILE} names {twice[0]!r} as file and folder", layer="paths")


def _shown(path: Path) -> str:
    """A path that a stranger may have named, fit for a terminal."""
    return str(path) if str(path).isprintable() else repr(str(path))


def _require_room(files: Mapping[str, File], sizes: Mapping[str, int], folder: Path, into: Path) -> None:
    room = os.statvfs(into.parent)
    # What is stated and is not there needs none: that is refused when it is read.
    if sum(min(file.bytes, sizes.get(name, 0)) for name, file in files.items()) > room.f_bavail * room.f_frsize:
        raise _no_room(folder, into.parent, os.strerror(errno.ENOSPC))


def _no_room(folder: Path, where: Path, why: str) -> ArtifactError:
    return ArtifactError(
        f"{folder} cannot be copied to {where}: {why}", hint="set TMPDIR to a folder with room for the artifact"
    )


def _read(top: int, name: str, folder: Path, largest: int) -> bytes:
    try:
        with _regular(name, top) as file:
            content = None if file is None else file.read(largest + 1)
    except FileNotFoundError as error:
        raise ArtifactError(
            f"{folder} is no artifact: it has no {name}", hint="save the model again", layer="format"
        ) from error
    except OSError as error:
        raise ArtifactError(f"{folder / name} cannot be read: {error.strerror}", layer="format") from error
    if content is None or len(content) > largest:
        raise ArtifactError(
            f"{folder / name} is no file of at most {largest:,} bytes", hint="save the model again", layer="format"
        )
    return content


@contextmanager
def _regular(name: str, top: int) -> Iterator[IO[bytes] | None]:
    """The file, by no link; None for a folder, a pipe and the like, which is not read."""
    opened = os.open(name, _INSIDE, dir_fd=top)
    if stat.S_ISREG(os.fstat(opened).st_mode):
        with os.fdopen(opened, "rb") as file:
            yield file
    else:
        os.close(opened)
        yield None


def _copy(top: int, name: str, file: File, folder: Path, into: Path) -> None:
    digest, left = hashlib.sha256(), file.bytes
    try:
        into.parent.mkdir(parents=True, exist_ok=True)
        with _inside(top, name) as source:
            if source is None:
                raise ArtifactError(f"{folder / name} is no regular file", hint="save it again", layer="files")
            size = os.fstat(source.fileno()).st_size
            if size != file.bytes:
                raise _changed(folder / name, f"it has {size:,} bytes, and had {file.bytes:,}")
            with into.open("xb") as copy:
                while chunk := source.read(min(_CHUNK, left)):
                    digest.update(chunk)
                    copy.write(chunk)
                    left -= len(chunk)
    except FileNotFoundError as error:
        raise ArtifactError(
            f"{folder} lacks its file {name}", hint="copy it whole, or save it again", layer="files"
        ) from error
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
            raise _no_room(folder, into.parent, str(error.strerror)) from error
        raise ArtifactError(f"{folder / name} cannot be read: {error.strerror}", layer="files") from error
    if left or digest.hexdigest() != file.sha256:
        raise _changed(folder / name, "its bytes are not those that were saved")


@contextmanager
def _inside(top: int, name: str) -> Iterator[IO[bytes] | None]:
    """As :func:`_regular`, of a file in folders below."""
    *folders, last = name.split("/")
    held = [top]
    try:
        for part in folders:
            held.append(os.open(part, _INSIDE | os.O_DIRECTORY, dir_fd=held[-1]))
        with _regular(last, held[-1]) as file:
            yield file
    finally:
        for each in held[1:]:
            os.close(each)


def _changed(path: Path, how: str) -> ArtifactError:
    return ArtifactError(f"{path} was changed after it was saved: {how}", hint="save it again", layer="files")
