"""Writes files whole or not at all: aside, in the same folder, then in the place of what was there."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def aside(path: Path) -> Iterator[Path]:
    """The path to write to instead; it takes the file's place where the block ends without an exception.

    If it does not, a full disk or Ctrl-C, say, the file stays as it was and nothing is left beside it. A link stays
    one, a device or a pipe is written to itself.

    Raises:
        OSError: It cannot be put in place.
    """
    whole = path.resolve()
    if whole.exists() and not whole.is_file():
        yield whole
        return
    beside = whole.with_name(f".{whole.name}.{os.getpid()}")
    try:
        yield beside
        beside.replace(whole)
    finally:
        beside.unlink(missing_ok=True)


def write_whole(path: Path, content: bytes) -> None:
    """Write a file, or leave what was there.

    Raises:
        OSError: It cannot be written.
    """
    with aside(path) as beside:
        beside.write_bytes(content)
