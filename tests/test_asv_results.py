"""tests/data/asv_results was written by asv 0.6.6 over three commits of a toy repository; copies are broken here."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pcbench import sidecar
from pcbench.analysis.asv_results import read_results
from pcbench.analysis.records import Absence, Case
from pcbench.errors import ResultsError

DATA = Path(__file__).parent / "data" / "asv_results"
NEWEST = "045ff022-virtualenv-py3.11-PCBENCH_PROFILEquick"
LOAD = "bench_load.Load.track_first_output"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    shutil.copytree(DATA, tmp_path / "results")
    return tmp_path / "results"


@pytest.fixture
def newest(folder: Path) -> Path:
    return folder / "toybox" / f"{NEWEST}.json"


def change(path: Path, edit: Callable[[dict[str, Any]], object]) -> None:
    content = json.loads(path.read_text())
    edit(content)
    path.write_text(json.dumps(content))


def load_case(model: str, strategy: str, temperature: str) -> Case:
    return Case(LOAD, (("model", model), ("strategy", strategy), ("temperature", temperature)))


def test_runs_come_by_commit_date_with_their_machine_and_environment() -> None:
    found = read_results(DATA)

    assert [run.commit[:8] for run in found.runs] == ["3f576bf1", "8e74f118", "045ff022"]
    assert {run.machine.name for run in found.runs} == {"toybox"}
    assert found.runs[0].machine.cpu == "a processor"
    assert found.runs[0].environment == "virtualenv-py3.11-PCBENCH_PROFILEquick"
    assert found.problems == ()


def test_every_case_of_the_suite_is_measured_or_absent_in_each_run() -> None:
    for run in read_results(DATA).runs:
        assert len(run.measurements) + len(run.absences) + len(run.left_out) == 2 * 4 * 3 + 2 * 2 + 2
        assert not run.measurements.keys() & run.absences.keys()


def test_a_measurement_has_the_value_unit_quartiles_and_samples_that_asv_stored() -> None:
    found = read_results(DATA).runs[-1].measurements[load_case("mlp", "aoti", "warm")]

    assert (found.value, found.unit, found.n, found.worse) == (4.16, "seconds", 5, "up")
    assert (found.low, found.high) == (4.0768, 4.2432)
    assert found.samples is not None
    assert found.samples[0] == 3.9936


def test_samples_that_asv_was_not_asked_to_record_are_none() -> None:
    assert read_results(DATA).runs[0].measurements[load_case("mlp", "aoti", "warm")].samples is None


def test_a_single_sample_has_no_spread_though_asv_stores_an_infinite_interval() -> None:
    assert "Infinity" in (DATA / "toybox" / f"{NEWEST}.json").read_text()
    found = read_results(DATA).runs[-1].measurements[load_case("mlp", "aoti", "cold")]

    assert (found.value, found.n, found.low, found.high) == (12.480000000000002, 1, None, None)


def test_nan_is_not_applicable_and_null_is_failed() -> None:
    absences = read_results(DATA).runs[0].absences

    assert absences[load_case("encoder", "aoti", "warm")] == Absence("n/a")
    assert absences[load_case("mlp", "export", "hot")] == Absence("failed")
    assert absences[Case("bench_load.track_always_fails")] == Absence("failed")


def test_a_result_of_another_version_is_left_out_of_the_series_and_said() -> None:
    first, second, _ = read_results(DATA).runs

    assert first.left_out == {"bench_load.Machine.track_answer": "measured as version 1, the suite has version 2"}
    assert second.measurements[Case("bench_load.Machine.track_answer")].value == 42


def test_a_plain_number_has_no_samples_and_no_n() -> None:
    size = Case("bench_load.Artifact.track_size", (("model", "mlp"), ("strategy", "aoti")))
    found = read_results(DATA).runs[0].measurements[size]

    assert (found.value, found.unit, found.n, found.samples) == (910_000, "bytes", None, None)


def test_a_result_without_a_sidecar_has_no_context() -> None:
    assert all(run.context is None for run in read_results(DATA).runs)


def test_a_sidecar_says_what_the_run_ran_on_and_why_a_case_has_no_number(newest: Path, folder: Path) -> None:
    beside = newest.with_suffix(".context")
    commit = json.loads(newest.read_text())["commit_hash"]
    sidecar.begin(beside, {"commit": commit, "environment": NEWEST.partition("-")[2], "torch": "2.15.0", "threads": 2})
    sidecar.add(beside, f"{LOAD}(encoder, aoti, warm)", "UNAVAILABLE", "no compiler")
    run = read_results(folder).runs[-1]

    assert run.context is not None
    assert (run.context.torch, run.context.threads) == ("2.15.0", 2)
    assert run.absences[load_case("encoder", "aoti", "warm")] == Absence("UNAVAILABLE", "no compiler")
    assert run.absences[load_case("encoder", "aoti", "hot")] == Absence("n/a")


def test_a_case_that_only_the_sidecar_knows_is_absent_with_its_reason(newest: Path, folder: Path) -> None:
    beside = newest.with_suffix(".context")
    change(newest, lambda content: content["results"].pop(LOAD))
    commit = json.loads(newest.read_text())["commit_hash"]
    sidecar.begin(beside, {"commit": commit, "environment": NEWEST.partition("-")[2]})
    sidecar.add(beside, f"{LOAD}(mlp, aoti, warm)", "INTERRUPTED", "the run was interrupted")

    assert read_results(folder).runs[-1].absences[load_case("mlp", "aoti", "warm")].status == "INTERRUPTED"


def test_a_sidecar_about_another_commit_is_named_and_not_used(newest: Path, folder: Path) -> None:
    sidecar.begin(newest.with_suffix(".context"), {"commit": "f" * 40, "environment": "elsewhere", "torch": "2.15.0"})
    found = read_results(folder)

    assert found.runs[-1].context is None
    assert [problem.what for problem in found.problems] == ["is about commit ffffffff in elsewhere: not used"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "is empty"),
        ('{"commit_hash": "045f', "is not JSON"),
        ("[]", "it is a list, not an object"),
        ('{"version": 1}', "has result version 1; this pcbench reads version 2"),
        ('{"version": 2}', "commit_hash is null, not a text"),
        ('{"version": ' + "1" * 5000 + "}", "is not JSON"),
    ],
)
def test_a_broken_file_is_named_and_the_rest_is_read(newest: Path, folder: Path, text: str, words: str) -> None:
    newest.write_text(text)
    found = read_results(folder)

    assert len(found.runs) == 2
    assert [problem.path for problem in found.problems] == [newest]
    assert words in found.problems[0].what


def test_a_file_that_is_not_text_is_named_and_the_rest_is_read(newest: Path, folder: Path) -> None:
    newest.write_bytes(b"\xff\xfe\x00")
    found = read_results(folder)

    assert (len(found.runs), found.problems[0].what) == (2, "is not text")


@pytest.mark.parametrize(
    ("edit", "words"),
    [
        (lambda content: content["results"][LOAD][0].pop(), "23 values of result for 24 parameter combinations"),
        (lambda content: content["results"].update({LOAD: 5}), "its row is a whole number, not a list"),
        (lambda content: content["results"][LOAD].extend([None] * 9), "columns, the file names 13"),
        (lambda content: content["results"][LOAD].__setitem__(1, [3, 4, 5]), "params is a whole number, not a list"),
        (lambda content: content["results"][LOAD][0].__setitem__(0, 10**400), "a value that starts with 1000"),
    ],
)
def test_a_benchmark_that_is_broken_is_named_and_the_rest_of_its_file_is_read(
    newest: Path, folder: Path, edit: Callable[[dict[str, Any]], object], words: str
) -> None:
    change(newest, edit)
    found = read_results(folder)

    assert Case("bench_load.Machine.track_answer") in found.runs[-1].measurements
    assert [problem.path for problem in found.problems] == [newest]
    assert found.problems[0].what.startswith(f"{LOAD}: ")
    assert words in found.problems[0].what


def test_a_file_without_a_column_of_results_is_named(newest: Path, folder: Path) -> None:
    change(newest, lambda content: content["result_columns"].__setitem__(0, "outcome"))

    assert "result_columns has no column result" in read_results(folder).problems[0].what


@pytest.mark.parametrize(
    ("value", "reason"), [("fast", "its value is no number: 'fast'"), (float("inf"), "its value is infinite")]
)
def test_a_value_that_is_no_number_is_a_failure_with_its_reason(
    newest: Path, folder: Path, value: object, reason: str
) -> None:
    change(newest, lambda content: content["results"]["bench_load.Machine.track_answer"].__setitem__(0, [value]))

    assert read_results(folder).runs[-1].absences[Case("bench_load.Machine.track_answer")] == Absence("failed", reason)


def test_a_benchmark_that_the_suite_no_longer_has_is_left_out_and_said(newest: Path, folder: Path) -> None:
    change(newest, lambda content: content["results"].update(gone=[[1.0], [], "1"]))

    assert read_results(folder).runs[-1].left_out == {"gone": "benchmarks.json does not have it"}


def test_a_benchmark_measured_with_other_parameters_is_left_out_and_said(newest: Path, folder: Path) -> None:
    change(newest, lambda content: content["results"][LOAD].__setitem__(1, [["'mlp'"]]))

    assert read_results(folder).runs[-1].left_out == {LOAD: "measured with 1 parameters, the suite has 3"}


def test_a_broken_machine_file_is_named_and_the_folder_names_the_machine(folder: Path) -> None:
    (folder / "toybox" / "machine.json").write_text("{")
    found = read_results(folder)

    assert {run.machine.name for run in found.runs} == {"toybox"}
    assert found.problems[0].path.name == "machine.json"


def test_a_suite_may_declare_which_direction_is_worse(folder: Path) -> None:
    answer = "bench_load.Machine.track_answer"
    change(folder / "benchmarks.json", lambda content: content[answer].update(worse="down"))

    assert read_results(folder).runs[-1].measurements[Case(answer)].worse == "down"


def test_a_missing_folder_an_empty_one_and_one_of_another_kind_are_errors_with_a_hint(tmp_path: Path) -> None:
    for path, words in ((tmp_path / "none", "there is no results folder"), (tmp_path, "has no benchmarks.json")):
        with pytest.raises(ResultsError, match=words) as caught:
            read_results(path)

        assert caught.value.hint is not None


def test_a_folder_with_a_suite_and_no_results_is_an_error(tmp_path: Path) -> None:
    shutil.copy(DATA / "benchmarks.json", tmp_path)

    with pytest.raises(ResultsError, match="holds no results"):
        read_results(tmp_path)


def test_a_broken_suite_is_an_error_that_names_it(folder: Path) -> None:
    (folder / "benchmarks.json").write_text('{"bench": 5}')

    with pytest.raises(ResultsError, match=r"benchmarks\.json: bench is a whole number, not an object"):
        read_results(folder)
