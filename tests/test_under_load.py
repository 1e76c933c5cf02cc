"""The cache and the artifacts under load: many models, many threads, two processes, no room."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import expectations
import pytest
import torch
from torch import nn

import pcbench
from pcbench import signing, strategies
from pcbench.errors import ArtifactError, PcbenchError, RunnerError
from pcbench.runner import artifact

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("default")]

HERE = Path(__file__).parent
STRATEGIES = [n for n in ("export", "precompile_eager") if expectations.unavailable(n) is None]
NO_SPACE = "No space left on device"

Resize = Callable[[int], Path]

x = torch.ones(2, 4)


def under_load(*words: str) -> dict[str, Any]:
    command = [sys.executable, str(HERE / "under_load.py"), *words]
    done: dict[str, Any] = json.loads(subprocess.check_output(command, text=True).splitlines()[-1])
    return done


@pytest.mark.parametrize("number", [40, pytest.param(1000, marks=[pytest.mark.full, pytest.mark.timeout(3600)])])
def test_short_lived_models_leave_no_file_no_thread_and_little_memory(number: int) -> None:
    done = under_load("models", str(number))

    assert (done["misses"] - done["models"], done["wrong_answers"]) == (10, 0)
    assert (done["entries_left"], done["files_left"], done["threads_left"]) == (0, [], 0)
    # Of each export torch keeps the sources of its graphs, some 10 kB; a model or runner that is kept is 1 MB.
    assert done["grown_bytes"] < 8e6 + 16e3 * number


@pytest.mark.parametrize("number", [2, pytest.param(20, marks=[pytest.mark.full, pytest.mark.timeout(3600)])])
def test_sixteen_threads_of_hits_misses_and_dying_models_capture_each_once_and_answer_right(number: int) -> None:
    done = under_load("threads", str(number))

    assert done["models"] == 16 * number + 2
    assert (done["misses"], done["hits"]) == (done["models"], 3 * 16 * number - done["models"])
    assert done["runners_of_each_kept"] == [1, 1]
    assert (done["wrong_answers"], done["entries_left"], done["threads_left"]) == ([], 2, 0)


def made() -> nn.Module:
    model = nn.Linear(4, 4).eval()
    for parameter in model.parameters():
        nn.init.constant_(parameter, 3.0)
    return model


def captured(name: str) -> artifact.Captured:
    strategy, model = strategies.named(name), made()
    return artifact.capture(artifact.describe(name, strategy, model, (x,), {}), strategy, model, (x,), {})


def is_whole(folder: Path, name: str) -> bool:
    """Whether the artifact loads and answers as its model does."""
    opened = artifact.opened(folder)
    artifact.require_here(opened, name)
    model = made()
    return torch.equal(strategies.named(name).load(opened.payload, model)(x), model(x))


SAVE = """
import sys, time
from dataclasses import replace
from pathlib import Path
import torch
import test_under_load
from pcbench.errors import ArtifactError
from pcbench.runner import artifact

def save(payload, folder):
    captured.strategy.save(payload, folder)
    Path(sys.argv[2]).touch()
    while not Path(sys.argv[3]).exists():
        time.sleep(0.01)

with torch.no_grad():
    captured = test_under_load.captured("export")
    try:
        artifact.save(replace(captured, strategy=replace(captured.strategy, save=save)), Path(sys.argv[1]))
    except ArtifactError as error:
        print("refused:", error.problem)
    else:
        print("saved")
