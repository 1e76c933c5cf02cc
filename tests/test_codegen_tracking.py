"""The asv benchmarks of codegen, with the processes replaced by what they would say; and once for real."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from compilations import failed, told

from pcbench import codegen_asking, codegen_tracking, sidecar
from pcbench.analysis.codegen_rows import read_row
from pcbench.analysis.context import read_sidecar
from pcbench.asking import Setting
from pcbench.codegen_numbers import QUANTITIES
from pcbench.errors import PcbenchError, UnavailableError

HEAD = {"commit": "c" * 40, "environment": "shared-py3.11"}
BENCHMARK = "bench_codegen.Codegen.track_registers"
CHIPS = ("sm_90", "sm_100")


class Compilers:
    """Stand for the processes: what each says, and the kernels and chips that each was started for."""

    def __init__(self) -> None:
        self.started: list[tuple[str, ...]] = []
        self.rows: list[dict[str, Any]] = [told(target="sm_90"), told(target="sm_100", registers=80)]
        self.error: PcbenchError | None = None

    def collect(self, setting: Setting, kernels: Sequence[str], chips: Sequence[str]) -> list[dict[str, Any]]:
        assert setting.threads == 1
        self.started.append((*kernels, *chips))
        if self.error is not None:
            raise self.error
        return self.rows


@pytest.fixture
def said(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Compilers:
    made = Compilers()
    monkeypatch.setattr(codegen_asking, "collect", made.collect)
    monkeypatch.setenv("PCBENCH_STORE", str(tmp_path / "store"))
    monkeypatch.delenv("PCBENCH_ONE_SAMPLE", raising=False)
    return made


@pytest.fixture
def context(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    path = tmp_path / "cccccccc-shared-py3.11.context"
    sidecar.begin(path, HEAD)
    monkeypatch.setenv("PCBENCH_CONTEXT", str(path))
    monkeypatch.setenv("PCBENCH_BENCHMARK", BENCHMARK)
    return path


def number(quantity: str, target: str = "sm_90", kernel: str = "softmax") -> float:
    return codegen_tracking.codegen_number(kernel, target, quantity, CHIPS)


def seconds(count: int, target: str = "sm_90") -> list[float]:
    found = codegen_tracking.codegen_compile_seconds("softmax", target, CHIPS, count)
    assert isinstance(found, dict)
    samples: list[float] = found["samples"]
    return samples


def test_one_process_gives_every_number_of_every_target_of_a_kernel(said: Compilers) -> None:
    assert [number("registers", target) for target in CHIPS] == [64, 80]
    for quantity in QUANTITIES:
        if quantity != "registers":
            number(quantity, "sm_100")
    assert seconds(1) == [0.4]

    assert said.started == [("softmax", *CHIPS)]


def test_a_second_round_compiles_again(said: Compilers) -> None:
    for _ in range(2):
        for target in CHIPS:
            number("registers", target)

    assert len(said.started) == 2


def test_numbers_of_several_compilations_are_the_most_registers_the_least_occupancy_and_all_instructions(
    said: Compilers,
) -> None:
    said.rows = [
        told(registers=40, occupancy=0.75, sass=100, spill_stores=2, spill_loads=3),
        told(dtype="float32", registers=64, occupancy=0.25, sass=11, spill_stores=4, spill_loads=0),
    ]

    expected = {"registers": 64, "spills": 9, "inverse occupancy": 4, "instructions": 111}
    assert {quantity: number(quantity) for quantity in QUANTITIES} == expected


def test_a_target_that_counts_no_spill_loads_has_the_stores_alone(said: Compilers) -> None:
    said.rows = [told(target="sm_100", spill_stores=4, spill_loads=None)]

    assert number("spills", "sm_100") == 4


def test_each_further_process_gives_another_sample_of_the_seconds_and_shared_compilations_count_once(
    said: Compilers,
) -> None:
    said.rows = [
        told("a", compile_cpu_s=0.25),
        told("a", compile_cpu_s=0.25, config="the same compilation"),
        told("b", compile_cpu_s=0.5, dtype="float32"),
        told(target="sm_100", compile_cpu_s=8.0),
    ]

    assert seconds(3) == [0.75] * 3
    assert seconds(3, "sm_100") == [8.0] * 3
    assert len(said.started) == 3


def test_in_a_pair_the_seconds_come_from_a_process_of_their_own(
    said: Compilers, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PCBENCH_ONE_SAMPLE", "1")
    number("registers")
    for _ in range(2):
        seconds(1)

    assert len(said.started) == 3


def test_rows_go_into_the_sidecar_once_for_each_target_without_the_mix_of_opcodes(
    said: Compilers, context: Path
) -> None:
    for quantity in QUANTITIES:
        for target in CHIPS:
            number(quantity, target)

    lines = [json.loads(line) for line in context.read_text().splitlines()[1:]]
    assert [line["case"] for line in lines] == [f"{BENCHMARK}(softmax, {target})" for target in CHIPS]
    assert "mix" not in lines[0]["codegen"]["rows"][0]
    found = read_sidecar(context)
    assert found.problems == ()
    assert found.codegen["softmax", "sm_100"] == (read_row({**said.rows[1], "mix": {}}, "a test"),)


def test_what_does_not_compile_fails_with_its_reason_and_its_rows_are_kept(
    said: Compilers, context: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    broken = {"COMPILE_FAILED": "out of shared memory", "UNAVAILABLE": "it raised"}
    said.rows = [failed(status, broken[status], dtype="float32") for status in ("UNAVAILABLE", "COMPILE_FAILED")]

    with pytest.raises(SystemExit):
        number("registers")

    words = "_softmax float32 rows=4096 columns=1024 BLOCK=1024 num_warps=8: out of shared memory"
    assert words in capsys.readouterr().err
    found = read_sidecar(context)
    absence = found.absences[f"{BENCHMARK}(softmax, sm_90)"]
    assert (absence.status, absence.reason) == ("COMPILE_FAILED", words)
    assert [row.status for row in found.codegen["softmax", "sm_90"]] == ["UNAVAILABLE", "COMPILE_FAILED"]


def test_a_process_that_dies_before_a_chip_fails_every_target(said: Compilers, context: Path) -> None:
    said.rows = [codegen_asking.row("softmax", "", codegen_asking.Status.CRASHED, "killed by SIGSEGV")]
    for target in CHIPS:
        with pytest.raises(SystemExit):
            number("registers", target)

    absences = read_sidecar(context).absences.values()
    assert [(one.status, one.reason) for one in absences] == [("CRASHED", "killed by SIGSEGV")] * 2
    assert len(said.started) == 1


def test_a_kernel_that_fits_no_multiprocessor_has_registers_and_fails_on_occupancy_with_the_limit(
    said: Compilers, context: Path
) -> None:
    said.rows = [told(), told(dtype="float32", occupancy=0, words={"occupancy_limit": "does not fit: shared memory"})]

    assert number("registers") == 64
    with pytest.raises(SystemExit):
        number("inverse occupancy")

    (absence,) = read_sidecar(context).absences.values()
    assert absence.reason is not None
    assert "float32" in absence.reason
    assert "shared memory" in absence.reason


def test_what_this_installation_or_commit_has_not_is_na_with_its_reason(
    said: Compilers, context: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said.rows = [failed("UNAVAILABLE", "this Triton knows no sm_90"), told(target="sm_100", occupancy=None)]

    assert math.isnan(number("registers"))
    assert math.isnan(number("inverse occupancy", "sm_100"))
    assert math.isnan(number("registers", kernel="no_kernel"))
    assert math.isnan(number("registers", kernel="kernels/none.py"))
    find = codegen_tracking.importlib.util.find_spec
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None if name == "triton" else find(name))
    assert math.isnan(number("registers", kernel="row_sum"))

    reasons = [absence.reason for absence in read_sidecar(context).absences.values()]
    assert [(reason or "").rpartition(": ")[2] for reason in reasons] == [
        "this Triton knows no sm_90",
        "what compiles for sm_100 does not tell inverse occupancy",
        "this commit has no kernel no_kernel",
        "this commit has no kernel kernels/none.py",
        "this Python has no triton",
    ]
    assert len(said.started) == 1


def test_a_file_of_the_commit_is_compiled_by_its_path(
    said: Compilers, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "mine.py").touch()
    monkeypatch.setenv("PCBENCH_TREE", str(tmp_path))

    assert number("registers", kernel="mine.py") == 64
    assert said.started == [("mine.py", *CHIPS)]


def test_a_process_that_tells_nothing_is_started_once_for_all_numbers(said: Compilers) -> None:
    said.error = UnavailableError("no compiler")

    assert all(math.isnan(number(quantity, target)) for target in CHIPS for quantity in QUANTITIES)
    assert len(said.started) == 1


@pytest.mark.slow
def test_a_kernel_is_compiled_for_two_targets_by_a_real_process(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, context: Path
) -> None:
    monkeypatch.setenv("PCBENCH_STORE", str(tmp_path / "store"))
    monkeypatch.delenv("PCBENCH_ONE_SAMPLE", raising=False)

    found = {quantity: number(quantity, kernel="row_sum") for quantity in QUANTITIES}
    took = codegen_tracking.codegen_compile_seconds("row_sum", "sm_100", CHIPS, 1)

    rows = read_sidecar(context).codegen
    assert set(rows) == {("row_sum", target) for target in CHIPS}
    assert found["registers"] == max(row.metrics["registers"] for row in rows["row_sum", "sm_90"])
    assert found["spills"] == 0
    assert found["inverse occupancy"] >= 1
    assert isinstance(took, dict)
    assert took["samples"][0] > 0
