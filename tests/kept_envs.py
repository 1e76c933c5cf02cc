"""``pcbench env`` in a folder of a test's own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Kept:
    """A folder for environments, and pip's options that make it find torch 9.9.1 and 9.9.2."""

    root: Path
    options: tuple[str, ...]

    def environment(self) -> Mapping[str, str]:
        return {**os.environ, "PCBENCH_ENVS": str(self.root), "PIP_DISABLE_PIP_VERSION_CHECK": "1"}

    def command(self, *words: str) -> list[str]:
        return [sys.executable, "-m", "pcbench", "env", *words]

    def env(self, *words: str) -> subprocess.CompletedProcess[str]:
        command = self.command(*words)
        return subprocess.run(command, env=self.environment(), capture_output=True, text=True, check=False)

    def listed(self) -> dict[str, dict[str, object]]:
        return {entry["name"]: entry for entry in json.loads(self.env("list", "--json").stdout)["envs"]}
