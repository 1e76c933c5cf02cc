"""Compilers by name, and a PATH without them."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from pcbench import compilers


@pytest.mark.parametrize("name", ["g++", "/usr/bin/x86_64-linux-gnu-g++-12", "cc", "clang++-15", "ptxas"])
def test_a_compiler_is_known_by_its_name(name: str) -> None:
    assert compilers.is_compiler(name)


@pytest.mark.parametrize("name", ["ls", "python3", "gcc-ar", "clangd", "ccache"])
def test_other_programs_are_none(name: str) -> None:
    assert not compilers.is_compiler(name)


def test_a_path_without_compilers_finds_everything_else_the_first_of_a_name_first(tmp_path: Path) -> None:
    for place, names in (("one", ("tool", "g++")), ("two", ("tool", "cc", "other"))):
        (tmp_path / place).mkdir()
        for name in names:
            program = tmp_path / place / name
            program.touch()
            program.chmod(0o755)
    path = compilers.path_without(f"{tmp_path / 'one'}:{tmp_path / 'missing'}:{tmp_path / 'two'}", tmp_path / "links")

    assert shutil.which("g++", path=path) is shutil.which("cc", path=path) is None
    assert Path(str(shutil.which("tool", path=path))).resolve() == tmp_path / "one" / "tool"
    assert shutil.which("other", path=path) is not None
