"""The sidecar as written is the sidecar as read."""

from __future__ import annotations

from pathlib import Path

from pcbench import sidecar
from pcbench.analysis.context import read_sidecar

HEAD = {
    "commit": "c" * 40,
    "environment": "shared-py3.11",
    "torch": "2.15.0",
    "torch_git": "d" * 40,
    "triton": None,
    "python": "3.11.7",
    "threads": 2,
    "isa": "AVX2",
    "gpu": None,
    "driver": None,
    "profile": "quick",
    "flags": {"TORCHINDUCTOR_FREEZING": "1"},
}


def test_what_is_written_is_read_back(tmp_path: Path) -> None:
    path = tmp_path / "lab" / "abc-env.context"
    sidecar.begin(path, HEAD)
    sidecar.add(path, "bench.Load(mlp)", "UNAVAILABLE", "no compiler")

    found = read_sidecar(path)

    assert found.context.torch_git == "d" * 40
    assert found.context.flags == {"TORCHINDUCTOR_FREEZING": "1"}
    assert found.absences["bench.Load(mlp)"].reason == "no compiler"
    assert found.problems == ()


def test_a_case_that_is_measured_anew_loses_its_old_reason_and_no_other_does(tmp_path: Path) -> None:
    path = tmp_path / "abc-env.context"
    sidecar.begin(path, HEAD)
    for case in ("bench.Load(mlp)", "bench.Load(mlp, cold)"):
        sidecar.add(path, case, "CRASHED", "last week")

    sidecar.forget(path, "bench.Load(mlp)")

    assert set(read_sidecar(path).absences) == {"bench.Load(mlp, cold)"}


def test_a_second_run_keeps_the_last_word_on_each_case_and_drops_an_unfinished_line(tmp_path: Path) -> None:
    path = tmp_path / "abc-env.context"
    sidecar.begin(path, HEAD)
    for reason in ("first", "second"):
        sidecar.add(path, "bench.Load(mlp)", "CRASHED", reason)
    with path.open("a") as stream:
        stream.write('{"case": "bench.L')

    sidecar.begin(path, HEAD | {"threads": 4})

    found = read_sidecar(path)
    assert found.context.threads == 4
    assert len(path.read_text().splitlines()) == 2
    assert found.absences["bench.Load(mlp)"].reason == "second"
