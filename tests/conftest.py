"""Fixtures shared by the tests. Compiler caches go to a folder of the test run, never to the user's."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import git_history
import pytest
from users_model import HEAD, TAIL, Write

from pcbench.asking import Setting


@pytest.fixture(scope="session", autouse=True)
def compiler_caches(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("compiler-caches")
    names = {"TORCHINDUCTOR_CACHE_DIR": "inductor", "TRITON_CACHE_DIR": "triton", "TMPDIR": "tmp"}
    before = {name: os.environ.get(name) for name in names}
    for name, sub in names.items():
        (folder / sub).mkdir()
        os.environ[name] = str(folder / sub)
    yield folder
    for name, value in before.items():
        os.environ.pop(name)
        if value is not None:
            os.environ[name] = value


@pytest.fixture(scope="session")
def small_python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return git_history.small_python(tmp_path_factory.mktemp("small"))


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def written(body: str = "", tail: str = TAIL) -> Setting:
        path = tmp_path / "mine.py"
        path.write_text(HEAD + body + tail)
        return Setting(str(path), threads=1, timeout_s=60)

    return written
