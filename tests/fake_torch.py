"""A torch of two small files, as an installed package and as a wheel among wheels of all that pcbench needs."""

from __future__ import annotations

import base64
import hashlib
import importlib.metadata
import zipfile
from pathlib import Path

import git_history

from pcbench import interpreters

GIT = "f" * 40

INIT = """
from types import SimpleNamespace
from torch.version import __version__
backends = SimpleNamespace(cpu=SimpleNamespace(get_cpu_capability=lambda: "NONE"))
cuda = SimpleNamespace(is_available=lambda: False)
"""


def files(release: str, git: str = GIT) -> dict[str, str]:
    """torch's files: its version is told without importing it."""
    version = f"__version__ = '{release}+fake'\ngit_version = '{git}'\n"
    return {"torch/__init__.py": INIT, "torch/version.py": version}


def python(folder: Path, release: str, git: str = GIT) -> Path:
    """An interpreter with this torch and asv_runner, and nothing else."""
    made = git_history.small_python(folder)
    packages = git_history.site_packages(folder)
    metadata = f"Metadata-Version: 2.1\nName: torch\nVersion: {release}+fake\n"
    for name, text in (files(release, git) | {f"torch-{release}.dist-info/METADATA": metadata}).items():
        (packages / name).parent.mkdir(exist_ok=True)
        (packages / name).write_text(text)
    return made


def wheels(folder: Path, *releases: str) -> tuple[str, ...]:
    """pip's options that make it find torch in these releases, and hollow wheels of pcbench's own dependencies."""
    folder.mkdir()
    for release in releases:
        _wheel(folder, "torch", release, files(release))
    for name in interpreters.dependencies():
        module = name.replace("-", "_")
        _wheel(folder, module, importlib.metadata.version(name), {f"{module}/__init__.py": ""})
    return "--no-index", "--find-links", str(folder)


def _wheel(folder: Path, name: str, version: str, content: dict[str, str]) -> None:
    info = f"{name}-{version}.dist-info"
    inside = content | {
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: tests\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    digests = {n: base64.urlsafe_b64encode(hashlib.sha256(t.encode()).digest()).rstrip(b"=") for n, t in inside.items()}
    record = "".join(f"{n},sha256={digests[n].decode()},{len(t)}\n" for n, t in inside.items())
    with zipfile.ZipFile(folder / f"{name}-{version}-py3-none-any.whl", "w") as wheel:
        for file, text in (inside | {f"{info}/RECORD": f"{record}{info}/RECORD,,\n"}).items():
            wheel.writestr(file, text)
