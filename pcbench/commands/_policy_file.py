"""The policy of the project that a command runs in: ``[tool.pcbench.policy]`` in its pyproject.toml."""

from __future__ import annotations

import tomllib
from pathlib import Path

from pcbench.analysis.policy import Policy, read_policy
from pcbench.errors import UsageError


def policy_of(root: Path) -> Policy:
    """The policy that ``root/pyproject.toml`` gives; the default one without such a file or table.

    Raises:
        UsageError: The file is no TOML, or the table has what no policy has.
    """
    file = root / "pyproject.toml"
    if not file.is_file():
        return Policy()
    try:
        table = tomllib.loads(file.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UsageError(f"{file} is no TOML: {error}") from error
    ours = table.get("tool", {}).get("pcbench", {}).get("policy", {})
    if not isinstance(ours, dict):
        raise UsageError(f"{file}: tool.pcbench.policy is no table")
    return read_policy(ours)
