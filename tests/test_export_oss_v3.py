"""Output beside the schema as pytorch/test-infra has it: clickhouse_db_schema/oss_ci_benchmark_v3/schema.sql."""

import io
import json
from dataclasses import replace
from typing import Any

from judgements import NASTY
from test_export_rows import RUN

from pcbench.analysis.export_oss_v3 import record, write_oss_v3
from pcbench.analysis.export_rows import rows
from pcbench.analysis.records import Case, Measurement, Run

TEXTS: Any = {str: str}
SCHEMA: dict[str, Any] = {
    "timestamp": int,
    "schema_version": str,
    "name": str,
    "repo": str,
    "head_branch": str,
    "head_sha": str,
    "workflow_id": int,
    "run_attempt": int,
    "job_id": int,
    "runners": [
        {
            "name": str,
            "type": str,
            "cpu_info": str,
            "cpu_count": int,
            "mem_info": str,
            "avail_mem_in_gb": int,
            "gpu_info": str,
            "gpu_count": int,
            "gpu_mem_info": str,
            "avail_gpu_mem_in_gb": int,
            "extra_info": TEXTS,
        }
    ],
    "benchmark": {"name": str, "mode": str, "dtype": str, "extra_info": TEXTS},
    "model": {"name": str, "type": str, "backend": str, "origins": [str], "extra_info": TEXTS},
    "inputs": {str: {"dtype": str, "extra_info": TEXTS}},
    "dependencies": {str: {"repo": str, "branch": str, "sha": str, "version": str, "extra_info": TEXTS}},
    "metric": {"name": str, "benchmark_values": [float], "target_value": float, "extra_info": TEXTS},
}
REQUIRED = (("benchmark", "name"), ("model", "name"), ("metric", "name"), ("metric", "benchmark_values"))
"""What the wiki calls required, and the uploaders drop a record without."""


def check(value: Any, schema: Any, where: str) -> None:
    if isinstance(schema, list):
        assert isinstance(value, list), where
        for each in value:
            check(each, schema[0], where)
    elif isinstance(schema, dict):
        assert isinstance(value, dict), where
        for key, each in value.items():
            assert str in schema or key in schema, f"{where}.{key} is no field of the schema"
            check(each, schema[str] if str in schema else schema[key], f"{where}.{key}")
    else:
        assert type(value) is schema, f"{where} is {value!r}"


def exported(run: Run) -> tuple[list[dict[str, Any]], int]:
    file = io.StringIO()
    left_out = write_oss_v3(rows(run), file)
    return json.loads(file.getvalue()), left_out


def test_every_record_fits_the_schema_and_has_what_is_required() -> None:
    records, _ = exported(RUN)

    assert len(records) == 2
    for told in records:
        check(told, SCHEMA, "record")
        assert all(told[part][name] for part, name in REQUIRED)


def test_a_case_is_told_as_model_backend_and_metric() -> None:
    case = Case("bench_load.Load.track_s", (("model", "mlp"), ("strategy", "aoti"), ("temperature", "cold")))
    (told,), _ = exported(replace(RUN, measurements={case: Measurement(2.0, "seconds", (1.0, 2.0, 3.0), n=3)}))

    assert told["benchmark"]["name"] == "bench_load.Load"
    assert told["benchmark"]["extra_info"]["temperature"] == "cold"
    assert told["benchmark"]["extra_info"]["case"] == str(case)
    assert told["model"] == {"name": "mlp", "backend": "aoti"}
    assert (told["metric"]["name"], told["metric"]["benchmark_values"]) == ("track_s", [1.0, 2.0, 3.0])
    assert told["metric"]["extra_info"] == {"value": "2.0", "unit": "seconds", "kind": "number", "worse": "any"}
    assert (told["head_sha"], told["timestamp"]) == (RUN.commit, int(RUN.date.timestamp()))
    assert told["dependencies"]["torch"] == {"repo": "pytorch/pytorch", "version": "2.15.0"}
    assert told["runners"][0]["avail_mem_in_gb"] == 24


def test_rows_without_a_number_are_left_out_and_counted() -> None:
    assert exported(RUN)[1] == 2
    assert exported(replace(RUN, measurements={})) == ([], 2)
    assert [record(row) for row in rows(RUN)][2:] == [None, None]


def test_samples_that_json_cannot_hold_are_dropped() -> None:
    odd = {
        Case("b.track_s"): Measurement(2.0, "s", (float("inf"), 2.0)),
        Case("b.t"): Measurement(3.0, "s", (float("nan"),)),
    }
    records, _ = exported(replace(RUN, measurements=odd))

    assert [told["metric"]["benchmark_values"] for told in records] == [[2.0], [3.0]]


def test_names_come_back_as_they_were() -> None:
    odd = {Case("b.track", (("model", text),)): Measurement(1.0, text) for text in NASTY}
    records, _ = exported(replace(RUN, measurements=odd))

    assert [told["model"]["name"] for told in records] == list(NASTY)


def test_memory_that_a_person_wrote_down_is_a_text() -> None:
    (first, *_), _ = exported(replace(RUN, machine=replace(RUN.machine, ram="24GB")))

    assert first["runners"][0]["mem_info"] == "24GB"
    assert "avail_mem_in_gb" not in first["runners"][0]
