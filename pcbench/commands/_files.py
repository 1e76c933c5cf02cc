"""Files that commands write: looked at before minutes are spent on what is to be in them, and written whole or not."""

from __future__ import annotations

import os
from pathlib import Path

from pcbench import whole_files
from pcbench.errors import PcbenchError, UsageError


def check_writable(path: Path) -> None:
    """Refuse a file that cannot be written, and one that was meant as a target.

    Raises:
        UsageError: It cannot be, or it is Python.
    """
    folder = path.absolute().parent
    if path.is_dir() or not folder.is_dir() or not os.access(path if path.exists() else folder, os.W_OK):
        raise UsageError(
            f"{path} cannot be written", hint="name a file in a folder that exists and that you may write to"
        )
    if path.suffix == ".py":
        raise UsageError(f"{path} would be written over", hint="put the target before the options")


def write(path: Path, content: bytes) -> None:
    """Write a file whole, or leave what was there.

    Raises:
        PcbenchError: It could not be written.
    """
    try:
        whole_files.write_whole(path, content)
    except OSError as error:
        raise PcbenchError(f"{path} could not be written: {error.strerror}") from error
