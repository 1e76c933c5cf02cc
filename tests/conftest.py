"""Fixtures shared by the tests. Compiler caches, keys and such go to a folder of the test run, never to the user's."""

from __future__ import annotations

import os
import secrets
import tempfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import git_history
import pytest
import warm
from users_model import HEAD, TAIL, Write

from pcbench import signing
from pcbench.asking import Setting


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--full", action="store_true", help="run the tests marked full, too: all of a grid, all of a load")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "full: the part of a grid or a load that only --full runs")
    if not hasattr(config, "workerinput"):  # workers sign with the key of who started them
        _sign_with_a_key_of_the_run(config)


def _sign_with_a_key_of_the_run(config: pytest.Config) -> None:
    before = os.environ.get(signing.KEYFILE)
    made, path = tempfile.mkstemp(prefix="pcbench-tests-key-")
    with os.fdopen(made, "w") as file:
        file.write(secrets.token_hex())
    os.environ[signing.KEYFILE] = path

    def restore() -> None:
        Path(path).unlink()
        os.environ.pop(signing.KEYFILE)
        if before is not None:
            os.environ[signing.KEYFILE] = before

    config.add_cleanup(restore)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if config.getoption("--full"):
        return
    left_out = [item for item in items if item.get_closest_marker("full") is not None]
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if item.get_closest_marker("full") is None]


def pytest_collection_finish(session: pytest.Session) -> None:
    """Refuse a pytest with which xdist distributes the tests of a group: what they share would be made twice."""
    grouped = [item for item in session.items if item.get_closest_marker("xdist_group") is not None]
    if getattr(session.config.option, "loadgroup", False) and not all("@" in item.nodeid for item in grouped):
        raise pytest.UsageError("this pytest-xdist does not keep the groups of this pytest together")


@pytest.fixture(scope="session", autouse=True)
def compiler_caches(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("compiler-caches")
    names = {
        "TORCHINDUCTOR_CACHE_DIR": "inductor",
        "TRITON_CACHE_DIR": "triton",
        "TMPDIR": "tmp",
        "XDG_DATA_HOME": "data",
    }
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
def warm_caches(tmp_path_factory: pytest.TempPathFactory) -> warm.Warm:
    """What compiling needs on this machine whatever the model, found once for the run and all its workers."""
    root = tmp_path_factory.getbasetemp()
    return partial(warm.folder, root.parent if "PYTEST_XDIST_WORKER" in os.environ else root)


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
