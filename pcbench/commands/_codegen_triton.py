"""Triton versions to compile with, each in a folder of its own in pcbench's data folder; torch is the running one's."""

from __future__ import annotations

import importlib.metadata
import re
import subprocess
import sys
from pathlib import Path

from pcbench import processes
from pcbench.commands._progress import Step
from pcbench.data_folder import data_folder
from pcbench.errors import PcbenchError, UsageError

_NUMBER = "(0|[1-9][0-9]*)"
_VERSION = re.compile(rf"{_NUMBER}\.{_NUMBER}\.{_NUMBER}([.+A-Za-z][0-9A-Za-z.+]*)?")


def check_version(version: str) -> None:
    """Refuse what is no whole version: pip would fetch some other one for it.

    Raises:
        UsageError: It is none.
    """
    if not _VERSION.fullmatch(version):
        problem = f"{version!r} is no whole version of Triton"
        raise UsageError(problem, hint="a version has three numbers: --triton 3.6.0, for example")


def installed() -> str | None:
    """The version that the running interpreter has, if any."""
    try:
        return importlib.metadata.version("triton")
    except importlib.metadata.PackageNotFoundError:
        return None


def folder_of(version: str, step: Step) -> Path | None:
    """The folder to import this version from, fetched with pip where it is not there yet; None for the installed one.

    Raises:
        PcbenchError: pip cannot fetch it; its last line says why.
    """
    if version == installed():
        return None
    root = data_folder() / "triton"
    place = root / version
    if place.is_dir():
        return place
    step(f"fetching triton {version} with pip")
    root.mkdir(parents=True, exist_ok=True)
    with processes.scratch(root) as folder:
        aside = folder / version
        words = [sys.executable, "-m", "pip", "install", "--no-input", "--no-deps", "--progress-bar", "off"]
        words += ["--target", str(aside), f"triton=={version}"]
        done = subprocess.run(words, capture_output=True, text=True, errors="replace", check=False)
        if done.returncode != 0:
            raise PcbenchError(f"pip could not fetch triton {version}: {_last(done.stderr or done.stdout)}")
        if not (aside / "triton").is_dir():
            raise PcbenchError(f"pip fetched triton {version}, and there is no package triton in it")
        try:
            aside.rename(place)
        except OSError:
            if not place.is_dir():  # else another command was as quick
                raise
    return place


def _last(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    errors = [line for line in lines if line.startswith("ERROR:")]
    return (errors or lines or ["it said nothing"])[-1]
