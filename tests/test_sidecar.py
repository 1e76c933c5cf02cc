"""The sidecar as written is the sidecar as read."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

from compilations import rows, told
from results_folder import Folder

from pcbench import sidecar
from pcbench.analysis.asv_results import read_results
from pcbench.analysis.context import read_sidecar
from pcbench.claims import ClaimOutcome, ClaimResult
from pcbench.guard_samples import Census, Place

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


def census(guards: int) -> Census:
    places = {"L['x']": Place(("TENSOR_MATCH",), ("has_no_accessors",))}
    return Census({"guards": guards}, places, {"metrics: guard_count": "torch kept none"})


def of(target: str, guards: int) -> dict[str, Any]:
    return {"target": target, **asdict(census(guards))}


def test_a_census_is_read_back_whole_and_of_two_of_a_target_the_later_counts(tmp_path: Path) -> None:
    path = tmp_path / "abc-env.context"
    sidecar.begin(path, HEAD)
    for entry, target, guards in (("guards", "mlp", 46), ("guards", "bert", 900), ("depth", "mlp", 47)):
        sidecar.add_part(path, f"bench.Census({target}, {entry})", "census", of(target, guards))

    found = read_sidecar(path)

    assert found.censuses == {"mlp": census(47), "bert": census(900)}
    assert (found.absences, found.problems) == ({}, ())


def test_a_census_outlives_another_run_beside_a_reason_of_its_case_and_goes_when_the_case_is_measured_anew(
    tmp_path: Path,
) -> None:
    path = tmp_path / "abc-env.context"
    case = "bench.Census(mlp, guards)"
    sidecar.begin(path, HEAD)
    for guards in (46, 47):
        sidecar.add_part(path, case, "census", of("mlp", guards))
    sidecar.add(path, case, "FAILED", "two processes do not agree")

    sidecar.begin(path, HEAD)
    kept = read_sidecar(path)
    lines = len(path.read_text().splitlines())
    sidecar.forget(path, case)

    assert kept.censuses == {"mlp": census(47)}
    assert kept.absences[case].reason == "two processes do not agree"
    assert lines == 3
    assert read_sidecar(path).censuses == {}


def test_what_cases_told_beside_their_numbers_is_in_the_run_of_their_result(tmp_path: Path) -> None:
    folder = Folder(tmp_path / "results", {})
    folder.begin()
    claim = ClaimResult("sums.adds", "sums", "It adds.", ClaimOutcome.HOLDS, "seen")
    parts = {
        "claim": asdict(claim),
        "census": of("mlp", 46),
        "codegen": {"kernel": "softmax", "target": "sm_90", "rows": [told()]},
    }
    folder.add(1, {}, sidecar=[{"case": "it", kind: part} for kind, part in parts.items()])
    (run,) = read_results(folder.root).runs

    assert run.context is not None
    assert run.claims == {"sums.adds": claim}
    assert run.censuses == {"mlp": census(46)}
    assert run.codegen == {("softmax", "sm_90"): tuple(rows(told()))}


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


def test_rows_of_codegen_outlive_another_run_and_go_when_their_case_is_measured_anew(tmp_path: Path) -> None:
    path = tmp_path / "abc-env.context"
    sidecar.begin(path, HEAD)
    for target in ("sm_90", "sm_100"):
        about = {"kernel": "softmax", "target": target, "rows": [told(target=target)]}
        sidecar.add_part(path, f"bench.Codegen(softmax, {target})", "codegen", about)

    sidecar.begin(path, HEAD)
    kept = read_sidecar(path)
    sidecar.forget(path, "bench.Codegen(softmax, sm_90)")

    assert set(kept.codegen) == {("softmax", "sm_90"), ("softmax", "sm_100")}
    assert kept.codegen["softmax", "sm_90"] == tuple(rows(told()))
    assert set(read_sidecar(path).codegen) == {("softmax", "sm_100")}
