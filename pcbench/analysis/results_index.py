"""What lies in a results folder, without reading it all: each result's commit, environment and date.

The gate needs two results of hundreds, and asv writes first what tells them apart.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from pcbench.analysis.parsing import expect, load_json, read_text
from pcbench.analysis.records import Problem
from pcbench.errors import ResultsError

_HEAD_BYTES = 8192
_HEAD = re.compile(
    r'"commit_hash":\s*"(?P<commit>[0-9a-f]{40})".*?"env_name":\s*"(?P<environment>[^"\\]*)".*?"date":\s*(?P<date>\d+)\s*[,}]',
    re.DOTALL,
)
_TORCH = re.compile(r'"torch":\s*"([^"\\]*)"')


@dataclass(frozen=True)
class Entry:
    """One result file.

    Attributes:
        machine: The folder's name.
        date: The commit's.
        torch: As asv's requirements name it; None where they do not.
    """

    path: Path
    machine: str
    commit: str
    environment: str
    date: datetime
    torch: str | None = None


def index(folder: Path, machine: str | None = None) -> tuple[tuple[Entry, ...], tuple[Problem, ...]]:
    """The results of a folder by commit date, and what could not be read.

    Raises:
        ResultsError: There is no such folder.
    """
    if not folder.is_dir():
        raise ResultsError(f"there is no results folder {folder}", hint="pcbench bench and asv run write one")
    found, problems = [], []
    machines = sorted(path for path in folder.iterdir() if path.is_dir() and machine in (None, path.name))
    for place in machines:
        for path in sorted(place.glob("*.json")):
            if path.name == "machine.json":
                continue
            try:
                found.append(_entry(path))
            except ResultsError as error:
                problems.append(Problem(path, error.problem))
    return tuple(sorted(found, key=lambda one: (one.date, one.commit, one.environment))), tuple(problems)


def _entry(path: Path) -> Entry:
    try:
        with path.open(encoding="utf-8") as file:
            head = file.read(_HEAD_BYTES)
    except OSError as error:
        raise ResultsError(f"cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise ResultsError("is not text") from error
    found = _HEAD.match(head[1:].lstrip()) if head[:1] == "{" else None
    if found is not None:
        torch = _TORCH.search(head)
        told = (found["commit"], found["environment"], int(found["date"]), torch and torch[1])
    else:
        raw = expect(load_json(read_text(path)), dict, "it")
        torch_named = raw.get("requirements")
        told = (
            expect(raw.get("commit_hash"), str, "commit_hash"),
            expect(raw.get("env_name"), str, "env_name"),
            expect(raw.get("date"), int, "date"),
            torch_named.get("torch") if isinstance(torch_named, dict) else None,
        )
    commit, environment, date, version = told
    try:
        when = datetime.fromtimestamp(date / 1000, UTC)
    except (OverflowError, ValueError, OSError) as error:
        raise ResultsError(f"date {date} is no date") from error
    return Entry(path, path.parent.name, commit, environment, when, version)
