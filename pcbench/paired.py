"""What two sides measured of a case in pairs of fresh processes, and the file that keeps it. Needs no torch.

``<results>/<machine>/<name>.pairs``, JSON lines: an object for each case, as :func:`to_line` writes it. ``name`` is
that of the candidate's result file, ``<commit8>-<environment>``.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from pcbench.errors import ResultsError

SCHEMA = 2
SUFFIX = ".pairs"

Pair = tuple[float, float]
"""Of the baseline and of the candidate: the least of a process's blocks each, in the case's unit."""


@dataclass(frozen=True)
class Side:
    """What one process of each pair ran.

    Attributes:
        name: As the user gave it: a commit, a folder, ``env:NAME``.
        commit: The whole hash; None for a folder whose state is no commit.
        env: The name of the interpreter's environment, ``this`` for the one that runs pcbench.
    """

    name: str
    commit: str | None
    env: str = "this"
    torch: str | None = None
    triton: str | None = None
    python: str | None = None

    @property
    def code(self) -> tuple[str | None, str]:
        """What two sides that measure the same have in common."""
        return (self.commit or self.name, self.env)


@dataclass(frozen=True)
class Look:
    """Pairs that were taken with one list of hash seeds, in the order in which they were taken.

    Attributes:
        control: Seconds of a fixed computation in the same processes, pair by pair.
    """

    pairs: tuple[Pair, ...]
    control: tuple[Pair, ...]


@dataclass(frozen=True)
class Paired:
    """One case, measured on both sides in turn.

    Attributes:
        case: The case's id.
        looks: The first look, and the second where the first said that something changed.
        date: When it was measured, ISO 8601, UTC.
        failed: Why there is no verdict: what failed on which side. Empty where nothing did.
        lacking: ``baseline``, ``candidate`` or both, where the case does not apply there; ``failed`` says why.
        version: Its benchmark's in the suite that measured it; empty where that is not known.
        delta: ln of the ratio that its rule took for a change; None where there is no rule, as before the first pair.
        pairs, quorum: How many pairs that rule asked for in a look, and the share of them; 0 where there is no rule.
        settled: Whether the pairs came to a verdict; not where the budget or Ctrl-C ended them, or a side failed.
    """

    case: str
    unit: str
    baseline: Side
    candidate: Side
    looks: tuple[Look, ...]
    date: str
    failed: str = ""
    lacking: tuple[str, ...] = ()
    version: str = ""
    delta: float | None = None
    settled: bool = True
    pairs: int = 0
    quorum: float = 0.0

    @property
    def versioned(self) -> tuple[str, str]:
        """The case and its benchmark's version: numbers of another version mean something else."""
        return (self.case, self.version)

    @property
    def is_canary(self) -> bool:
        """Whether both sides are the same code: any change that is found is a false alarm."""
        return self.baseline.code == self.candidate.code


def append(path: Path, found: Sequence[Paired]) -> None:
    """Add cases to a file, whole or not at all; what has no pair is left out.

    Of two that compare the same sides in a case, the later counts; one that is not settled never takes the place of one
    that is, unless that is of another version.
    """
    kept = {_key(each): each for each in (read(path) if path.is_file() else ())}
    for each in found:
        before = kept.get(_key(each))
        stands = before is not None and before.settled and before.version == each.version and not each.settled
        if stands or not any(look.pairs for look in each.looks):
            continue
        kept.pop(_key(each), None)
        kept[_key(each)] = each
    path.parent.mkdir(parents=True, exist_ok=True)
    aside = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        aside.write_text("".join(to_line(each) + "\n" for each in kept.values()))
        aside.replace(path)
    finally:
        aside.unlink(missing_ok=True)


def read(path: Path, problems: list[str] | None = None) -> tuple[Paired, ...]:
    """The cases of a file.

    Args:
        problems: Takes what cannot be read, in sentences, and the rest is given.

    Raises:
        ResultsError: It cannot be read, or a line has another form, and there is no list to say so in.
    """
    found = []
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
        for number, line in enumerate(lines, 1):
            try:
                found += [_paired(line, f"{path}: line {number}")] if line.strip() else []
            except ResultsError as error:
                if problems is None:
                    raise
                problems.append(str(error))
    except (OSError, UnicodeDecodeError) as error:
        if problems is None:
            raise ResultsError(f"{path} cannot be read: {error}") from error
        problems.append(f"{path} cannot be read: {error}")
    return tuple(found)


def to_line(paired: Paired) -> str:
    """One case as a line of JSON."""
    return json.dumps({"schema": SCHEMA, **asdict(paired)})


def _key(paired: Paired) -> tuple[object, ...]:
    return (paired.case, paired.baseline.code, paired.candidate.code)


def _paired(line: str, where: str) -> Paired:
    try:
        told: dict[str, Any] = json.loads(line)
        schema = told.pop("schema")
        if schema != SCHEMA:
            raise ResultsError(
                f"{where} has schema {schema!r}; this pcbench reads schema {SCHEMA}",
                hint="move the file away; what it compares is measured anew",
            )
        looks = tuple(Look(_pairs(look["pairs"]), _pairs(look["control"])) for look in told.pop("looks"))
        baseline, candidate = Side(**told.pop("baseline")), Side(**told.pop("candidate"))
        lacking = tuple(told.pop("lacking", ()))
        return Paired(baseline=baseline, candidate=candidate, looks=looks, lacking=lacking, **told)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ResultsError(f"{where} has another form: {type(error).__name__}: {error}") from error


def _pairs(told: Sequence[Sequence[float]]) -> tuple[Pair, ...]:
    return tuple((float(one), float(other)) for one, other in told)
