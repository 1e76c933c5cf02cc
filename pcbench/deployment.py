"""An artifact as the machine that loads it has it: elsewhere, read-only, another user's, without a compiler.

Needs no torch. In each condition the artifact has another path than at the capture, the capture's own folder and caches
are out of reach, and compiler caches start empty.
"""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from pcbench import compilers, manifest, processes, sampling
from pcbench.asking import Setting
from pcbench.conditions import ALL, LESSER_CPU, NO_COMPILER, OTHER_OWNER, READ_ONLY
from pcbench.errors import UnavailableError, UsageError
from pcbench.samples import Outcome
from pcbench.status import Status

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


def load(
    setting: Setting, strategy: str, captured: Path, condition: str, isa: str, temperature: str = "cold"
) -> Deployed:
    """Load the artifact with empty caches, in a fresh process, in one condition; a failure is told as it came.

    Another user's artifact is loaded with trust: without, pcbench refuses it.

    Args:
        setting: The same as at the capture.
        strategy: The strategy's name.
        captured: The folder given to :func:`pcbench.sampling.capture`, which was asked to keep the model's state: the
            same seed gives other weights on another instruction set.
        condition: One of :data:`pcbench.conditions.CONDITIONS`.
        isa: This machine's instruction set, as torch names it.
        temperature: ``cold``, or ``bundled`` for a capture with caches.

    Raises:
        UnavailableError: The condition cannot be made here.
    """
    with processes.scratch() as folder, _out_of_reach(captured) as kept:
        here = _as(condition, setting, folder, isa)
        artifact = folder / "deployed" / "artifact"
        shutil.copytree(kept / "artifact", artifact)
        before = manifest.listed(artifact)
        try:
            _protect(artifact, condition)
            state = kept / sampling.STATE if condition == LESSER_CPU else None
            trust = condition in (OTHER_OWNER, ALL)
            outcome = sampling.load_with(
                here, strategy, artifact, folder / "caches", temperature, state=state, trust=trust
            )
        except UsageError as error:  # the model was fine before: it is this condition that it does not stand
            outcome = Outcome(Status.LOAD_FAILED, error.problem)
        finally:
            _unprotect(artifact)
        after = manifest.listed(artifact)
    if outcome.reason is not None:  # where the copy lay means nothing to anyone
        outcome = replace(outcome, reason=outcome.reason.replace(str(artifact), "the artifact"))
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
    if condition in (OTHER_OWNER, ALL) and os.geteuid() != 0:
        raise UnavailableError("only root can give a folder to another user")
    if condition in (READ_ONLY, OTHER_OWNER, ALL) and os.geteuid() == 0:
        _require_permission_bits(folder)
        setting = replace(setting, prefix=(*_AS_ANYBODY, *setting.prefix))
    if condition in (NO_COMPILER, ALL):
        path = compilers.path_without(os.environ.get("PATH", os.defpath), folder / "path")
        setting = replace(setting, env={**setting.env, "PATH": path, "CXX": None, "CC": None})
    if condition == LESSER_CPU:
        if isa not in _BELOW:
            raise UnavailableError(f"torch knows no instruction set below this machine's {isa}")
        setting = replace(setting, env={**setting.env, "ATEN_CPU_CAPABILITY": _BELOW[isa]})
    return setting


def _require_permission_bits(folder: Path) -> None:
    """Check that a process started as anybody's can write where it may, and not where it may not.

    Raises:
        UnavailableError: root cannot give up its rights here: setpriv is missing, another program, or itself without
            the right to do so, as in many containers.
    """
    open_, closed = folder / "open", folder / "closed"
    for place in (open_, closed):
        place.mkdir()
    closed.chmod(0o555)
    script = 'touch "$0/new" && ! touch "$1/new"'
    try:
        tried = subprocess.run(
            [*_AS_ANYBODY, "sh", "-c", script, open_, closed], capture_output=True, check=False, timeout=60
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise UnavailableError(f"root may write everywhere, and setpriv cannot take that away: {error}") from error
    if tried.returncode != 0:
        raise UnavailableError("root may write everywhere, and setpriv did not take that away")


def _protect(artifact: Path, condition: str) -> None:
    everything = [artifact, *artifact.rglob("*")]
    if condition in (READ_ONLY, ALL):
        for path in everything:
            path.chmod(path.stat().st_mode & ~(stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH))
    if condition in (OTHER_OWNER, ALL):
        for path in everything:
            path.chmod(path.stat().st_mode | (0o055 if path.is_dir() else 0o044))
            try:
                os.chown(path, _NOBODY, _NOBODY)
            except OSError as error:
                raise UnavailableError(f"root cannot give a folder to another user here: {error.strerror}") from error


def _unprotect(artifact: Path) -> None:
    for path in [artifact, *artifact.rglob("*")]:
        if path.stat().st_uid != os.geteuid():
            os.chown(path, os.geteuid(), os.getegid())
        path.chmod(path.stat().st_mode | stat.S_IWUSR)
