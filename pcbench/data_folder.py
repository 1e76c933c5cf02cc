"""Where pcbench keeps what outlives a run."""

from __future__ import annotations

import os
from pathlib import Path

from pcbench.errors import PcbenchError


def data_folder() -> Path:
    """pcbench's folder in the user's data folder: below XDG_DATA_HOME where that is absolute, else ``~/.local/share``.

    Raises:
        PcbenchError: It is unset, and this user has no home.
    """
    named = Path(os.environ.get("XDG_DATA_HOME", ""))
    if named.is_absolute():  # the specification has a relative one ignored
        return named / "pcbench"
    try:
        home = Path.home()
    except RuntimeError as error:
        raise PcbenchError("this user has no home folder to keep data in", hint="set XDG_DATA_HOME") from error
    return home / ".local" / "share" / "pcbench"
