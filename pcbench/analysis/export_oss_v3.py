"""Rows as records of PyTorch's benchmark database, schema v3.

The fields and their types are those of ``clickhouse_db_schema/oss_ci_benchmark_v3/schema.sql`` in pytorch/test-infra.
What must be there is what its ``.github/scripts/upload_benchmark_results.py`` and the script of the same name in
pytorch/pytorch-integration-testing ask for, and pytorch's wiki (PyTorch-OSS-benchmark-infra): ``benchmark.name``,
``model.name``, ``metric.name`` and ``metric.benchmark_values``. Both scripts read a list of records, and add what only
the uploader knows (``repo``, ``head_branch``, ``workflow_id``, ``run_attempt``, ``job_id``, ``name``): a record's own
keys win over theirs. The fields named ``extra_info`` map texts to texts.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable
from typing import Any, TextIO

from pcbench.analysis.export_rows import Row

_GIB = 2**30


def record(row: Row) -> dict[str, Any] | None:
    """The record of a row, or None where it has no number: the schema has no place for a reason.

    ``benchmark_values`` are the samples where there are any (the database keeps them as 32-bit floats);
    ``metric.extra_info`` has the value itself as a text, and the unit. Fields that are not known are left out.
    """
    if row.value is None:
        return None
    group, _, name = row.benchmark.rpartition(".")
    params = dict(row.params)
    model = params.pop("model", None) or params.pop("target", None)
    backend = params.pop("strategy", None)
    return {
        "timestamp": int(row.date.timestamp()),
        "schema_version": "v3",
        "head_sha": row.commit,
        "runners": [_runner(row)],
        "benchmark": {"name": group or name, "extra_info": params | _told(row, "case", "environment", *_RAN_WITH)},
        "model": {"name": model or name} | ({"backend": backend} if backend else {}),
        "dependencies": _dependencies(row),
        "metric": {
            "name": name,
            "benchmark_values": [value for value in row.samples or () if math.isfinite(value)] or [row.value],
            "extra_info": {"value": repr(row.value)} | _told(row, "unit", "kind", "worse", "low", "high"),
        },
    }


_RAN_WITH = ("threads", "isa", "profile")


def write_oss_v3(found: Iterable[Row], file: TextIO) -> int:
    """Write a JSON list with a record a line, and return how many rows had no number and are not in it."""
    left_out, between = 0, "[\n"
    for row in found:
        told = record(row)
        if told is None:
            left_out += 1
            continue
        file.write(between + json.dumps(told, allow_nan=False))
        between = ",\n"
    file.write("\n]\n" if between != "[\n" else "[]\n")
    return left_out


def _runner(row: Row) -> dict[str, Any]:
    told: dict[str, Any] = {"name": row.machine, "type": row.gpu or row.cpu or row.arch or row.machine}
    told |= {key: value for key, value in (("cpu_info", row.cpu), ("gpu_info", row.gpu)) if value}
    if row.num_cpu is not None and row.num_cpu.isdecimal():
        told["cpu_count"] = int(row.num_cpu)
    if row.ram is not None:
        # asv writes bytes; what a person wrote in its place, such as 24GB, stays a text.
        told |= {"avail_mem_in_gb": int(row.ram) // _GIB} if row.ram.isdecimal() else {"mem_info": row.ram}
    return told | {"extra_info": _told(row, "arch", "os")}


def _dependencies(row: Row) -> dict[str, Any]:
    found = {
        "torch": {"repo": "pytorch/pytorch", "version": row.torch, "sha": row.torch_git},
        "triton": {"repo": "triton-lang/triton", "version": row.triton},
        "python": {"repo": "python/cpython", "version": row.python},
    }
    return {
        name: {key: value for key, value in told.items() if value is not None}
        for name, told in found.items()
        if told["version"] is not None
    }


def _told(row: Row, *names: str) -> dict[str, str]:
    """Those attributes that the row has, as texts."""
    return {name: str(value) for name in names if (value := getattr(row, name)) not in (None, "")}
