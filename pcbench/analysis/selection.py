"""Which cases a pattern names and which results a machine and environment name, the same for every command."""

from __future__ import annotations

import difflib
import fnmatch
from collections.abc import Iterable

from pcbench.analysis.records import Case

_NEAR = 3
_LIKENESS = 0.4


def names(pattern: str, case: Case | str) -> bool:
    """Whether a pattern names a case: its id, its benchmark's name, or either with ``*``, ``?`` and ``[...]``.

    An id names its case whatever signs are in it, brackets, too; a bracket beside a ``*`` may also stand for itself.
    """
    told = str(case)
    both = (told, told.partition("(")[0] if isinstance(case, str) else case.benchmark)
    return pattern in both or any(_fits(name, pattern) for name in both)


def is_of(machine: str, environment: str, wanted_machine: str | None, wanted_env: str | None) -> bool:
    """Whether results of a machine and environment are wanted: None is any, else a name, a pattern, or a part of an
    environment's name.
    """
    return (wanted_machine is None or wanted_machine == machine or fnmatch.fnmatchcase(machine, wanted_machine)) and (
        wanted_env is None or wanted_env in environment or fnmatch.fnmatchcase(environment, wanted_env)
    )


def near(name: str, known: Iterable[str]) -> str:
    """What is known and looks like a name that is not, as the hint of an error; empty where nothing does."""
    found = difflib.get_close_matches(name, sorted(set(known)), _NEAR, _LIKENESS)
    return f"near: {'; '.join(found)}" if found else ""


def _fits(name: str, pattern: str) -> bool:
    return fnmatch.fnmatchcase(name, pattern) or fnmatch.fnmatchcase(name, pattern.replace("[", "[[]"))
