"""An artifact as the machine that loads it has it: elsewhere, read-only, another user's, without a compiler.

Needs no torch. In each condition the artifact has another path than at the capture, the capture's own folder and caches
are out of reach, and compiler caches start empty.
"""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from pcbench import compilers, manifest, processes, sampling
from pcbench.asking import Setting
from pcbench.conditions import LESSER_CPU, NO_COMPILER, OTHER_OWNER, READ_ONLY, TOGETHER
from pcbench.errors import UnavailableError
from pcbench.samples import Outcome

_NOBODY = 65534

# ATEN_CPU_CAPABILITY of the instruction set below each, as torch names them.
_BELOW = {"AVX512": "avx2", "AVX2": "default"}

# root writes where nobody may; without these capabilities, permission bits hold for it as for anybody.
_AS_ANYBODY = ("setpriv", "--bounding-set=-dac_override,-dac_read_search")


@dataclass(frozen=True)
class Deployed:
    """What a load in one condition gave.

    Attributes:
        wrote: Files that the load made, changed or removed in the artifact's folder, relative to it.
    """

    outcome: Outcome
    wrote: tuple[str, ...] = ()


def load(setting: Setting, strategy: str, captured: Path, condition: str, isa: str) -> Deployed:
    """Load the artifact cold, in a fresh process, in one condition; a failure is told as it came.

    Args:
        setting: The same as at the capture.
        strategy: The strategy's name.
        captured: The folder given to :func:`pcbench.sampling.capture`, which was asked to keep the model's state: the
            same seed gives other weights on another instruction set.
        condition: One of :data:`pcbench.conditions.CONDITIONS`.
        isa: This machine's instruction set, as torch names it.

    Raises:
        UnavailableError: The condition cannot be made here.
    """
    with processes.scratch() as folder, _out_of_reach(captured) as kept:
        here = _as(condition, setting, folder, isa)
        artifact = folder / "deployed" / "artifact"
        shutil.copytree(kept / "artifact", artifact)
        before = manifest.digests(artifact)
        _protect(artifact, condition)
        try:
            state = kept / sampling.STATE
            outcome = sampling.load_with(here, strategy, artifact, folder / "caches", "cold", state=state)
        finally:
            _unprotect(artifact)
        after = manifest.digests(artifact)
    changed = {name for name in before | after if before.get(name) != after.get(name)}
    return Deployed(outcome, tuple(sorted(changed)))


@contextmanager
def _out_of_reach(captured: Path) -> Iterator[Path]:
    """The capture's folder under another name meanwhile, so that a path into it leads nowhere."""
    aside = captured.with_name(f"{captured.name}.aside")
    captured.rename(aside)
    try:
        yield aside
    finally:
        aside.rename(captured)


def _as(condition: str, setting: Setting, folder: Path, isa: str) -> Setting:
    """The setting of a process that loads in this condition."""
    if condition in (OTHER_OWNER, TOGETHER) and os.geteuid() != 0:
        raise UnavailableError("only root can give a folder to another user")
    if condition in (READ_ONLY, OTHER_OWNER, TOGETHER) and os.geteuid() == 0:
        if shutil.which(_AS_ANYBODY[0]) is None:
            raise UnavailableError("root may write everywhere, and there is no setpriv on the PATH to take that away")
        setting = replace(setting, prefix=(*_AS_ANYBODY, *setting.prefix))
    if condition in (NO_COMPILER, TOGETHER):
        path = compilers.path_without(os.environ.get("PATH", os.defpath), folder / "path")
        setting = replace(setting, env={**setting.env, "PATH": path, "CXX": None, "CC": None})
    if condition == LESSER_CPU:
        if isa not in _BELOW:
            raise UnavailableError(f"torch knows no instruction set below this machine's {isa}")
        setting = replace(setting, env={**setting.env, "ATEN_CPU_CAPABILITY": _BELOW[isa]})
    return setting


def _protect(artifact: Path, condition: str) -> None:
    everything = [artifact, *artifact.rglob("*")]
    if condition in (READ_ONLY, TOGETHER):
        for path in everything:
            path.chmod(path.stat().st_mode & ~(stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH))
    if condition in (OTHER_OWNER, TOGETHER):
        for path in everything:
            path.chmod(path.stat().st_mode | (0o055 if path.is_dir() else 0o044))
            os.chown(path, _NOBODY, _NOBODY)


def _unprotect(artifact: Path) -> None:
    for path in [artifact, *artifact.rglob("*")]:
        if os.geteuid() == 0:
            os.chown(path, 0, 0)
        path.chmod(path.stat().st_mode | stat.S_IWUSR)
