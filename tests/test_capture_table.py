"""Captures by phase as a table, and as JSON that reads back."""

from __future__ import annotations

import json
from dataclasses import asdict, replace

from examples import comparison, row

from pcbench.analysis.capture_table import PHASE_LABELS, CaptureRow, capture_lines
from pcbench.analysis.comparison import to_json
from pcbench.analysis.sections import sections
from pcbench.samples import (
    CAPTURE_PHASES,
    WORSE_BY_COUNT,
    Capture,
    CaptureCounts,
    CapturePhases,
    read_capture,
)
from pcbench.status import Status

PHASES = CapturePhases(
    dynamo_s=0.25, aot_autograd_s=0.125, inductor_s=2.0, compile_s=30.0, serialise_s=0.5, other_s=1.0
)
COUNTS = CaptureCounts(
    graphs=1,
    graph_breaks=0,
    recompiles=2,
    fx_nodes=1234,
    generated_kernels=7,
    compiler_builds=3,
    fxgraph_hits=0,
    fxgraph_misses=1,
    fxgraph_bypasses=0,
    aot_autograd_hits=2,
    aot_autograd_misses=0,
    aot_autograd_bypasses=0,
    dynamo_hits=0,
    dynamo_misses=0,
    async_compile_hits=0,
    async_compile_misses=0,
)
GOOD = Capture(
    Status.OK,
    weights="passed",
    capture_s=33.375,
    save_s=0.5,
    cpu_s=30.0,
    peak_rss_bytes=800_000_000,
    compiler_processes=9,
    artifact_bytes=1000,
    phases=PHASES,
    counts=COUNTS,
)

CACHES = tuple(
    f"{cache}_{what}"
    for cache, kinds in {
        "fxgraph": ("hits", "misses", "bypasses"),
        "aot_autograd": ("hits", "misses", "bypasses"),
        "dynamo": ("hits", "misses"),
        "async_compile": ("hits", "misses"),
    }.items()
    for what in kinds
)


def line(row: CaptureRow) -> str:
    return " ".join(capture_lines([row])[2].split())


def test_a_line_has_each_phase_memory_the_counts_and_the_caches_that_were_asked() -> None:
    assert line(CaptureRow("aot_compile", "cold", GOOD)) == (
        "aot_compile cold 33.9 s 250 ms 125 ms 2 s 30 s 500 ms 1 s 800 MB 1 0 2 1,234 7 3 "
        "fxgraph 1 miss, aot_autograd 2 hits"
    )


def test_what_is_unknown_is_a_question_mark_with_its_reason_once() -> None:
    phases = replace(PHASES, dynamo_s=None, unknown={"dynamo_s": "torch 9.9 has no timer"})
    counts = replace(COUNTS, fxgraph_misses=None, unknown={"fxgraph_misses": "torch 9.9 has no counter"})
    unknown = replace(GOOD, phases=phases, counts=counts)
    lines = capture_lines([CaptureRow("a", "cold", unknown), CaptureRow("b", "cold", unknown)])

    assert lines[2].split()[:5] == ["a", "cold", "33.9", "s", "?"]
    assert "fxgraph misses ?" in lines[2]
    assert lines[4:] == ["a, b: dynamo_s: torch 9.9 has no timer", "a, b: fxgraph_misses: torch 9.9 has no counter"]


def test_a_phase_that_took_no_time_is_0_and_no_cache_that_was_asked_is_said() -> None:
    bare = replace(GOOD, phases=replace(PHASES, compile_s=0.0), counts=CaptureCounts(**dict.fromkeys(CACHES, 0)))

    assert line(CaptureRow("export", "cold", bare)).split()[10] == "0"
    assert line(CaptureRow("export", "cold", bare)).endswith("not asked")


def test_a_warm_capture_that_failed_is_told_and_a_cold_one_is_the_ladder_s_to_tell() -> None:
    failed = Capture(Status.CAPTURE_FAILED, "capture: no")
    lines = capture_lines(
        [CaptureRow("a", "cold", GOOD), CaptureRow("a", "warm", failed), CaptureRow("b", "cold", failed)]
    )

    assert lines[3:] == ["a warm: CAPTURE_FAILED: capture: no"]


def test_every_phase_has_a_label() -> None:
    assert tuple(PHASE_LABELS) == CAPTURE_PHASES


def test_captures_come_first_below_the_ladder_and_not_at_all_where_all_failed() -> None:
    ladder = comparison(row("eager", [1.0]))
    good = replace(ladder, captures=(CaptureRow("aoti", "cold", GOOD),))
    failed = replace(ladder, captures=(CaptureRow("aoti", "cold", Capture(Status.CRASHED, "no")),))

    assert sections(good)[0][0].startswith("captures by phase")
    assert sections(failed) == []


def test_json_has_every_capture_with_phases_counts_and_memory() -> None:
    rows = (CaptureRow("aoti", "cold", GOOD), CaptureRow("export", "cold", Capture(Status.CRASHED, "no")))
    told = json.loads(json.dumps(to_json(replace(comparison(row("eager", [1.0])), captures=rows))))["captures"]

    assert [(each["strategy"], each["temperature"], each["status"], each["reason"]) for each in told] == [
        ("aoti", "cold", "OK", None),
        ("export", "cold", "CRASHED", "no"),
    ]
    assert told[0]["phases"]["compile_s"] == 30.0
    assert told[0]["counts"]["fx_nodes"] == 1234
    assert told[0]["counts"]["worse"] == WORSE_BY_COUNT
    assert (WORSE_BY_COUNT["dynamo_hits"], WORSE_BY_COUNT["async_compile_misses"]) == ("down", "up")
    assert told[0]["peak_rss_bytes"] == 800_000_000
    assert (told[1]["phases"], told[1]["counts"]) == (None, None)


def test_a_capture_goes_through_json_and_comes_back_the_same() -> None:
    for capture in (GOOD, Capture(Status.TIMED_OUT, "still at capture after 3 s")):
        assert read_capture(json.loads(json.dumps(asdict(capture)))) == capture
