"""Compiler caches that know this machine and no model: what most tests of a capture may start from."""

from __future__ import annotations

import fcntl
from collections.abc import Callable
from pathlib import Path

from users_model import HEAD, TAIL

from pcbench import sampling
from pcbench.asking import Setting
from pcbench.status import Status

Warm = Callable[[str], Path]
"""By a strategy's name, a folder to capture warm from: the fixture ``warm_caches``."""


def folder(root: Path, strategy: str) -> Path:
    """A folder whose caches hold the instruction set and the headers, precompiled, for captures by ``strategy``.

    Made below ``root`` once, whichever process asks first, by a capture of a model that no test captures.
    """
    # AOTInductor compiles its headers with flags of its own; the other strategies share theirs.
    compiled = "aoti" if strategy == "aoti" else "aot_compile"
    made, aside = root / f"warm-{compiled}", root / f"warm-{compiled}.new"
    with (root / f"warm-{compiled}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not made.exists():
            aside.mkdir()
            (aside / "other.py").write_text(HEAD.replace("self.linear(x)", "self.linear(x).relu()") + TAIL)
            capture = sampling.capture(Setting(str(aside / "other.py")), compiled, aside)
            assert capture.status is Status.OK, capture.reason
            aside.rename(made)
    return made
