"""What the fuzz does to an artifact, by the name that its report gives it."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from random import Random

import damaging

from pcbench import manifest

SIGNED, TRUSTED, STALE = "signed again", "trusted", "as it is"
"""How a damaged artifact is presented: signed as what it became, under trust, or with the signature it has."""


@dataclass(frozen=True)
class Damage:
    """A way to damage.

    Attributes:
        apply: Damages the artifact in the folder; the other folder is another strategy's.
        ways: How the result may be presented.
        harmless: Nothing that matters is damaged: it must load, and give the right answer.
        may_pass: Some of what it makes is harmless, and then must give the right answer.
        digests: Where it is signed again, its files are listed anew: what is behind their digests is reached.
        archive: It is for artifacts with a .pt2 archive alone.
        root: It needs root.
    """

    apply: Callable[[Path, Random, Path], None]
    ways: tuple[str, ...] = (SIGNED, TRUSTED, STALE)
    harmless: bool = False
    may_pass: bool = False
    digests: bool = False
    archive: bool = False
    root: bool = False


DAMAGES: dict[str, Damage] = {
    "bits of a file": Damage(lambda f, r, o: damaging.flip(damaging.one(f, r), r)),
    "a file cut short": Damage(lambda f, r, o: damaging.truncate(damaging.one(f, r), r)),
    "a longer file": Damage(lambda f, r, o: os.truncate((p := damaging.one(f, r)), p.stat().st_size + 1)),
    "another artifact's file": Damage(damaging.swap),
    "a missing file": Damage(lambda f, r, o: damaging.one(f, r).unlink()),
    "an extra file": Damage(lambda f, r, o: (f / r.choice(("x.py", ".hidden", "\udc80"))).touch()),
    "an extra file in a folder": Damage(damaging.folder_more),
    "an extra pipe": Damage(lambda f, r, o: os.mkfifo(f / "pipe")),
    "folders without end": Damage(damaging.deep),
    "a folder for a file": Damage(lambda f, r, o: damaging.replace(damaging.one(f, r), Path.mkdir)),
    "a pipe for a file": Damage(lambda f, r, o: damaging.replace(damaging.one(f, r), damaging.fifo_of)),
    "a device for a file": Damage(lambda f, r, o: damaging.replace(damaging.one(f, r), damaging.device_of), root=True),
    "a link for a file": Damage(lambda f, r, o: damaging.link(damaging.one(f, r)), digests=True),
    "an extra link": Damage(lambda f, r, o: (f / "more").symlink_to(r.choice(("/etc", "x", "/", "more")))),
    "a link for the manifest": Damage(lambda f, r, o: damaging.link(f / manifest.FILE), (STALE, TRUSTED)),
    "a link for the signature": Damage(lambda f, r, o: damaging.link(f / manifest.SIGNATURE), (STALE,)),
    "another artifact's manifest": Damage(damaging.other_manifest),
    "a pipe for the manifest or signature": Damage(damaging.own_file(damaging.fifo_of), (STALE,)),
    "a folder for the manifest or signature": Damage(damaging.own_file(Path.mkdir), (STALE,)),
    "no manifest": Damage(lambda f, r, o: (f / manifest.FILE).unlink(), (STALE, TRUSTED)),
    "bits of the manifest": Damage(lambda f, r, o: damaging.flip(f / manifest.FILE, r), may_pass=True),
    "the manifest cut short": Damage(lambda f, r, o: damaging.truncate(f / manifest.FILE, r)),
    "a manifest of 17 MB": Damage(damaging.raw(lambda text: text + b" " * 17 * 2**20)),
    "a manifest nested 100,000 deep": Damage(damaging.raw(lambda text: b'{"format": 3, "files": ' + b"[" * 100_000)),
    "a format nested 9,999 deep": Damage(damaging.raw(lambda text: b'{"format": ' + b"[" * 9999 + b"]" * 9999 + b"}")),
    "a manifest in no encoding": Damage(damaging.raw(lambda text: text.replace(b"torch", b"t\xffrch"))),
    "another format": Damage(damaging.edited(lambda fields, r, f: fields.update(format=r.choice(damaging.WRONG)))),
    "a field of the manifest": Damage(damaging.edited(damaging.any_field), may_pass=True),
    "a manifest from elsewhere": Damage(damaging.edited(damaging.elsewhere)),
    "other gradients": Damage(damaging.edited(lambda fields, rng, folder: fields.update(grad=True))),
    "an unknown strategy": Damage(damaging.edited(damaging.unknown)),
    "a path in the manifest": Damage(damaging.edited(damaging.more_files)),
    "a declared size": Damage(damaging.edited(damaging.declared)),
    "a sparse file of 10 GB": Damage(lambda f, r, o: damaging.sparse(f, r, o, told=False)),
    "a sparse file as declared": Damage(lambda f, r, o: damaging.sparse(f, r, o, told=True)),
    "others may write": Damage(damaging.modes, (SIGNED, STALE)),
    "another owner": Damage(
        lambda f, r, o: os.chown(r.choice([f, *f.iterdir()]), 12345, -1), (SIGNED, STALE), root=True
    ),
    "the signature": Damage(damaging.signature, (STALE,)),
    "an archive's entry": Damage(damaging.entry, (SIGNED,), digests=True, archive=True),
    "an archive's stated size": Damage(damaging.entry_size, (SIGNED,), digests=True, archive=True),
    "an archive's directory": Damage(damaging.archive_end, (SIGNED,), digests=True, archive=True, may_pass=True),
    "nothing": Damage(lambda f, r, o: None, (SIGNED, TRUSTED, STALE), harmless=True),
    "times and modes": Damage(damaging.touch, (STALE,), harmless=True),
    "an empty folder more": Damage(lambda f, r, o: (f / "empty").mkdir(), (STALE,), harmless=True),
    "a field that no load reads": Damage(damaging.edited(damaging.unread), (SIGNED, TRUSTED), harmless=True),
}  # fmt: skip
