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

from pcbench.analysis.policy import Policy
from pcbench.analysis.shown import Shown
from pcbench.reports import kernels

WORSE = {"code": "b", "blocks_per_sm": 2, "occupancy": 0.25}


def test_the_grid_says_registers_occupancy_and_spills_and_what_changed() -> None:
    figure = figure_of(
        kernels_run(0, [compiled(), compiled("dropout")]),
        kernels_run(1, [compiled(registers=200, spill_stores=7, spill_loads=6, **WORSE), compiled("dropout")]),
    )
    found = texts(figure)

    assert {"200", "25%", "13", "the same code"} <= set(found)
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
    assert row["measured"] == "1.25 ms (1.25-1.25, n=9), one process"
    assert (row["GB/s"], row["TFLOP/s"], row["of the copy's or matmul's rate"]) == ("3,840", "9.60", "96.0% (copy)")
    assert row["kernel / torch"] == "0.500 (0.500-0.500, n=9, torch.softmax)"
    assert (row["throttled"], row["SM clock"]) == ("0%", "1980-1980 MHz")
    assert (row["card"], row["blocks/SM"], row["occupancy"]) == (H200, "4", "0.5")
    assert row["since the run before"] == "no run before"


def test_the_table_says_why_a_launch_was_not_measured() -> None:
    first, second = table_of(without_gpu(0, ["softmax"]))

    assert first["measured"] == f"not measured: {NO_GPU}"
    assert (first["card"], second["card"]) == ("H200", "B200")
    assert {
        first[name] for name in ("GB/s", "TFLOP/s", "of the copy's or matmul's rate", "kernel / torch", "throttled")
    } == {"-"}


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
    (same,) = table_of(kernels_run(0, [compiled()], [times(config=("BLOCK=1024 num_warps=8",))]))
    (other,) = table_of(kernels_run(0, [compiled()], [times(config=("BLOCK=1024 num_warps=4",))]))

    assert same["configuration"] == "BLOCK=1024 num_warps=8"
    assert other["configuration"] == "BLOCK=1024 num_warps=4; compiled: BLOCK=1024 num_warps=8"


def test_two_launches_that_are_tuned_have_both_their_configurations() -> None:
    both = (*compiled(config="ROWS=64"), *compiled(function="_backward", config="COLUMNS=128"))
    (ran,) = table_of(kernels_run(0, [both], [times(config=("ROWS=64", "COLUMNS=128"))]))
    (half,) = table_of(kernels_run(0, [both], [times(config=("ROWS=64", "COLUMNS=32"))]))

    assert ran["configuration"] == "ROWS=64; COLUMNS=128"
    assert half["configuration"] == "ROWS=64; COLUMNS=32; compiled: ROWS=64; COLUMNS=128"


def test_times_with_the_cpu_in_them_and_on_inputs_that_may_be_cached_say_so() -> None:
    late, early = samples([1.25e-3] * 4, queued=False), samples([1.25e-3] * 5)
    doubted = times(
        samples=(*late, *early), rival_samples=(*late[:2], *early, *early[:2]), unavailable={"rotation": "1 set fits"}
    )
    made = kernels_run(0, [compiled()], [doubted])
    (row,) = table_of(made)

    assert row["measured"] == "1.25 ms (1.25-1.25, n=9), one process, CPU in 4 of 9, inputs may be cached"
    assert row["kernel / torch"] == "1.000 (1.000-1.000, n=9, torch.softmax, CPU in 2 of 9)"
    assert "With the CPU's time in some samples: softmax. On inputs that may be cached: softmax." in caption_of(made)
    said = kernels.REPORT.said(Shown([made]))
    assert "shared on toybox: with the CPU's time in some samples: 1 of 1 timed launch; see the table." in said


def test_what_is_not_known_to_fill_a_multiprocessor_is_not_shaded() -> None:
    known, unknown = (figure_of(kernels_run(0, [compiled(occupancy=share)])).axes[-1].patches for share in (0.5, None))

    assert (len(known), len(unknown)) == (1, 0)


def test_what_the_policy_ignores_is_not_said_to_be_the_same() -> None:
    runs = kernels_run(0, [compiled()]), kernels_run(1, [compiled()])
    shown = Shown(runs, policy=Policy(overrides=(("softmax", {"ignore": True}),)))
    table, figure = kernels.REPORT.table(shown), kernels.REPORT.draw(shown)

    assert table is not None
    assert (
        dict(zip(table.header, table.rows[0], strict=True))["since the run before"]
        == "not judged: the policy ignores it"
    )
    assert figure is not None
    assert "the policy ignores it" in texts(figure)


def test_samples_that_were_all_throttled_are_shown_and_said_to_be() -> None:
    made = kernels_run(0, [compiled()], [times(samples=samples([1.25e-3] * 9, 1200.0, "power"))])

    assert table_of(made)[0]["throttled"] == "100%"
    assert "At a clock that was held down for some samples: softmax." in caption_of(made)
    said = kernels.REPORT.said(Shown([made]))
    assert any("at a clock that was held down for some samples: 1 of 1 timed launch" in sentence for sentence in said)
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
