"""A signed artifact that no strategy made, for tests of what it is refused for."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from pcbench import manifest, signing, vetting
from pcbench.errors import ArtifactError
from pcbench.manifest import File, Manifest, Platform

HERE = Platform("2.15.0", "abc", "3.9.0", "3.11.7", "cpu", "AVX2", "x86_64", 2)


def make(made: Path) -> Path:
    (made / "below").mkdir(parents=True, mode=0o700)
    (made / "payload").write_bytes(b"weights")
    (made / "below" / "kernel.so").write_bytes(b"code" * 1000)
    sign(made)
    return made


def sign(made: Path, edit: Callable[[Manifest], Manifest] = lambda found: found) -> None:
    """List the files as they are, edit the manifest, write and sign it."""
    listed = Manifest("aoti", "baked", HERE, False, (), (), "f", manifest.listed(made))
    text = manifest.text_of(edit(listed))
    (made / manifest.FILE).write_bytes(text)
    (made / manifest.SIGNATURE).write_text(signing.sign(text))
    for path in (made, *made.rglob("*")):
        if not path.is_symlink():
            path.chmod(0o700 if path.is_dir() else 0o600)


def named(*names: str) -> Callable[[Manifest], Manifest]:
    return lambda found: replace(found, files=dict(found.files) | {name: File(7, "ab") for name in names})


def refused(made: Path, *, trust: bool = False) -> ArtifactError:
    with pytest.raises(ArtifactError) as caught:
        vetting.checked_copy(made, made.parent / "copy", trust=trust)
    shutil.rmtree(made.parent / "copy", ignore_errors=True)
    return caught.value
