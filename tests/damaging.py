"""How an artifact is damaged: each function takes its folder, a random generator, and another strategy's artifact."""

from __future__ import annotations

import json
import os
import shutil
import stat
import struct
import zipfile
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

from pcbench import manifest

Apply = Callable[[Path, Random, Path], None]

HUGE = 10 * 2**30
NUMBERS: tuple[object, ...] = (0, -1, True, HUGE, 10**400, 1e308, float("nan"))
WRONG: tuple[object, ...] = (*NUMBERS, None, "", "x", "\ud800", "\x00", "é" * 5000, [], {}, [[[]]], {"a": []})
NAMES = ("../x", "/etc/x", "", ".", "a//b", "a/../../x", "a/", "x\0y", "\ud800", "manifest.json", "x" * 5000, "a\n/b")


def files(folder: Path) -> list[Path]:
    """The payload's."""
    return sorted(p for p in folder.rglob("*") if p.is_file() and p.name not in manifest.OWN_FILES)


def one(folder: Path, rng: Random) -> Path:
    return rng.choice(files(folder))


def flip(path: Path, rng: Random, start: int = 0) -> None:
    content = bytearray(path.read_bytes())
    for _ in range(rng.choice((1, 1, 8))):
        content[rng.randrange(max(0, start % len(content)), len(content))] ^= 1 << rng.randrange(8)
    path.write_bytes(content)


def truncate(path: Path, rng: Random) -> None:
    os.truncate(path, rng.randrange(path.stat().st_size))


def replace(path: Path, make: Callable[[Path], object]) -> None:
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink()
    make(path)


def link(path: Path) -> None:
    """Move the file or folder away, and leave a link to it in its place."""
    aside = path.parent.parent / "aside"
    shutil.rmtree(aside, ignore_errors=True)
    aside.mkdir()
    path.rename(aside / path.name)
    path.symlink_to(aside / path.name)


def swap(folder: Path, rng: Random, other: Path) -> None:
    shutil.copyfile(one(other, rng), one(folder, rng))


def other_manifest(folder: Path, rng: Random, other: Path) -> None:
    for name in manifest.OWN_FILES[: rng.choice((1, 2))]:
        shutil.copyfile(other / name, folder / name)


def deep(folder: Path, rng: Random, other: Path) -> None:  # noqa: ARG001
    path = folder
    for _ in range(rng.choice((70, 200))):
        path = path / "d"
        path.mkdir()


def edited(edit: Callable[[dict[str, Any], Random, Path], None]) -> Apply:
    def apply(folder: Path, rng: Random, other: Path) -> None:  # noqa: ARG001
        path = folder / manifest.FILE
        fields = json.loads(path.read_bytes())
        edit(fields, rng, folder)
        path.write_text(json.dumps(fields))

    return apply


def raw(make: Callable[[bytes], bytes]) -> Apply:
    def apply(folder: Path, rng: Random, other: Path) -> None:  # noqa: ARG001
        path = folder / manifest.FILE
        path.write_bytes(make(path.read_bytes()))

    return apply


def any_field(fields: dict[str, Any], rng: Random, folder: Path) -> None:  # noqa: ARG001
    """Another value for a field at any depth, or none, or one more."""
    at: Any = fields
    while True:
        key = rng.choice(sorted(at) if isinstance(at, dict) else range(len(at)))
        if not isinstance(at[key], dict | list) or not at[key] or rng.random() < 0.3:
            break
        at = at[key]
    what = rng.random()
    if what < 0.1:
        del at[key]
    elif what < 0.2 and isinstance(at, dict):
        at["more"] = at[key]
    else:
        at[key] = rng.choice(WRONG)


_ELSEWHERE: dict[str, object] = {
    "torch": "2.14.1", "torch_git": "0" * 40, "triton": "1.0", "python": "3.10.0", "device": "cuda:9", "isa": "RVV",
    "arch": "riscv64", "threads": 64, "features": ["avx1024"],
}  # fmt: skip


def elsewhere(fields: dict[str, Any], rng: Random, folder: Path) -> None:  # noqa: ARG001
    name = rng.choice(sorted(_ELSEWHERE))
    if name == "arch":  # is looked at where there is machine code
        fields["platform"]["isa"] = "DEFAULT"
    fields["platform"][name] = _ELSEWHERE[name]


def more_files(fields: dict[str, Any], rng: Random, folder: Path) -> None:
    name = rng.choice((*NAMES, f"{files(folder)[0].name}/x"))
    fields["files"][name] = next(iter(fields["files"].values()))


def declared(fields: dict[str, Any], rng: Random, folder: Path) -> None:  # noqa: ARG001
    fields["files"][rng.choice(sorted(fields["files"]))]["bytes"] = rng.choice((HUGE, 0, 2**70, -1))


