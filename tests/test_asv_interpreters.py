"""Which interpreter asv measures a torch of the matrix with."""

from __future__ import annotations

from pathlib import Path

import fake_torch
import git_history
import pytest
from asv import environment
from toy_suite import toy

from pcbench import asv_interpreters, torch_envs


@pytest.mark.slow
def test_a_torch_of_the_matrix_is_served_by_the_environment_of_that_name_or_version(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PCBENCH_ENVS", str(tmp_path / "envs"))
    for name, release in (("9.9.1", "9.9.1"), ("nightly", "9.9.2")):
        python = fake_torch.python(tmp_path / name, release)
        (tmp_path / "envs" / name).mkdir(parents=True)
        record = {"kind": "adopted", "python": str(python)}
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
    record = {"kind": "adopted", "python": str(tmp_path / "none")}
    torch_envs.write_record(tmp_path / "envs" / "small" / torch_envs.RECORD, record)

    table = asv_interpreters.chosen("3", "small", {"small": str(small_python)})

    assert table.path == str(small_python)
    with pytest.raises(environment.EnvironmentUnavailable, match="cannot use the interpreter"):
        asv_interpreters.chosen("3", "small", {})
