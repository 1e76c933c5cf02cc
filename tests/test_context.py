import json
from pathlib import Path
from typing import Any

import pytest
from compilations import told

from pcbench import sidecar as producer
from pcbench.analysis.context import read_sidecar, sidecar_path
from pcbench.analysis.records import Absence
from pcbench.errors import ResultsError

HEAD = {"commit": "abc", "environment": "shared", "torch": "2.15.0", "threads": 2, "gpu": None, "flags": {"A": "1"}}
HEAD |= {"compiler": "g++ 12", "load_average": 1}


WORK = {"bytes_moved": 1, "bytes_requested": 1, "flops": 1, "bound": "memory"}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return sidecar_path(tmp_path / "0123abcd-shared-py3.11.json")


def test_a_sidecar_is_beside_its_result_with_another_suffix(path: Path) -> None:
    assert path.name == "0123abcd-shared-py3.11.context"


def test_what_the_plugin_writes_is_read_back(path: Path) -> None:
    producer.begin(path, HEAD)
    producer.add(path, "bench_load.X(mlp)", "CRASHED", "ended by SIGSEGV")
    found = read_sidecar(path)

    assert (found.context.torch, found.context.threads, found.context.gpu) == ("2.15.0", 2, None)
    assert found.context.flags == {"A": "1"}
    assert (found.context.compiler, found.context.load_average) == ("g++ 12", 1.0)
    assert found.absences == {"bench_load.X(mlp)": Absence("CRASHED", "ended by SIGSEGV")}


def test_what_the_first_line_does_not_say_is_none_not_guessed(path: Path) -> None:
    path.write_text('{"schema": 1, "commit": "abc", "environment": "shared"}\n')
    context = read_sidecar(path).context

    assert (context.torch, context.threads, context.isa) == (None, None, None)


def test_of_two_lines_about_a_case_the_later_counts(path: Path) -> None:
    producer.begin(path, HEAD)
    producer.add(path, "c", "FAILED", "first")
    producer.add(path, "c", "TIMED_OUT", "second")

    assert read_sidecar(path).absences == {"c": Absence("TIMED_OUT", "second")}


def test_a_broken_later_line_is_named_and_the_rest_is_read(path: Path) -> None:
    producer.begin(path, HEAD)
    with path.open("a") as file:
        file.write('{"case": "half\n')
    producer.add(path, "whole", "FAILED", None)
    found = read_sidecar(path)

    assert set(found.absences) == {"whole"}
    assert len(found.problems) == 1
    assert found.problems[0].startswith("line 2: is not JSON")


@pytest.mark.parametrize(
    "census",
    [
        {"counts": {"guards": 46}},
        {"counts": {"guards": "many"}, "places": {}, "unknown": {}},
        {"counts": {}, "places": {"v": 3}, "unknown": {}},
        {"counts": [], "places": {}, "unknown": {}},
    ],
)
def test_a_census_of_another_form_is_named_and_the_rest_is_read(path: Path, census: dict[str, object]) -> None:
    producer.begin(path, HEAD)
    for target, entries in (("mlp", census), ("bert", {"counts": {}, "places": {}, "unknown": {}})):
        producer.add_part(path, "c", "census", {"target": target, **entries})
    found = read_sidecar(path)

    assert list(found.censuses) == ["bert"]
    assert len(found.problems) == 1
    assert found.problems[0].startswith("line 2: the census of mlp has another form: ")


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ("none", "rows is a text, not a list"),
        ([told(metrics="many")], "softmax for sm_90: metrics is a text"),
        ([told(), told(status="WHO")], "softmax for sm_90: status is 'WHO'"),
        ([told(metrics={})], "softmax for sm_90: has status OK and no metrics"),
        ([told(registers=10**400)], "softmax for sm_90: metrics.registers is 1000"),
        ([told(occupancy=3.5)], "softmax for sm_90: metrics.occupancy is 3.5, not a share"),
        ([told(work=WORK | {"flops": 10**400})], "softmax for sm_90: work has another form: ValueError: flops is 1000"),
        ([told(work=WORK | {"flops": -1})], "softmax for sm_90: work has another form: ValueError: flops is -1"),
    ],
)
def test_rows_of_codegen_of_another_form_are_named_and_the_rest_is_read(path: Path, rows: Any, words: str) -> None:
    producer.begin(path, HEAD)
    lines = (("sm_90", rows), ("sm_100", [told(target="sm_100")]))
    with path.open("a") as file:
        for target, those in lines:
            about = {"kernel": "softmax", "target": target, "rows": those}
            file.write(json.dumps({"case": "c", "codegen": about}) + "\n")
    found = read_sidecar(path)

    assert list(found.codegen) == [("softmax", "sm_100")]
    assert len(found.problems) == 1
    assert found.problems[0].startswith(f"line 2: {words}")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "is empty"),
        ("[]\n", "line 1 is a list, not an object"),
        (json.dumps({"schema": 2}), "has schema 2; this pcbench reads schema 1"),
        (json.dumps({"schema": 1, "commit": "a", "environment": "e", "threads": "2"}), "threads is a text"),
    ],
)
def test_a_sidecar_without_a_usable_first_line_is_an_error_that_says_why(path: Path, text: str, words: str) -> None:
    path.write_text(text)

    with pytest.raises(ResultsError, match=words):
        read_sidecar(path)
