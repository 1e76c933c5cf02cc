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


def test_two_files_that_end_in_kernel_are_compared_and_a_file_with_the_rows_of_one(
    compiler: Compiler, capsys: pytest.CaptureFixture[str]
) -> None:
    compiler.made = by_text
    Path("v1.py").write_text("fine")
    Path("v2.py").write_text("spills")

    assert main(["codegen", "diff", "v1.py", "v2.py", "--target", "sm_90"]) == 1
    out = capsys.readouterr().out
    assert "spill stores from 0 to 1" in out
    assert "note: name: its kernel was v1.py" in out
    assert [asked[1] for asked in compiler.asked] == [("v1.py",), ("v2.py",)]
    assert main(["codegen", "v1.py", "--target", "sm_90", "--json", "a.json"]) == 0
    assert main(["codegen", "diff", "a.json", "v2.py"]) == 1
    assert main(["codegen", "v2.py", "--target", "sm_90", "--json", "b.json"]) == 0
    assert main(["codegen", "diff", "a.json", "b.json"]) == 1
    assert main(["codegen", "diff", "v2.py", "v1.py", "--target", "sm_90"]) == 0


def test_a_kernel_s_file_is_no_side_beside_a_folder_nor_with_kernels_to_look_for(
    compiler: Compiler, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("v1.py", "v2.py"):
        Path(name).write_text("fine")

    for words in (["v1.py", "."], ["v1.py", "v2.py", "softmax"]):
        assert main(["codegen", "diff", *words]) == 2
        assert "as a side, v1.py is one kernel, and" in capsys.readouterr().err
    assert compiler.asked == []


def test_a_case_of_the_policy_here_is_of_the_kernel_that_it_names(
    compiler: Compiler, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["codegen", "vector_add", "softmax", "--target", "sm_90", "--json", "a.json"]) == 0
    compiler.made = lambda kernel, chip, text: told("b", kernel=kernel, target=chip, registers=80, spill_loads=7)
    assert main(["codegen", "vector_add", "softmax", "--target", "sm_90", "--json", "b.json"]) == 0
    Path("pyproject.toml").write_text(
        "[tool.pcbench.policy]\ncodegen_registers = 0.2\n"
        '[[tool.pcbench.policy.case]]\nmatch = "softmax"\nignore = true\n'
        '[[tool.pcbench.policy.case]]\nmatch = "vector_add *"\ncodegen_registers = 0.3\n'
    )
    capsys.readouterr()

    assert main(["codegen", "diff", "a.json", "b.json", "--json", "-"]) == 1
    found = json.loads(capsys.readouterr().out)
    assert [(change["kernel"], change["rule"]) for change in found["changes"]] == [("vector_add", "spills")]
    assert (found["compared"], len(found["ignored"])) == (1, 1)
    assert main(["codegen", "diff", "a.json", "b.json", "softmax"]) == 2
    assert "the policy ignores 1 compilation: " in capsys.readouterr().out


@pytest.mark.usefixtures("compiler")
def test_a_commit_is_told_by_the_name_that_it_was_given_and_by_its_hash_once(
    repository: git_history.Repository,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    commit = repository.commit({"kernels/__init__.py": "", "kernels/one.py": ""})
    monkeypatch.chdir(repository.root)

    assert main(["codegen", "diff", commit[:10], "HEAD"]) == 0
    out = capsys.readouterr()
    assert f"baseline: {commit[:8]}: sm_90, sm_100: triton" in out.out
    assert f"candidate: HEAD ({commit[:8]}): sm_90" in out.out
    assert "[1/8]" in out.err


@pytest.mark.usefixtures("compiler")
def test_a_side_without_kernels_takes_no_step_and_nothing_is_compared(
    repository: git_history.Repository,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    repository.commit({"one.txt": ""})
    repository.commit({"kernels/__init__.py": "", "kernels/one.py": ""})
    monkeypatch.chdir(repository.root)

    assert main(["codegen", "diff", "HEAD~1", "HEAD"]) == 2
    out = capsys.readouterr()
    assert "): it has none of these kernels" in out.out
    assert "one: 2 compilations for sm_90, sm_100" in out.out
    assert out.out.endswith("2 notes; nothing was compared\n")
    assert "[1/4]" in out.err
