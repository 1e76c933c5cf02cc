"""The grid, the table and the sentences of the report on kernels."""

from __future__ import annotations

import pytest
from compilations import failed, rows
from figures import texts
from kernel_reports import caption_of, figure_of, table_of, title_of
from kernel_runs import (
    H200,
    NO_GPU,
    compiled,
    kernels_run,
    samples,
    times,
    without_gpu,
)

from pcbench.analysis.shown import Shown
from pcbench.reports import kernels

WORSE = {"code": "b", "blocks_per_sm": 2, "occupancy": 0.25}


def test_the_grid_says_registers_occupancy_and_spills_and_what_changed() -> None:
    figure = figure_of(
        kernels_run(0, [compiled(), compiled("dropout")]),
        kernels_run(1, [compiled(registers=200, spill_stores=7, **WORSE), compiled("dropout")]),
    )
    found = texts(figure)

    assert {"200", "25%", "7", "the same code"} <= set(found)
    assert any(text.startswith("sm_90: registers spill more") and "and 2 more" in text for text in found)
    assert "1 kernel compiled to worse code since 00000000 (softmax)" in " ".join(figure.get_suptitle().split())


@pytest.mark.parametrize(
    ("now", "title", "beside"),
    [
        (compiled(), "no code got worse since 00000000", "the same code"),
        (compiled(code="b"), "no code got worse since 00000000", "other code, no rule fired"),
        (compiled(code="b", registers=80), "1 kernel to look at since 00000000", "sm_90: registers grew from 64 to 80"),
        (
            tuple(rows(failed("CRASHED", "it died"))),
            "no code got worse since 00000000",
            "not all of it could be compared: see the table",
        ),
    ],
)
def test_what_became_of_the_code_since_the_run_before_is_said(now: tuple, title: str, beside: str) -> None:  # type: ignore[type-arg]
    runs = kernels_run(0, [compiled()]), kernels_run(1, [now])

    assert title_of(*runs).endswith(title)
    assert any(text.startswith(beside) for text in texts(figure_of(*runs)))


def test_a_compilation_that_failed_has_its_status_in_the_grid_and_its_reason_in_the_table() -> None:
    broken = tuple(rows(failed("COMPILE_FAILED", "no such instruction", target="sm_100")))
    made = kernels_run(0, [compiled(), broken])

    assert "compile failed" in texts(figure_of(made))
    assert table_of(made)[1]["registers"] == "COMPILE_FAILED: no such instruction"


def test_the_table_has_predicted_and_measured_in_columns_of_their_own() -> None:
    (row,) = table_of(kernels_run(0, [compiled()], [times()]))

    assert (row["predicted least"], row["if nothing is cached"]) == ("1 ms (memory)", "2 ms")
    assert row["measured"] == "1.25 ms (1.25-1.25, n=9)"
    assert (row["GB/s"], row["TFLOP/s"], row["of measured roof"]) == ("3,840", "9.60", "96.0%")
    assert row["kernel / torch"] == "0.500 (0.500-0.500, n=9, torch.softmax)"
    assert (row["throttled"], row["SM clock"]) == ("0%", "1980-1980 MHz")
    assert (row["card"], row["blocks/SM"], row["occupancy"]) == (H200, "4", "0.5")
    assert row["since the run before"] == "no run before"


def test_the_table_says_why_a_launch_was_not_measured() -> None:
    first, second = table_of(without_gpu(0, ["softmax"]))

    assert first["measured"] == f"not measured: {NO_GPU}"
    assert (first["card"], second["card"]) == ("H200", "B200")
    assert {first[name] for name in ("GB/s", "TFLOP/s", "of measured roof", "kernel / torch", "throttled")} == {"-"}


def test_the_table_says_what_changed_and_of_which_commit_it_is_the_same() -> None:
    before = kernels_run(0, [compiled(), compiled(target="sm_100"), compiled(target="sm_80")])
    after = kernels_run(1, [compiled(**WORSE), compiled(target="sm_100"), compiled(target="sm_80", code="c")])

    assert [row["since the run before"] for row in table_of(before, after)] == [
        "since 00000000: other machine code, no rule fired",
        "since 00000000: hard: blocks per SM fell from 4 to 2, limited by registers",
        "the same machine code as 00000000",
    ]


def test_several_functions_have_their_numbers_side_by_side() -> None:
    both = (*compiled(registers=90), *compiled(function="_backward", registers=120, blocks_per_sm=None))
    (row,) = table_of(kernels_run(0, [both]))

    assert (row["registers"], row["blocks/SM"]) == ("90 / 120", "4 / -")


def test_a_configuration_that_ran_and_was_not_compiled_is_told_apart() -> None:
    (same,) = table_of(kernels_run(0, [compiled()], [times(config="BLOCK=1024")]))
    (other,) = table_of(kernels_run(0, [compiled()], [times(config="BLOCK=64")]))

    assert same["configuration"] == "BLOCK=1024"
    assert other["configuration"] == "BLOCK=64; compiled: BLOCK=1024 num_warps=8"


def test_samples_that_were_all_throttled_are_shown_and_said_to_be() -> None:
    made = kernels_run(0, [compiled()], [times(samples=samples([1.25e-3] * 9, 1200.0, "power"))])

    assert table_of(made)[0]["throttled"] == "100%"
    assert "At a clock that was held down for some samples: softmax." in caption_of(made)
    assert any("1 of 1 timed launch had samples" in said for said in kernels.REPORT.said(Shown([made])))
    assert "held down" not in caption_of(kernels_run(0, [compiled()], [times()]))


def test_the_sentences_name_the_sources_of_the_peaks_and_what_could_not_be_had() -> None:
    made = kernels_run(0, [compiled()], [times(unavailable={"graph": "it cannot be captured"})])
    gone = kernels_run(1, [compiled()], [times()])
    more = kernels_run(0, [(*compiled(), *compiled(sizes="rows=2 columns=2"))])

    assert kernels.REPORT.said(Shown([made])) == [
        "Documented peaks of the H200: NVIDIA H200 Tensor Core GPU data sheet, H200 SXM; it computes as the H100 SXM5.",
        "shared on toybox: not had of 1 timed launch: graph: it cannot be captured.",
    ]
    assert any("1 compilation of a run before without" in said for said in kernels.REPORT.said(Shown([more, gone])))
