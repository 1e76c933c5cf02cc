"""Which cases a comparison measures: the suite of asv.conf.json, and the patterns that were given."""

from __future__ import annotations

import difflib
import fnmatch
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from asv.config import Config  # type: ignore[import-untyped]

from pcbench.commands._pair_processes import Listed
from pcbench.errors import UsageError
from pcbench.sides import Suite

_NEAR = 3


def suite_of(root: Path) -> tuple[Suite, Path]:
    """The suite that ``root/asv.conf.json`` describes, and the results folder.

    Raises:
        UsageError: There is no such file, or no such suite.
    """
    file = root / "asv.conf.json"
    if not file.is_file():
        raise UsageError(f"there is no asv.conf.json in {root}", hint="run it at the top of a checkout with a suite")
    conf: Any = Config.load(str(file))
    benchmarks = (root / conf.benchmark_dir).resolve()
    if not benchmarks.is_dir():
        raise UsageError(f"{file} names the suite {conf.benchmark_dir}, and there is no such folder")
    packages, pythons = getattr(conf, "measured_packages", {}), getattr(conf, "shared_pythons", {})
    return Suite(benchmarks, packages, pythons, float(conf.default_benchmark_timeout)), root / conf.results_dir


def chosen(cases: Sequence[Listed], patterns: Sequence[str]) -> tuple[Listed, ...]:
    """The cases that a pattern names, in the suite's order; without a pattern, those that are times.

    A pattern is a case's id, a benchmark's name for all of its cases, or either with ``*``, ``?`` and ``[...]``.

    Raises:
        UsageError: One names none; the error says what comes near.
    """
    if not patterns:
        return tuple(case for case in cases if case.unit == "seconds")
    wanted: set[str] = set()
    for pattern in patterns:
        found = {str(case.case) for case in cases if _matches(case, pattern)}
        if not found:
            raise _unknown(cases, pattern)
        wanted |= found
    return tuple(case for case in cases if str(case.case) in wanted)


def _matches(case: Listed, pattern: str) -> bool:
    names = (str(case.case), case.case.benchmark)
    return pattern in names or any(fnmatch.fnmatchcase(name, pattern) for name in names)


def _unknown(cases: Sequence[Listed], pattern: str) -> UsageError:
    benchmarks = sorted({case.case.benchmark for case in cases})
    ids = [str(case.case) for case in cases]
    near = difflib.get_close_matches(pattern, [*ids, *benchmarks], _NEAR, 0.5)
    hint = f"near it: {'; '.join(near)}" if near else f"the suite has {', '.join(benchmarks) or 'no benchmark'}"
    return UsageError(f"no case of the suite matches {pattern!r}", hint=hint)
