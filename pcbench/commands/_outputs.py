"""Pictures that commands write: their ending looked at before minutes are spent on what is to be in them."""

from __future__ import annotations

import io
from pathlib import Path

from matplotlib.figure import Figure

from pcbench.commands import _files
from pcbench.errors import UsageError


def check_figure(path: Path) -> None:
    """Refuse a file whose ending names no kind of picture.

    Raises:
        UsageError: It does not.
    """
    known = Figure().canvas.get_supported_filetypes()
    if path.suffix.lstrip(".").lower() not in known:
        raise UsageError(f"{path} has no ending that a figure can have", hint=f"one of {', '.join(sorted(known))}")


def save_figure(figure: Figure, path: Path) -> None:
    """Write a picture, of the kind that the file's ending names.

    Raises:
        PcbenchError: It could not be written.
    """
    picture = io.BytesIO()
    figure.savefig(picture, format=path.suffix.lstrip(".").lower(), dpi=150)
    _files.write(path, picture.getvalue())
