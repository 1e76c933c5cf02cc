import csv
import io
import json
from dataclasses import replace
from datetime import UTC, datetime

from judgements import NASTY

from pcbench.analysis.export_rows import COLUMNS, rows, write_csv
from pcbench.analysis.records import Absence, Case, Context, Machine, Measurement, Run

RUN = Run(
    "1a2b3c4d" + "0" * 32,
    datetime(2026, 11, 30, tzinfo=UTC),
    "shared-torch2.15.0",
    Machine("vm", cpu="a processor", num_cpu="2", ram="25769803776"),
    Context("1a2b3c4d", "shared-torch2.15.0", torch="2.15.0", triton="3.9.0", python="3.11.7", threads=2, gpu="a GPU"),
    {
        Case("b.Load.track_s", (("model", "mlp"),)): Measurement(
            2.0, "seconds", (1.0, 2.0, 3.0), 1.5, 2.5, 3, "up", "time"
        ),
        Case("b.track_count"): Measurement(46.0, ""),
    },
    {Case("b.Load.track_s", (("model", "llama"),)): Absence("CRASHED", "ended by SIGSEGV")},
    {"b.track_old": "measured as version 1, the suite has version 2"},
)


def read(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text, newline="")))


def written(run: Run) -> str:
    file = io.StringIO(newline="")
    write_csv(rows(run), file)
    return file.getvalue()


def test_a_case_is_a_row_with_its_numbers_and_what_it_ran_on() -> None:
    first, *_ = rows(RUN)

    assert (first.case, first.params, first.value, first.unit) == (
        "b.Load.track_s(mlp)",
        {"model": "mlp"},
        2.0,
        "seconds",
    )
    assert (first.n, first.low, first.high, first.samples) == (3, 1.5, 2.5, (1.0, 2.0, 3.0))
    assert (first.status, first.reason, first.kind, first.worse) == ("OK", None, "time", "up")
    assert (first.machine, first.gpu, first.torch, first.triton) == ("vm", "a GPU", "2.15.0", "3.9.0")
    assert (first.python, first.threads, first.commit, first.date) == ("3.11.7", 2, RUN.commit, RUN.date)


def test_what_has_no_number_is_a_row_with_its_reason() -> None:
    found = {row.case: (row.value, row.status, row.reason) for row in rows(RUN)}

    assert found["b.Load.track_s(llama)"] == (None, "CRASHED", "ended by SIGSEGV")
    assert found["b.track_old"] == (None, "left out", "measured as version 1, the suite has version 2")


def test_a_run_without_a_sidecar_does_not_say_what_it_ran_on() -> None:
    assert {row.torch for row in rows(replace(RUN, context=None))} == {None}


def test_csv_has_every_column_and_nothing_where_nothing_is_known() -> None:
    first, count, absent, left_out = read(written(RUN))

    assert tuple(first) == COLUMNS
    assert (first["value"], json.loads(first["samples"]), first["date"]) == (
        "2.0",
        [1, 2, 3],
        "2026-11-30T00:00:00+00:00",
    )
    assert json.loads(first["params"]) == {"model": "mlp"}
    assert (count["n"], count["samples"], count["isa"], absent["value"]) == ("", "", "", "")
    assert left_out["status"] == "left out"


def test_names_and_reasons_come_back_from_csv_as_they_were() -> None:
    absences = {Case(f"b.{text}", (("p", text),)): Absence("failed", text) for text in NASTY}
    found = read(written(replace(RUN, measurements={}, absences=absences, left_out={})))

    assert [row["reason"] for row in found] == list(NASTY)
    assert [json.loads(row["params"]) for row in found] == [{"p": text} for text in NASTY]