def sparse(folder: Path, rng: Random, other: Path, *, told: bool) -> None:  # noqa: ARG001
    """A file of 10 GB that takes no room; where the manifest tells so, of 10 GB more than there is room for."""
    path = one(folder, rng)
    room = os.statvfs(folder)
    size = HUGE + told * room.f_blocks * room.f_frsize
    os.truncate(path, size)
    if told:
        fields = json.loads((folder / manifest.FILE).read_bytes())
        fields["files"][path.name]["bytes"] = size
        (folder / manifest.FILE).write_text(json.dumps(fields))


def modes(folder: Path, rng: Random, other: Path) -> None:  # noqa: ARG001
    path = rng.choice([folder, *folder.iterdir()])
    path.chmod(stat.S_IMODE(path.stat().st_mode) | rng.choice((stat.S_IWGRP, stat.S_IWOTH)))


def signature(folder: Path, rng: Random, other: Path) -> None:
    path = folder / manifest.SIGNATURE
    words = path.read_text().split()
    kind, key, digest = words
    made: tuple[bytes | None, ...] = (
        None, b"", b"\0" * 100, "hmac-sha256 é é".encode(), b"\xff\xfe" * 40, f"{kind} {key}".encode(),
        f"{kind} {'0' * 12} {digest}".encode(), f"{kind} {key} {'0' * 64}".encode(), f"none {key} {digest}".encode(),
        b" " * 10**5, (other / manifest.SIGNATURE).read_bytes(),
    )  # fmt: skip
    content = rng.choice(made)
    if content is None:
        path.unlink()
    else:
        path.write_bytes(content)


def own_file(make: Callable[[Path], object]) -> Apply:
    return lambda folder, rng, other: replace(folder / rng.choice(manifest.OWN_FILES), make)


_ENTRIES: tuple[tuple[str, int, int], ...] = (
    ("../x", 0, 0), ("/tmp/x", 0, 0), ("model/../../x", 0, 0), ("..\\x", 0, 0), ("C:\\x", 0, 0), ("", 0, 0),
    ("archive/version", 0, 0), ("model/link", stat.S_IFLNK | 0o777, 0), ("model/z", 0, zipfile.ZIP_DEFLATED),
    ("model/z", 0, zipfile.ZIP_LZMA),
)  # fmt: skip


def entry(folder: Path, rng: Random, other: Path) -> None:  # noqa: ARG001
    """One more entry, that must not be there."""
    path = folder / "model.pt2"
    name, mode, compression = rng.choice(_ENTRIES)
    with zipfile.ZipFile(path, "a") as archive:
        entry = zipfile.ZipInfo(archive.namelist()[0] if name == "archive/version" else name)
        entry.external_attr, entry.compress_type = mode << 16, compression
        archive.writestr(entry, b"1" * 100)


def entry_size(folder: Path, rng: Random, other: Path) -> None:  # noqa: ARG001
    """An entry that states a size of almost 4 GB, in the directory of the archive."""
    path = folder / "model.pt2"
    content = bytearray(path.read_bytes())
    at = content.rindex(b"PK\x01\x02")
    struct.pack_into("<I", content, at + rng.choice((20, 24)), 0xFFFFFFF0)
    path.write_bytes(content)


def archive_end(folder: Path, rng: Random, other: Path) -> None:  # noqa: ARG001
    path = folder / "model.pt2"
    size = path.stat().st_size
    if rng.random() < 0.3:
        os.truncate(path, size - rng.randrange(1, 600))
    else:
        flip(path, rng, start=size - 600)


def folder_more(folder: Path, rng: Random, other: Path) -> None:  # noqa: ARG001
    (folder / "x").mkdir()
    (folder / "x" / "y").touch()


def unknown(fields: dict[str, Any], rng: Random, folder: Path) -> None:  # noqa: ARG001
    fields["strategy"] = rng.choice(("x", "../aoti", "\x1b[2J" * 99))


def device_of(path: Path) -> None:
    """A device that gives zeros without end."""
    os.mknod(path, 0o600 | stat.S_IFCHR, os.makedev(1, 5))


def fifo_of(path: Path) -> None:
    os.mkfifo(path)


def touch(folder: Path, rng: Random, other: Path) -> None:  # noqa: ARG001
    for path in folder.iterdir():
        os.utime(path, (0, 0))
        path.chmod(rng.choice((0o400, 0o600, 0o644, 0o755)))


UNREAD = ("fingerprint", "weights", "inputs")
"""Fields that say something to people, and that no load reads."""


def unread(fields: dict[str, Any], rng: Random, folder: Path) -> None:  # noqa: ARG001
    name = rng.choice(UNREAD)
    fields[name] = ["something else"] if name == "inputs" else "something else"
