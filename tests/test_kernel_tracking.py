"""The asv benchmarks of kernels' times, with the processes replaced by what they would say."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest
import torch

from pcbench import kernel_asking, kernel_tracking, sidecar
from pcbench.analysis.context import read_sidecar
from pcbench.asking import Setting
from pcbench.errors import PcbenchError, UnavailableError
from pcbench.kernel_asking import NoTimesError
from pcbench.kernel_samples import KernelTimes, Sample, Work
from pcbench.kernel_timing.answering import Request, place_of
from pcbench.status import Status

ROOT = Path(__file__).parent.parent
LAUNCH = "softmax float16 rows=16384 columns=4096"
BOTH = (kernel_tracking.kernel_seconds, kernel_tracking.rival_seconds)
TIMES = KernelTimes(
    kernel="softmax",
    sizes="rows=16384 columns=4096",
    dtype="float16",
    gpu="Simulated 1",
    work=Work(2, 3, 4, "memory"),
    target="sm_90",
    config=("BLOCK=1024 num_warps=8",),
    samples=(Sample(1.0, True, 1980.0, ""), Sample(2.0, False, None, None)),
    rival="torch.softmax",
    rival_samples=(Sample(3.0, True, 1980.0, "SwPowerCap"), Sample(4.0, True, None, None)),
    copy_bytes_per_s=5.0,
    matmul_flops_per_s={"float16": 6.0},
    unavailable={"graph": "it waits"},
)


@dataclass
class Processes:
    """What the processes say, and what each was started for."""

    gpu: Callable[[], str] = lambda: "Simulated 1"
    times: Callable[[], KernelTimes] = lambda: TIMES
    started: list[str] = field(default_factory=list)

    def find(self, setting: Setting) -> str:
        assert setting.cwd == ROOT
        self.started.append("gpu")
        return self.gpu()

    def time(self, setting: Setting, kernel: str, dtype: str, sizes: str, pairs: int) -> KernelTimes:
        assert setting.cwd == ROOT
        self.started.append(f"{pairs} pairs of {kernel}, {dtype}, {sizes}")
        return self.times()


@pytest.fixture
def said(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Processes:
    made = Processes()
    monkeypatch.setattr(kernel_asking, "gpu", made.find)
    monkeypatch.setattr(kernel_asking, "timed", made.time)
    monkeypatch.setenv("PCBENCH_STORE", str(tmp_path / "store"))
    monkeypatch.setenv("PCBENCH_TREE", str(ROOT))
    return made


@pytest.fixture
def context(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    path = tmp_path / "cccccccc-shared-py3.11.context"
    sidecar.begin(path, {"commit": "c" * 40, "environment": "shared-py3.11"})
    monkeypatch.setenv("PCBENCH_CONTEXT", str(path))
    monkeypatch.setenv("PCBENCH_BENCHMARK", "bench_kernels.Times.track_seconds")
    return path


def test_one_process_gives_the_seconds_of_a_kernel_and_of_its_rival_and_all_it_told_is_beside_the_result(
    said: Processes, context: Path
) -> None:
    kernel, rival = kernel_tracking.kernel_seconds(LAUNCH, 2), kernel_tracking.rival_seconds(LAUNCH, 2)
    stored = read_sidecar(context)

    assert kernel == {"samples": [1.0, 2.0], "number": 1}
    assert rival == {"samples": [3.0, 4.0], "number": 1}
    assert said.started == ["gpu", "2 pairs of softmax, float16, rows=16384 columns=4096"]
    assert (stored.kernel_times, stored.problems) == ({LAUNCH: TIMES}, ())


def test_a_second_round_takes_times_of_its_own(said: Processes) -> None:
    for _ in range(2):
        kernel_tracking.kernel_seconds(LAUNCH, 1)
        kernel_tracking.rival_seconds(LAUNCH, 1)

    assert said.started == ["gpu", "1 pairs of softmax, float16, rows=16384 columns=4096"] * 2


def test_without_a_gpu_one_process_says_so_for_all_launches(said: Processes, context: Path) -> None:
    def none() -> str:
        raise UnavailableError("torch 2.15.0 can use no GPU")

    said.gpu = none
    launches = (LAUNCH, "softmax float32 rows=16384 columns=4096", "matmul float16 m=8192 n=8192 k=8192")
    found = [
        take(launch, 2)
        for launch in launches
        for take in (kernel_tracking.kernel_seconds, kernel_tracking.rival_seconds)
    ]

    assert all(isinstance(each, float) and math.isnan(each) for each in found)
    assert said.started == ["gpu"]
    absences = read_sidecar(context).absences
    assert {absence.reason for absence in absences.values()} == {"torch 2.15.0 can use no GPU"}
    assert set(absences) == {f"bench_kernels.Times.track_seconds({launch})" for launch in launches}


def test_a_kernel_that_the_commit_does_not_have_is_na_before_any_process(said: Processes, context: Path) -> None:
    assert math.isnan(kernel_tracking.kernel_seconds("hardmax float16 rows=2", 1))  # type: ignore[arg-type]
    assert said.started == []
    assert [absence.reason for absence in read_sidecar(context).absences.values()] == [
        "this commit has no kernel hardmax"
    ]


@pytest.mark.usefixtures("said")
def test_a_kernel_is_the_commit_s_where_its_package_is_and_not_where_the_process_stands(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PCBENCH_TREE", str(tmp_path))
    monkeypatch.setattr(kernel_asking, "gpu", lambda setting: "Simulated 1")
    monkeypatch.setattr(kernel_asking, "timed", lambda setting, *asked: TIMES)

    assert kernel_tracking.kernel_seconds(LAUNCH, 2) == {"samples": [1.0, 2.0], "number": 1}


def test_a_wrong_answer_fails_both_cases_with_its_status_and_is_timed_once(said: Processes, context: Path) -> None:
    def wrong() -> KernelTimes:
        raise NoTimesError(Status.WRONG_RESULT, "output 0 is off by 0.1")

    said.times = wrong
    for take in BOTH:
        with pytest.raises(SystemExit):
            take(LAUNCH, 2)

    assert len(said.started) == 2
    (absence,) = read_sidecar(context).absences.values()
    assert (absence.status, absence.reason) == ("WRONG_RESULT", "output 0 is off by 0.1")
    assert read_sidecar(context).kernel_times == {}


def test_a_kernel_without_a_rival_has_its_time_and_the_rivals_case_says_why(said: Processes, context: Path) -> None:
    said.times = lambda: replace(TIMES, rival="", rival_samples=(), unavailable={"rival": "this torch has none"})
    rival = kernel_tracking.rival_seconds(LAUNCH, 2)

    assert isinstance(rival, float)
    assert math.isnan(rival)
    assert kernel_tracking.kernel_seconds(LAUNCH, 2) == {"samples": [1.0, 2.0], "number": 1}
    assert [absence.reason for absence in read_sidecar(context).absences.values()] == ["this torch has none"]


@pytest.mark.parametrize(
    "line",
    [
        {"kernel": "softmax"},
        {"kernel": "softmax", "samples": 3},
        {"kernel": "softmax", "work": {"bound": "patience"}},
        ["softmax"],
    ],
)
@pytest.mark.usefixtures("said")
def test_a_broken_line_of_times_is_named_and_the_others_are_read(context: Path, line: object) -> None:
    with context.open("a") as file:
        file.write(json.dumps({"case": "it", "kernel_times": line}) + "\n")
    kernel_tracking.kernel_seconds(LAUNCH, 2)
    stored = read_sidecar(context)

    assert stored.kernel_times == {LAUNCH: TIMES}
    (problem,) = stored.problems
    assert problem.startswith("line 2: ")


def test_a_kernel_is_timed_where_it_is_tracked_and_nowhere_else() -> None:
    request = Request("", 1, str(ROOT), "softmax", "float16", "rows=16384 columns=4096", 2)
    place = place_of(request)

    assert (place.sizes, place.dtype) == ({"rows": 16384, "columns": 4096}, torch.float16)
    elsewhere = "^softmax is not tracked at .* but at rows=16384 columns=4096 in float16, float32$"
    for changed in ({"sizes": "rows=1 columns=4096"}, {"dtype": "bfloat16"}):
        with pytest.raises(UnavailableError, match=elsewhere):
            place_of(replace(request, **changed))
    with pytest.raises(PcbenchError, match="there is no kernel 'hardmax'"):
        place_of(replace(request, kernel="hardmax"))


@pytest.mark.slow
@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU")
def test_a_process_says_why_it_can_use_no_gpu_before_it_looks_at_the_kernel(tmp_path: Path) -> None:
    setting = Setting("", threads=1, timeout_s=120, cwd=tmp_path)
    why = "can use no GPU: " if torch.version.cuda or torch.version.hip else "was built without CUDA"
    said = f"^torch {re.escape(torch.__version__)} {why}"

    with pytest.raises(UnavailableError, match=said):
        kernel_asking.gpu(setting)
    with pytest.raises(UnavailableError, match=said):
        kernel_asking.timed(setting, "no_such_kernel", "float16", "", 1)
