"""What ``pcbench env list`` says: the running interpreter, then every environment, as each is now."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from pcbench import interpreters, torch_envs
from pcbench.analysis.columns import aligned
from pcbench.errors import UnavailableError
from pcbench.interpreters import Facts
from pcbench.torch_envs import THIS, Env

SCHEMA = 1


@dataclass(frozen=True)
class Line:
    """An environment; ``problem`` says why nothing is known of it."""

    env: Env
    facts: Facts | None
    problem: str | None = None


def lines() -> list[Line]:
    """The running interpreter, then every environment."""
    found = []
    for env in (torch_envs.find(THIS), *torch_envs.known()):
        if env.problem is not None:
            found.append(Line(env, None, f"{env.problem.problem}: {env.problem.hint}"))
            continue
        try:
            found.append(Line(env, interpreters.facts(env.python)))
        except UnavailableError as error:
            found.append(Line(env, None, error.problem))
    return found


def table() -> list[str]:
    """A line per environment, for people."""
    known = lines()
    rows = [("name", "torch", "git", "Python", "dependencies", "interpreter", "")]
    for line in known:
        facts, alike = line.facts, _alike(line, known)
        if facts is None:
            rows.append((line.env.name, "-", "-", "-", "-", line.env.python, line.problem or ""))
            continue
        lacking = f"lacks {', '.join(facts.lacking)}" if facts.lacking else "all"
        note = f"same build as {', '.join(alike)}" if alike else ""
        git = (facts.torch_git or "-")[:10]
        rows.append((line.env.name, facts.torch or "none", git, facts.python, lacking, line.env.python, note))
    return aligned(rows)


def json_text() -> str:
    """The same for programs."""
    known = lines()
    return json.dumps({"schema": SCHEMA, "envs": [_json(line, known) for line in known]}, indent=1)


def _alike(line: Line, known: Sequence[Line]) -> list[str]:
    """The other names of the same torch build."""
    git = None if line.facts is None else line.facts.torch_git
    others = (other for other in known if other is not line and other.facts is not None)
    return [other.env.name for other in others if git is not None and other.facts and other.facts.torch_git == git]


def _json(line: Line, known: Sequence[Line]) -> dict[str, Any]:
    facts = line.facts
    return {
        "name": line.env.name,
        "kind": line.env.kind,
        "interpreter": line.env.python,
        "torch": facts and facts.torch,
        "torch_git": facts and facts.torch_git,
        "python": facts and facts.python,
        "lacking": facts and list(facts.lacking),
        "same_build_as": _alike(line, known),
        "problem": line.problem,
    }
