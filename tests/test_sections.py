"""What compare prints below the ladder: shapes, deployed artifacts, workers."""

from __future__ import annotations

from dataclasses import replace

from examples import comparison, ladder, row, sample

from pcbench.analysis.comparison import to_json
from pcbench.analysis.deployed import DeployedRow
from pcbench.analysis.sections import sections
from pcbench.analysis.shape_calls import ShapeRow
from pcbench.analysis.workers import WorkersRow
from pcbench.conditions import LESSER_CPU, MOVED, READ_ONLY
from pcbench.samples import ShapeCall
from pcbench.status import Status

REFUSED = "the manifest: compiled for AVX2"


def test_a_plain_comparison_has_no_further_sections() -> None:
    assert sections(ladder()) == []


def test_deployed_artifacts_have_a_column_per_condition_and_say_once_why_something_failed() -> None:
    rows = (
        DeployedRow("aoti", MOVED, Status.OK, None, (sample(2.0), sample(3.0), sample(2.5)), ("left.so",)),
        DeployedRow("aoti", LESSER_CPU, Status.LOAD_FAILED, REFUSED),
        DeployedRow("export", READ_ONLY, Status.LOAD_FAILED, REFUSED),
        DeployedRow("export", LESSER_CPU, Status.LOAD_FAILED, REFUSED),
    )
    base = comparison(row("eager", [1.0]), row("aoti", [2.0, 2.0, 2.0]))
    (lines,) = sections(replace(base, deployed=rows))

    assert lines[1].split("  ")[0] == "strategy"
    assert [part for part in lines[1].split("  ") if part][1:] == ["as captured", " moved", "read-only", "lesser CPU"]
    assert lines[2].split() == [
        *("aoti", "2", "s", "(2-2,", "n=3)", "2.50", "s", "(2-3,", "n=3),", "writes", "-", "LOAD_FAILED")
    ]
    assert f"aoti: lesser CPU: LOAD_FAILED: {REFUSED}" in lines
    assert f"export: read-only, lesser CPU: LOAD_FAILED: {REFUSED}" in lines
    assert "aoti: moved: wrote left.so" in lines


def test_workers_show_the_slowest_beside_one_alone_and_the_cpu_seconds_of_all() -> None:
    rounds = ((sample(2.0), sample(4.0)), (sample(3.0), sample(5.0)), (sample(2.0), sample(6.0)))
    good = WorkersRow("aoti", "cold", 2, Status.OK, None, rounds, (2.0, 2.5, 3.0))
    bad = WorkersRow("export", "cold", 2, Status.CRASHED, "killed by SIGKILL")
    (lines,) = sections(replace(ladder(), workers=(good, bad)))

    assert good.slowest_s == (4.0, 5.0, 6.0)
    assert "slowest of 2" in lines[1]
    assert lines[2].split() == [
        *("aoti", "cold", "2.50", "s", "(2-3,", "n=3)", "5", "s", "(4-6,", "n=3)", "2", "x", "-", "7.20", "s")
    ]
    assert lines[3] == "export cold: CRASHED: killed by SIGKILL"
    whole = replace(good, rounds=tuple(tuple(replace(s, elapsed_s=9.0) for s in samples) for samples in rounds))
    assert (good.all_up_s, whole.all_up_s) == ((), (9.0, 9.0, 9.0))


def test_shapes_show_what_was_traced_again_and_why_one_was_refused() -> None:
    calls = tuple(ShapeCall("batch 2", Status.OK, None, 0.5, count, 0) for count in (0, 1))
    refused = ShapeCall("batch 9", Status.GUARD_FAILED, "guard failed")
    (lines,) = sections(
        replace(ladder(), shapes=(ShapeRow("aoti", "batch 2", calls), ShapeRow("aoti", "batch 9", (refused,))))
    )

    assert lines[2].split() == ["aoti", "batch", "2", "500", "ms", "(500-500,", "n=2)", "1", "0"]
    assert lines[3].split() == ["aoti", "batch", "9", "GUARD_FAILED", "-", "-"]
    assert lines[4] == "aoti batch 9: GUARD_FAILED: guard failed"


def test_all_of_it_is_in_the_json() -> None:
    rounds = ((sample(2.0), sample(4.0)),)
    written = to_json(
        replace(
            ladder(),
            shapes=(ShapeRow("aoti", "two", (ShapeCall("two", Status.OK, None, 0.5, 0, 0),)),),
            deployed=(DeployedRow("aoti", MOVED, Status.OK, None, (sample(2.0),)),),
            workers=(WorkersRow("aoti", "cold", 2, Status.OK, None, rounds),),
        )
    )

    assert written["shapes"][0]["calls"][0]["recompiles"] == 0
    assert written["deployed"][0]["start_s"] == [2.0]
    assert written["workers"][0]["slowest_s"] == [4.0]
