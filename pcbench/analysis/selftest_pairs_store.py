"""A selftest of verdicts in pairs: all that it measured, the file that keeps it, and what it comes to."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from functools import cached_property
from typing import Any

from pcbench.analysis.pairs import Rule
from pcbench.analysis.records import Verdict
from pcbench.analysis.selftest_pairs import CHECKS, LOADS, Group, Resampled, Trial, group, resample
from pcbench.errors import ResultsError

SCHEMA = 1


@dataclass(frozen=True)
class Selftest:
    """What was measured.

    Attributes:
        counted: By planted size, as :func:`key` writes it, and case: how many times the instructions a call takes.
        uncounted: Why they were not counted; empty where they were.
        delta, fine_delta, slow_delta: The policy's.
        machine: What it ran on, in words.
        interrupted: Whether it was ended early.
    """

    trials: tuple[Trial, ...]
    delta: float
    fine_delta: float
    slow_delta: float
    machine: str
    counted: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    uncounted: str = ""
    interrupted: bool = False

    @cached_property
    def checks(self) -> tuple[Group, ...]:
        """Those without a record first, each in order of size."""
        return self._groups(CHECKS)

    @cached_property
    def loads(self) -> tuple[Group, ...]:
        """In order of size."""
        return self._groups(LOADS)

    @cached_property
    def resampled(self) -> tuple[Resampled, ...]:
        """From the pairs of the same code of either half, by the rules that held there."""
        pools = ([each for each in self._same_code() if each.recorded is recorded] for recorded in (False, True))
        return tuple(resample(pool) for pool in pools if pool)

    def _same_code(self) -> list[Trial]:
        return [each for each in self.trials if each.kind == CHECKS and each.planted == 0]

    def _groups(self, kind: str) -> tuple[Group, ...]:
        found: dict[tuple[bool, float], list[Trial]] = {}
        for each in self.trials:
            if each.kind == kind:
                found.setdefault((each.recorded, each.planted), []).append(each)
        counted = self.counted if kind == CHECKS else {}
        return tuple(group(each, counted.get(key(size)), self.fine_delta) for (_, size), each in sorted(found.items()))


def key(size: float) -> str:
    """A planted size as ``counted`` has it."""
    return f"{size:g}"


def to_json(selftest: Selftest) -> str:
    """All of it, each verdict with its pairs, so that another rule can be tried on them."""
    return json.dumps({"schema": SCHEMA, **asdict(selftest)})


def from_json(text: str, where: str) -> Selftest:
    """What :func:`to_json` wrote; ``where`` names the file in errors.

    Raises:
        ResultsError: It is something else.
    """
    try:
        told: dict[str, Any] = json.loads(text)
        schema = told.pop("schema")
        if schema != SCHEMA:
            raise ResultsError(f"{where} has schema {schema!r}; this pcbench reads schema {SCHEMA}")
        return Selftest(tuple(map(_trial, told.pop("trials"))), **told)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ResultsError(f"{where} is no selftest of pairs: {type(error).__name__}: {error}") from error


def _trial(told: Mapping[str, Any]) -> Trial:
    kept = {**told, "verdict": Verdict(told["verdict"]), "rule": Rule(**told["rule"]), "ratios": tuple(told["ratios"])}
    return Trial(**kept)
