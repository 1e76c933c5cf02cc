"""Small git repositories and interpreters to run asv on, for real: nothing of asv or of the plugin is replaced."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import venv
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import asv_runner

MACHINE = "lab"

CONF = {
    "version": 1,
    "project": "toy",
    "repo": ".",
    "branches": ["main"],
    "dvcs": "git",
    "environment_type": "shared",
    "plugins": [".pcbench.asv_plugin"],
    "benchmark_dir": "benchmarks",
    "results_dir": "results",
    "env_dir": ".asv/env",
    "html_dir": ".asv/html",
}


def small_python(folder: Path) -> Path:
    """An interpreter with asv_runner and nothing else: no torch, so that it starts at once."""
    venv.create(folder, symlinks=True, with_pip=False)
    packages = site_packages(folder)
    (packages / "asv_runner").symlink_to(Path(asv_runner.__file__).parent)
    return folder / "bin" / "python"


def site_packages(environment: Path) -> Path:
    """Where an environment keeps its packages."""
    (found,) = (environment / "lib").glob("python*/site-packages")
    return found


@dataclass(frozen=True)
class Repository:
    """A git repository with an asv suite, and a home folder of its own."""

    root: Path
    home: Path

    def write(self, files: Mapping[str, str]) -> None:
        for name, text in files.items():
            path = self.root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)

    def commit(self, files: Mapping[str, str]) -> str:
        """Write the files, commit everything, and return the commit."""
        self.write(files)
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "-m", f"change {', '.join(files)}")
        return self.git("rev-parse", "HEAD")

    def git(self, *words: str) -> str:
        identity = ("-c", "user.name=t", "-c", "user.email=t@t", "-c", "commit.gpgsign=false")
        return subprocess.check_output(["git", *identity, *words], cwd=self.root, text=True).strip()

    def environment(self, **variables: str) -> dict[str, str]:
        left = {"PCBENCH_PROFILE", "PYTHONPATH", "ASV_PYTHONPATH"}
        ours = {name: value for name, value in os.environ.items() if name not in left}
        return ours | {"HOME": str(self.home), **variables}

    def asv(self, *words: str, **variables: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "asv", *words],
            cwd=self.root,
            env=self.environment(**variables),
            capture_output=True,
            text=True,
            check=False,
        )

    def results(self, commit: str, holding: str = "") -> dict[str, list[Any]]:
        """The values that asv stored for a commit, by benchmark."""
        (path,) = (p for p in (self.root / "results" / MACHINE).glob(f"{commit[:8]}-*.json") if holding in p.name)
        stored = json.loads(path.read_text())
        column = stored["result_columns"].index("result")
        return {name: row[column] for name, row in stored["results"].items()}

    def sidecar(self, commit: str, holding: str = "") -> list[dict[str, Any]]:
        (path,) = (p for p in (self.root / "results" / MACHINE).glob(f"{commit[:8]}-*.context") if holding in p.name)
        return [json.loads(line) for line in path.read_text().splitlines()]


def new(folder: Path, conf: Mapping[str, Any]) -> Repository:
    """An empty repository on branch main; asv knows one machine."""
    root, home = folder / "repository", folder / "home"
    for made in (root, home):
        made.mkdir(parents=True)
    described = {"machine": MACHINE, "os": "os", "arch": "arch", "cpu": "cpu", "num_cpu": "2", "ram": "1GB"}
    (home / ".asv-machine.json").write_text(json.dumps({MACHINE: described, "version": 1}))
    repository = Repository(root, home)
    repository.git("init", "-q", "-b", "main")
    repository.write({"asv.conf.json": json.dumps(CONF | conf), ".gitignore": ".asv/\nresults/\n__pycache__/\n"})
    return repository
