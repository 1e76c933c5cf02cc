"""Which programs are compilers, by their names. Shared by both halves; needs no torch."""

from __future__ import annotations

import os
import re
from pathlib import Path

_COMPILER = re.compile(r"(^|-)(g\+\+|gcc|c\+\+|cc|clang(\+\+)?|icpx?|icpc|icx|hipcc|nvcc|ptxas)(-[\d.]+)?$")


def is_compiler(program: str) -> bool:
    """Whether a program, by its name or path, is a C, C++ or CUDA compiler."""
    return _COMPILER.search(Path(program).name) is not None


def path_without(path: str, folder: Path) -> str:
    """A PATH that finds what ``path`` finds but compilers: links in ``folder``, which is made."""
    folder.mkdir(parents=True)
    for place in path.split(os.pathsep):
        readable = place and Path(place).is_dir() and os.access(place, os.R_OK | os.X_OK)
        found = sorted(Path(place).iterdir()) if readable else []
        for program in found:
            link = folder / program.name
            if not is_compiler(program.name) and not link.is_symlink():
                link.symlink_to(program.absolute())
    return str(folder)
