"""Files that commands write: looked at before minutes are spent on what is to be in them, and written at the end."""

from __future__ import annotations

import io
import os
from pathlib import Path

from matplotlib.figure import Figure

from pcbench.errors import PcbenchError, UsageError


def check_figure(path: Path) -> None:
    """Refuse a file whose ending names no kind of picture.

    Raises:
        UsageError: It does not.
    """
    known = Figure().canvas.get_supported_filetypes()
    if path.suffix.lstrip(".").lower() not in known:
        raise UsageError(f"{path} has no ending that a figure can have", hint=f"one of {', '.join(sorted(known))}")


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


def save_figure(figure: Figure, path: Path) -> None:
    """Write a picture, of the kind that the file's ending names.

    Raises:
        PcbenchError: It could not be written.
    """
    picture = io.BytesIO()
    figure.savefig(picture, format=path.suffix.lstrip(".").lower(), dpi=150)
    write(path, picture.getvalue())


def write(path: Path, content: bytes) -> None:
    """Write a file.

    Raises:
        PcbenchError: It could not be written.
    """
    try:
        path.write_bytes(content)
    except OSError as error:
        raise PcbenchError(f"{path} could not be written: {error.strerror}") from error
