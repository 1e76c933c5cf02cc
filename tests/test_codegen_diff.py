"""``pcbench codegen diff``: files, commits and folders side by side."""

from __future__ import annotations

import json
from pathlib import Path

import git_history
import pytest
from compilations import told
from compiled_kernels import Compiler, Row, replaced

from pcbench.commands import main


@pytest.fixture
def compiler(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Compiler:
    return replaced(monkeypatch, tmp_path)


@pytest.fixture
def repository(tmp_path: Path) -> git_history.Repository:
    return git_history.new(tmp_path / "there", {})


def by_text(kernel: str, chip: str, text: str) -> Row:
    """A row that spills where the kernel's text says so."""
    count = text.count("spills")
    return told(str(count), kernel=kernel, target=chip, spill_stores=count)


def test_two_files_that_json_wrote_are_compared_without_compiling(
    compiler: Compiler, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["codegen", "vector_add", "--json", "a.json"]) == 0
    compiler.made = lambda kernel, chip, text: told("b", kernel=kernel, target=chip, spill_loads=7)
    assert main(["codegen", "vector_add", "--json", "b.json"]) == 0
    capsys.readouterr()

    assert main(["codegen", "diff", "a.json", "b.json", "--target", "sm_90", "--json", "-"]) == 1
    (change,) = json.loads(capsys.readouterr().out)["changes"]
    assert (change["rule"], change["target"]) == ("spills", "sm_90")
    assert main(["codegen", "diff", "a.json", "a.json"]) == 0
    assert main(["codegen", "diff", "a.json", "b.json", "softmx"]) == 2
    assert "neither file has softmx" in capsys.readouterr().err
    assert len(compiler.asked) == 2


def test_a_file_that_was_cut_off_is_named(compiler: Compiler, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["codegen", "vector_add", "--json", "a.json"]) == 0
    Path("b.json").write_text(Path("a.json").read_text()[:-50])

    assert main(["codegen", "diff", "a.json", "b.json"]) == 2
    assert "b.json: is not JSON" in capsys.readouterr().err
    assert len(compiler.asked) == 1


def test_two_commits_are_compiled_each_from_its_own_kernels(
    compiler: Compiler,
    repository: git_history.Repository,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    compiler.made = by_text
    repository.commit({"kernels/__init__.py": "", "kernels/one.py": "fine", "kernels/gone.py": "fine", "mine.py": ""})
    repository.commit({"kernels/one.py": "spills", "mine.py": "spills"})
    repository.write({"kernels/one.py": "spills spills"})
    monkeypatch.chdir(repository.root)

    assert main(["codegen", "diff", "HEAD~1", "HEAD", "--markdown"]) == 1
    assert "spill stores from 0 to 1" in capsys.readouterr().out
    assert [asked[1] for asked in compiler.asked] == [("gone", "one"), ("gone", "one")]
    assert main(["codegen", "diff", "HEAD", ".", "one"]) == 1
    assert "spill stores from 1 to 2" in capsys.readouterr().out
    assert main(["codegen", "diff", "HEAD~1", "HEAD", "mine.py"]) == 1
    assert main(["codegen", "diff", "HEAD", "HEAD", "one"]) == 0
    assert main(["codegen", "diff", "HEAD", "HEAD", "on"]) == 2
    assert "did you mean 'one'?" in capsys.readouterr().err


def test_a_kernel_that_only_one_commit_has_is_new_or_missing(
    compiler: Compiler,
    repository: git_history.Repository,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    compiler.made = by_text
    repository.commit({"kernels/__init__.py": "", "kernels/one.py": ""})
    repository.commit({"kernels/two.py": ""})
    monkeypatch.chdir(repository.root)

    assert main(["codegen", "diff", "HEAD~1", "HEAD"]) == 0
    assert "NEW: the candidate alone has it" in capsys.readouterr().out
    assert main(["codegen", "diff", "HEAD", "HEAD~1"]) == 2
    assert "MISSING: the baseline alone has it" in capsys.readouterr().out


def test_beside_a_file_its_kernels_and_targets_are_compiled_in_all_configurations(
    compiler: Compiler, repository: git_history.Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    repository.commit({"kernels/__init__.py": "", "kernels/one.py": "", "kernels/two.py": ""})
    monkeypatch.chdir(repository.root)
    row = told(kernel="one", target="gfx942")
    (repository.root / "a.json").write_text(json.dumps({"schema": 1, "rows": [row]}))

    assert main(["codegen", "diff", "a.json", "HEAD"]) == 0
    assert [asked[1:4] for asked in compiler.asked] == [(("one",), ("gfx942",), "all")]