"""


def test_of_two_processes_that_save_to_one_folder_one_wins_and_the_other_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(signing.KEYFILE)  # each finds that the user has no key yet
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    folder, places = tmp_path / "store" / "artifact", [str(tmp_path / "first"), str(tmp_path / "second")]
    (tmp_path / "store").mkdir()
    started = [
        subprocess.Popen([sys.executable, "-c", SAVE, str(folder), *order], cwd=HERE, stdout=subprocess.PIPE, text=True)
        for order in (places, places[::-1])
    ]
    said = sorted(process.communicate(timeout=300)[0].splitlines()[-1] for process in started)

    assert said == [f"refused: {folder} exists already", "saved"]
    assert [path.name for path in (tmp_path / "store").iterdir()] == ["artifact"]
    with torch.no_grad():
        assert is_whole(folder, "export")


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Resize]:
    """A small disk; called with the bytes that are to be free on it."""
    folder = tmp_path / "disk"
    folder.mkdir()

    def resize(free: int) -> Path:
        found = os.statvfs(folder)
        size = (found.f_blocks - found.f_bfree) * found.f_frsize + free
        subprocess.run(["mount", "-o", f"remount,size={size}", str(folder)], check=True)
        return folder

    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(folder)], capture_output=True, text=True, check=False
    )
    if mounted.returncode != 0:
        pytest.skip(f"this user cannot mount a small disk: {mounted.stderr.strip()}")
    yield resize
    subprocess.run(["umount", "--lazy", str(folder)], check=True)  # a cache that is not collected yet holds its lock


def growing() -> Iterator[int]:
    """Sizes up to 1 MB: each block at first."""
    yield from range(4 << 10, 64 << 10, 4 << 10)
    yield from range(64 << 10, 1 << 20, 64 << 10)


def refusal(captured: artifact.Captured, folder: Path) -> str | None:
    """Why the artifact could not be saved, or None when it was."""
    try:
        artifact.save(captured, folder)
    except ArtifactError as error:
        return error.problem
    return None


@pytest.mark.parametrize("name", STRATEGIES)
def test_a_save_on_a_disk_that_is_full_at_any_point_says_so_and_leaves_the_store_as_it_was(
    name: str, disk: Resize
) -> None:
    store, refused = disk(1 << 20), 0
    with torch.no_grad():
        model = captured(name)
        artifact.save(model, store / "first")
        for free in growing():
            why = refusal(model, disk(free) / "second")
            if why is None:
                break
            assert why == f"{store / 'second'} could not be written: {NO_SPACE}"
            assert [path.name for path in store.iterdir()] == ["first"]
            refused += 1

        assert refused >= 2
        assert is_whole(store / "first", name)
        assert is_whole(store / "second", name)


@pytest.mark.parametrize("name", STRATEGIES)
def test_a_save_that_may_write_no_larger_file_says_so_and_leaves_the_store_as_it_was(name: str, tmp_path: Path) -> None:
    refused, before = 0, resource.getrlimit(resource.RLIMIT_FSIZE)
    with torch.no_grad():
        model = captured(name)
        artifact.save(model, tmp_path / "first")
        for limit in growing():
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, before[1]))
            try:
                why = refusal(model, tmp_path / "second")
            finally:
                resource.setrlimit(resource.RLIMIT_FSIZE, before)
            if why is None:
                break
            assert why == f"{tmp_path / 'second'} could not be written: File too large"
            assert [path.name for path in tmp_path.iterdir()] == ["first"]
            refused += 1

        assert refused >= 1
        assert is_whole(tmp_path / "first", name)
        assert is_whole(tmp_path / "second", name)


def test_a_load_with_no_room_for_its_private_copy_says_so_and_leaves_nothing(
    tmp_path: Path, disk: Resize, monkeypatch: pytest.MonkeyPatch
) -> None:
    with torch.no_grad():
        artifact.save(captured("export"), tmp_path / "artifact")
        monkeypatch.setattr(tempfile, "tempdir", str(disk(4096)))
        with pytest.raises(PcbenchError, match=NO_SPACE):
            artifact.opened(tmp_path / "artifact")
        assert list((tmp_path / "disk").iterdir()) == []
        disk(1 << 20)

        assert is_whole(tmp_path / "artifact", "export")


def test_the_cache_of_runners_says_that_the_disk_is_full_and_captures_when_there_is_room(
    disk: Resize, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, cache, model = disk(4096), pcbench.ModelRunnerCache(strategy="export"), made()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    with torch.no_grad():
        with pytest.raises(RunnerError, match=f"{folder}.*{NO_SPACE}"):
            cache.load(model, x)
        assert (len(cache), [path.name for path in folder.glob("*/*")]) == (0, [".lock"])
        disk(1 << 20)

        assert torch.equal(cache.load(model, x)(x), model(x))


def test_the_cache_of_runners_says_so_where_its_folder_cannot_be_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "missing"))
    cache, model = pcbench.ModelRunnerCache(strategy="export"), made()
    with pytest.raises(RunnerError, match=f"{tmp_path}/missing.*No such file or directory"):
        cache.load(model, x)
    (tmp_path / "missing").mkdir()

    assert torch.equal(cache.load(model, x)(x), model(x))
