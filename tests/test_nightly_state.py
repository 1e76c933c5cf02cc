"""What a night keeps of itself, its lock, and a disk that is full."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import pytest

from pcbench.commands._night_state import STATE, Night, alone, begin, check_room, keep
from pcbench.errors import PcbenchError

ASKED = {"profile": "quick", "env": None}


def kept(folder: Path, **more: object) -> Night:
    night = replace(Night(ASKED, ("c" * 40, "b" * 40), ("plan",), started="2026-11-30T02:00:00+00:00"), **more)  # type: ignore[arg-type]
    keep(folder, night)
    return night


def test_an_unfinished_night_is_gone_on_with_as_it_was(tmp_path: Path) -> None:
    night = kept(tmp_path, few=("x",), short={"b" * 40: ("x", "y")}, dropped=("a sentence",))
    found, said = begin(tmp_path, ASKED)
    assert found == night
    assert said == "going on with the night of 2026-11-30T02:00:00+00:00 at cccccccc; behind it: plan"


def test_a_finished_night_is_followed_by_a_new_one_that_knows_what_was_left_out(tmp_path: Path) -> None:
    kept(tmp_path, finished=True, left_out=("x",), restless=("y",), number=6)
    found, said = begin(tmp_path, ASKED)
    assert (found.commits, found.done, said) == ((), (), "")
    assert (found.left_out, found.restless, found.number, found.before) == (("x",), ("y",), 7, "c" * 40)


def test_another_question_begins_another_night(tmp_path: Path) -> None:
    kept(tmp_path)
    found, said = begin(tmp_path, {**ASKED, "profile": "full"})
    assert not found.commits
    assert "asked for something else" in said


@pytest.mark.parametrize("text", ["", "{", '{"schema": 99}', "[]"])
def test_a_damaged_state_begins_a_new_night_and_says_so(tmp_path: Path, text: str) -> None:
    (tmp_path / STATE).write_text(text)
    found, said = begin(tmp_path, ASKED)
    assert not found.commits
    assert "cannot be read" in said


def test_two_nights_at_once_are_one_and_the_other_is_told_whose_it_is(tmp_path: Path) -> None:
    with alone(tmp_path, "pcbench nightly"):
        script = (
            "from pathlib import Path; from pcbench.commands._night_state import alone\n"
            f"with alone(Path({str(tmp_path)!r}), 'another'): pass"
        )
        done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert f"another night is at work here: process {os.getpid()}, pcbench nightly" in done.stderr


def test_nothing_is_accepted_while_a_night_is_at_work(tmp_path: Path) -> None:
    (tmp_path / "results").mkdir()
    words = [sys.executable, "-m", "pcbench", "accept", "--reason", "r", "--results", str(tmp_path / "results")]
    said = []
    for place in (tmp_path / ".asv", tmp_path / "elsewhere"):
        with alone(place, "pcbench nightly"):
            done = subprocess.run(words, capture_output=True, text=True, check=False)
        said.append(done.stderr)
        assert done.returncode == 2
    assert f"a night is at work here: process {os.getpid()}, pcbench nightly" in said[0]
    assert "holds no results" in said[1]


def test_the_asv_of_a_killed_night_is_waited_for(tmp_path: Path) -> None:
    script = (
        "import os, subprocess, sys; from pathlib import Path; from pcbench.commands._night_state import alone\n"
        f"with alone(Path({str(tmp_path)!r}), 'a night') as lock:\n"
        "    subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(1)'], pass_fds=[lock.fileno()])\n"
        "    os._exit(1)"
    )
    subprocess.run([sys.executable, "-c", script], check=False)
    with alone(tmp_path, "the next") as lock:
        lock.seek(0)
        assert f"process {os.getpid()}, the next" in lock.read()


class Usage(NamedTuple):
    total: int
    used: int
    free: int


def test_a_night_does_not_begin_on_a_disk_that_is_nearly_full(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda path: Usage(10**12, 10**12 - 10**7, 10**7))
    with pytest.raises(PcbenchError, match=r"has 10 MB free; a night needs 1,000 MB .*no result was touched"):
        check_room(tmp_path, tmp_path / "results")


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 64 kB."""
    place = tmp_path / "disk"
    place.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(place)], capture_output=True)
    if mounted.returncode != 0:
        pytest.skip("a small file system can be mounted by root alone")
    yield place
    subprocess.run(["umount", str(place)], check=True)


def test_a_full_disk_leaves_the_state_as_it_was(small_disk: Path) -> None:
    kept(small_disk)
    before = (small_disk / STATE).read_text()
    with pytest.raises(PcbenchError, match=r"nightly.json could not be written: No space left on device"):
        kept(small_disk, dropped=("x" * 100_000,))
    assert (small_disk / STATE).read_text() == before
    assert [path.name for path in small_disk.iterdir()] == [STATE]


def test_a_full_disk_leaves_the_results_that_asv_wrote_before(small_disk: Path) -> None:
    script = (
        "import sys; from asv import util; from pcbench import asv_run\n"
        "asv_run.write_files_whole(); asv_run.write_files_whole()\n"
        f"path = {str(small_disk / 'result.json')!r}\n"
        "util.write_json(path, {'a': 1}, 2)\n"
        "util.write_json(path, {'a': 'x' * 100_000}, 2)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert "No space left on device" in done.stderr
    assert json.loads((small_disk / "result.json").read_text()) == {"a": 1, "version": 2}
    assert [path.name for path in small_disk.iterdir()] == ["result.json"]
