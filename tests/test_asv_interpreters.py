"""Which interpreter asv measures a torch of the matrix with."""

from __future__ import annotations

import sys
from pathlib import Path

import fake_torch
import git_history
import pytest
from asv import environment
from toy_suite import toy

from pcbench import asv_interpreters, interpreters, torch_envs


@pytest.mark.slow
def test_a_torch_of_the_matrix_is_served_by_the_environment_of_that_name_or_version(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PCBENCH_ENVS", str(tmp_path / "envs"))
    for name, release in (("9.9.1", "9.9.1"), ("nightly", "9.9.2")):
        python = fake_torch.python(tmp_path / name, release)
        (tmp_path / "envs" / name).mkdir(parents=True)
        record = {"kind": "adopted", "python": str(python), "torch": f"{release}+fake"}
        torch_envs.write_record(tmp_path / "envs" / name / torch_envs.RECORD, record)
    matrix = {"req": {"torch": ["9.9.1", "9.9.2", "9.9.3"]}}
    repository = git_history.new(tmp_path, {"measured_packages": {"toy": "toy"}, "matrix": matrix})
    suite = "import torch\n\n\ndef track_torch():\n    return float(torch.__version__[4:5])\n"
    repository.write({"benchmarks/__init__.py": "", "benchmarks/bench_toy.py": suite})
    commit = repository.commit({"toy/__init__.py": toy(1.0)})

    said = repository.asv("run", "HEAD").stdout

    found = [repository.results(commit, f"torch9.9.{n}")["bench_toy.track_torch"] for n in (1, 2)]
    assert found == [[1.0], [2.0]], said
    assert [repository.sidecar(commit, f"torch9.9.{n}")[0]["torch_git"] for n in (1, 2)] == [fake_torch.GIT] * 2
    assert "not 9.9.3; `pcbench env add 9.9.3` makes one that has" in said


def test_shared_pythons_go_before_the_environments(
    small_python: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PCBENCH_ENVS", str(tmp_path / "envs"))
    (tmp_path / "envs" / "small").mkdir(parents=True)
    record = {"kind": "adopted", "python": str(tmp_path / "none"), "torch": "9.9.1"}
    torch_envs.write_record(tmp_path / "envs" / "small" / torch_envs.RECORD, record)

    table = asv_interpreters.chosen("3", "small", {"small": str(small_python)})

    assert table.path == str(small_python)
    with pytest.raises(environment.EnvironmentUnavailable, match="cannot use the interpreter"):
        asv_interpreters.chosen("3", "small", {})


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("sleep 60", "did not answer in 0.5 s"),
        ("""echo 'pcbench is told: {"python": "3.10.1"}'""", "is Python 3.10.1; pcbench needs 3.11"),
    ],
)
def test_an_interpreter_that_hangs_or_is_too_old_is_unavailable_to_asv(
    code: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(interpreters, "_ASK_S", 0.5)
    python = tmp_path / "python"
    python.write_text(f"#!/bin/sh\nexec {code}\n" if code.startswith("sleep") else f"#!/bin/sh\n{code}\n")
    python.chmod(0o755)

    with pytest.raises(environment.EnvironmentUnavailable, match=said):
        asv_interpreters.chosen(str(python), "", {})


def test_what_an_interpreter_prints_when_it_starts_does_not_keep_asv_from_it(tmp_path: Path) -> None:
    python = fake_torch.python(tmp_path / "python", "9.9.1")
    (git_history.site_packages(tmp_path / "python") / "sitecustomize.py").write_text("print('hello')\n")

    found = asv_interpreters.chosen(str(python), "9.9.1", {})

    assert (found.torch, found.triton) == ("9.9.1+fake", None)
    assert found.python == f"{sys.version_info.major}.{sys.version_info.minor}"
