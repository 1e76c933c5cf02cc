"""What ran on something else is not compared, and the reason is said."""

from __future__ import annotations

from pathlib import Path

import pytest
from gated import GOOD, begun, judged
from results_folder import Folder

from pcbench.analysis.records import Verdict


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    return begun(tmp_path)


@pytest.mark.parametrize(
    ("context", "words"),
    [
        ({"torch": "2.14.1"}, "another torch: 2.15.0 in the baseline, 2.14.1 now"),
        ({"threads": 4}, "another number of threads: 2 in the baseline, 4 now"),
        ({"gpu": "B200"}, "another GPU: unknown in the baseline, B200 now"),
        ({"flags": {"TORCH_LOGS": "x"}}, "another flags: none in the baseline, TORCH_LOGS=x now"),
    ],
)
def test_what_ran_on_something_else_is_not_judged(folder: Folder, context: dict[str, object], words: str) -> None:
    folder.add(2, GOOD, **context)

    found = judged(folder)

    assert {(finding.verdict, finding.reason) for finding in found.findings} == {(Verdict.UNJUDGED, words)}
    assert found.exit_code == 2


def test_another_processor_under_the_same_machines_name_is_not_judged(folder: Folder) -> None:
    folder.add(2, GOOD, params={"cpu": "another processor"})

    assert {finding.reason for finding in judged(folder).findings} == {
        "another CPU: a processor in the baseline, another processor now"
    }


def test_a_result_of_another_machine_has_no_baseline_there(folder: Folder) -> None:
    folder.begin("other")
    folder.add(2, GOOD, machine="other")

    found = judged(folder)

    assert {str(finding.case) for finding in found.of(Verdict.NEW)} == set(GOOD)
    assert [finding.place.machine for finding in found.of(Verdict.MISSING)] == ["lab"]


def test_a_result_without_a_sidecar_is_not_compared_with_one_that_has_it(folder: Folder) -> None:
    folder.add(2, GOOD, sidecar=None)

    assert {finding.verdict for finding in judged(folder).findings} == {Verdict.UNJUDGED}


def test_results_of_any_asv_suite_without_sidecars_are_judged(folder: Folder) -> None:
    for number in (1, 2):
        path = folder.add(number, GOOD, sidecar=None)
        path.with_suffix(".context").unlink(missing_ok=True)

    assert {finding.verdict for finding in judged(folder).findings} == {Verdict.SAME}


def test_vary_torch_takes_torch_and_nothing_else_out_of_what_must_match(folder: Folder) -> None:
    folder.add(1, GOOD, environment="shared-py3.11-torch2.16.0", torch="2.16.0", triton="4.0")
    found = judged(folder, vary=("torch",), candidate="torch:2.16.0")
    assert {finding.verdict for finding in found.findings} == {Verdict.SAME}

    folder.add(1, GOOD, environment="shared-py3.11-torch2.16.0", torch="2.16.0", threads=1)
    found = judged(folder, vary=("torch",), candidate="torch:2.16.0", baseline="torch:2.15.0")
    assert {finding.verdict for finding in found.findings} == {Verdict.UNJUDGED}
