"""Counting under callgrind: what it needs is said when it lacks, and a loop twice as long counts twice as much."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from pcbench import callgrind
from pcbench.errors import PcbenchError, UnavailableError

needs_valgrind = pytest.mark.skipif(shutil.which("valgrind") is None, reason="there is no valgrind here")

COUNTS = """
import sys
from pathlib import Path
from pcbench import callgrind

def loop(turns):
    for _ in range(turns):
        pass

for _ in range(3):
    with callgrind.counting(Path(sys.argv[1])) as count:
        found = [count(lambda: loop(turns)) for turns in (10_000, 20_000, 30_000)]
print(*found)
"""


def program(folder: Path, name: str, body: str = "") -> None:
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(f"#!/bin/sh\n{body}\n")
    (folder / name).chmod(0o755)


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of programs that is all of the PATH."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder))
    monkeypatch.delenv("CC", raising=False)
    return folder


@pytest.mark.usefixtures("path")
def test_without_valgrind_the_reason_is_that_and_the_hint_its_package(tmp_path: Path) -> None:
    with pytest.raises(UnavailableError) as raised:
        callgrind.prepare(tmp_path)

    assert (raised.value.problem, raised.value.hint) == ("there is no valgrind here", "install the package valgrind")


@pytest.mark.parametrize("named", [None, "", "nothing-of-that-name -O2"])
def test_without_a_compiler_the_reason_is_that(
    named: str | None, path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program(path, "valgrind")
    if named is not None:
        monkeypatch.setenv("CC", named)

    with pytest.raises(UnavailableError, match="there is no C compiler here"):
        callgrind.prepare(tmp_path)


def test_without_the_header_the_reason_is_that(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program(tmp_path / "bin", "valgrind")
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("CC", "cc -nostdinc")

    with pytest.raises(UnavailableError, match=r"^cc finds no header valgrind/callgrind\.h \(install"):
        callgrind.prepare(tmp_path)


@pytest.mark.parametrize(
    ("says", "reason"),
    [("echo 'cc: error: no space left' >&2", "cc: error: no space left"), ("", "it does not say why")],
)
def test_a_compiler_that_fails_is_told_with_its_own_error(says: str, reason: str, path: Path, tmp_path: Path) -> None:
    program(path, "valgrind")
    program(path, "cc", f"{says}\nexit 1")

    with pytest.raises(UnavailableError, match=f"^cc cannot build callgrind's requests: {reason}"):
        callgrind.prepare(tmp_path)


def test_a_count_is_read_once(tmp_path: Path) -> None:
    (tmp_path / "counts").write_text("what is left at the end")
    (tmp_path / "counts.7").write_text("desc: Trigger: Client Request\nsummary: 1\n\ntotals: 123456\n")

    assert callgrind.read(tmp_path) == 123456
    with pytest.raises(PcbenchError, match=r"left 0 counts"):
        callgrind.read(tmp_path)


@pytest.mark.parametrize("texts", [["totals: 1\n", "totals: 2\n"], ["events: Ir\n"]])
def test_a_count_that_is_not_the_only_one_or_does_not_say_its_totals_is_refused(
    texts: list[str], tmp_path: Path
) -> None:
    for number, text in enumerate(texts):
        (tmp_path / f"counts.{number}").write_text(text)

    with pytest.raises(PcbenchError, match=f"left {len(texts)} counts"):
        callgrind.read(tmp_path)


@needs_valgrind
def test_a_process_on_its_own_refuses_to_count(tmp_path: Path) -> None:
    callgrind.prepare(tmp_path)

    with pytest.raises(UnavailableError, match="does not run under callgrind"), callgrind.counting(tmp_path):
        pytest.fail("it counts")


@needs_valgrind
@pytest.mark.slow
def test_a_process_under_callgrind_counts_each_turn_of_a_loop_alike(tmp_path: Path) -> None:
    words = [*callgrind.prepare(tmp_path), sys.executable, "-c", COUNTS, str(tmp_path)]
    ended = subprocess.run(words, capture_output=True, text=True, check=True)
    first, second, third = map(int, ended.stdout.split())

    assert second - first == pytest.approx(third - second, rel=0.01)
    assert second - first > 10_000
    assert list(tmp_path.glob("counts.*")) == []
