"""Writes the sidecar of a result file: what the run ran on, and why a case has no number.

``<results>/<machine>/<commit8>-<environment>.context``, JSON lines: the first is one object (schema, commit,
environment, torch, torch_git, triton, python, threads, isa, gpu, driver, profile, flags, compiler, load_average), each
later one is ``{"case", "status", "reason"}``, or ``{"case", "claim"}`` with what became of a claim that a case counts,
or ``{"case", "census"}`` with the whole census that a case has an entry of, or ``{"case", "codegen"}`` with the rows of
a kernel and target that a case has a number of, or ``{"case", "kernel_times"}`` with all that timing a kernel told. Of
two lines about the same, the later counts.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pcbench.whole_files import write_whole

SCHEMA = 1


def begin(path: Path, head: Mapping[str, Any]) -> None:
    """Write the first line, atomically; what an earlier run of the same result said about its cases is kept."""
    told: dict[tuple[str, str | None], str] = {}
    if path.is_file():
        for line in path.read_text().splitlines()[1:]:
            about = _about(line)
            if about is not None:
                told.pop(about, None)
                told[about] = line
    path.parent.mkdir(parents=True, exist_ok=True)
    _write(path, [json.dumps({"schema": SCHEMA, **head}), *told.values()])


def forget(path: Path, case: str) -> None:
    """Drop what an earlier run said about a case, as it is measured anew: it may now fail without a word."""
    lines = path.read_text().splitlines()
    kept = [line for line in lines if (_about(line) or (None,))[0] != case]
    if kept != lines:
        _write(path, kept)


def add(path: Path, case: str, status: str, reason: str | None) -> None:
    """Append why a case has no number."""
    with path.open("a") as file:
        file.write(json.dumps({"case": case, "status": status, "reason": reason}) + "\n")


def add_part(path: Path, case: str, kind: str, told: Mapping[str, Any]) -> None:
    """Append what a case told beside its number.

    Args:
        kind: ``claim``, with the fields of a ``ClaimResult``; ``census``, with a ``target`` and the fields of a
            ``Census``; ``codegen``, with a ``kernel``, a ``target`` and the ``rows``; or ``kernel_times``, with the
            fields of ``KernelTimes``.
    """
    with path.open("a") as file:
        file.write(json.dumps({"case": case, kind: dict(told)}) + "\n")


def _write(path: Path, lines: Sequence[str]) -> None:
    write_whole(path, ("\n".join(lines) + "\n").encode())


def _about(line: str) -> tuple[str, str | None] | None:
    """The case of a line and what of it beside why it has no number; None where a killed run left it unfinished."""
    try:
        told = json.loads(line)
        for kind in ("census", "codegen", "kernel_times"):
            if kind in told:
                return told["case"], kind
        return told["case"], told["claim"]["id"] if "claim" in told else None
    except (ValueError, KeyError, TypeError):
        return None
