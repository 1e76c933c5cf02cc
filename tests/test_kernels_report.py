"""The report on kernels: its figure by what is on it, its table and sentences by the words in them."""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from pathlib import Path

import pytest
from compilations import told
from examples import run
from figures import texts
from kernel_reports import caption_of, figure_of, heading_of, key_of, marks_of, table_of, title_of
from kernel_runs import (
    COMPUTING,
    MOVING,
    NO_GPU,
    SIZES,
    compiled,
    kernels_run,
    times,
    without_gpu,
)
from results_folder import Folder

from pcbench.analysis.shown import Shown
from pcbench.commands.report import draw_reports
from pcbench.reports import kernels


def test_runs_without_kernels_have_neither_figure_nor_table() -> None:
    assert kernels.REPORT.draw(Shown([run(0, {})])) is None
    assert kernels.REPORT.table(Shown([run(0, {})])) is None


def test_what_was_not_measured_is_said_with_its_reason_and_has_no_mark() -> None:
    made = without_gpu(0, ["softmax", "matmul"])

    assert title_of(made) == "2 kernels compiled for sm_90 and sm_100, nothing measured on a GPU"
    assert heading_of(made) == f"Roofline of the H200 (sm_90). Nothing measured: {NO_GPU}"
    assert set(marks_of(made)) == {"softmax predicted", "matmul predicted"}
    assert not any("measured" in words for words in key_of(made))


def test_targets_are_in_the_order_of_their_cards_and_the_roofline_is_that_of_sm_90() -> None:
    made = without_gpu(0, ["softmax"], ("mine", "gfx942", "sm_100", "sm_90", "sm_80"))

    assert title_of(made).startswith("1 kernel compiled for sm_80, sm_90, sm_100, gfx942 and mine, nothing")
    assert heading_of(made).startswith("Roofline of the H200 (sm_90).")


def test_a_predicted_mark_is_on_the_documented_roof_and_a_measured_one_below_it() -> None:
    marks = marks_of(kernels_run(0, [compiled()], [times()]))
    roof, reached = marks["softmax predicted"], marks["softmax measured"]

    assert roof == (2.5, pytest.approx(2.5 * 4.8e12))
    assert reached == (2.5, pytest.approx(2.5 * 4.8e12 / 1.25))


def test_the_bar_below_a_prediction_ends_at_what_is_left_if_nothing_is_cached() -> None:
    axes = figure_of(kernels_run(0, [compiled()])).axes[1]
    bars = [[float(y) for y in line.get_ydata()] for line in axes.lines if set(line.get_xdata()) == {2.5}]

    assert [pytest.approx(2.5 * 4.8e12), pytest.approx(2.5 * 2.4e12)] in bars


def test_documented_roofs_are_dashed_and_measured_ones_solid_and_the_key_has_both() -> None:
    made = kernels_run(0, [compiled("matmul", work=COMPUTING)], [times("matmul", work=COMPUTING)])
    axes = figure_of(made).axes[1]
    ceilings = {
        (line.get_linestyle(), round(float(line.get_ydata()[0]) / 1e12, 1))
        for line in axes.lines
        if len(set(line.get_xdata())) == 2 and len(set(line.get_ydata())) == 1
    }

    assert ceilings == {("--", 989.4), ("-", 800.0)}
    assert key_of(made) == [
        "roof, data sheet: 4.8 TB/s, 989 TFLOP/s float16",
        "roof, measured in this session: copy and matmul: 4 TB/s, 800 TFLOP/s float16",
        "predicted: the most that the data sheet allows",
        "down to the same if nothing is cached",
        "measured median",
    ]


def test_the_title_of_what_was_measured_names_card_and_the_least_and_the_greatest_share_of_the_roof() -> None:
    slow, fast = times("dropout", (2.4e-3,) * 9), times("softmax")

    assert title_of(kernels_run(0, [compiled("dropout"), compiled()], [slow, fast])) == (
        "NVIDIA H200: 2 kernels at 50% (dropout) to 96% (softmax) of the copy's rate"
    )
    assert title_of(kernels_run(0, [], [fast])) == "NVIDIA H200: 1 kernel at 96% (softmax) of the copy's rate"
    product = times("matmul", work=COMPUTING)
    assert title_of(kernels_run(0, [], [product])) == "NVIDIA H200: 1 kernel at 99% (matmul) of the matmul's rate"
    assert title_of(kernels_run(0, [], [fast, product])).endswith("of the copy's or matmul's rate")


def test_the_caption_says_that_the_samples_of_a_launch_are_of_one_process() -> None:
    made = kernels_run(0, [compiled()], [times()])

    assert "Measured: median of n = 9 samples, one process each." in caption_of(made)


def test_a_kernel_that_mostly_reads_may_exceed_the_copy_and_the_caption_says_why() -> None:
    why = "The copy reads as much as it writes: a kernel that mostly reads may exceed its rate."
    reading = kernels_run(0, [], [times("row_sum", (1.1e-3,) * 9)])

    assert title_of(reading) == "NVIDIA H200: 1 kernel at 109% (row_sum) of the copy's rate"
    assert why in caption_of(reading)
    assert why not in caption_of(kernels_run(0, [], [times("matmul", work=COMPUTING)]))
    assert why not in caption_of(kernels_run(0, [], [times(copy_bytes_per_s=None)]))


def test_without_a_copy_the_ceiling_of_the_matmul_is_drawn_and_what_memory_bounds_has_no_share() -> None:
    built = [compiled("matmul", work=COMPUTING), compiled()]
    timed = [times("matmul", work=COMPUTING, copy_bytes_per_s=None), times(copy_bytes_per_s=None)]
    made = kernels_run(0, built, timed)

    assert "roof, measured in this session: matmul: 800 TFLOP/s float16" in key_of(made)
    solid = [
        line for line in figure_of(made).axes[1].lines if line.get_linestyle() == "-" and len(line.get_xdata()) == 2
    ]
    assert [800e12, 800e12] in [list(line.get_ydata()) for line in solid]
    assert title_of(made) == "NVIDIA H200: 2 kernels at 99% (matmul) of the matmul's rate"
    alone = kernels_run(0, [], [timed[1]])
    assert title_of(alone).endswith("1 kernel, no rate of a copy or a matmul to compare with")
    assert not any(
        "in this session" in words for words in key_of(kernels_run(0, [], [replace(timed[1], matmul_flops_per_s={})]))
    )


def test_products_in_float32_have_no_documented_ceiling() -> None:
    product = compiled("matmul", work=COMPUTING, dtype="float32")
    made = kernels_run(0, [product], [times("matmul", work=COMPUTING, dtype="float32", matmul_flops_per_s={})])

    assert set(marks_of(made)) == {"matmul measured"}
    assert key_of(made)[0] == "roof, data sheet: 4.8 TB/s"


def test_a_card_without_documented_peaks_has_measured_marks_and_roofs_alone() -> None:
    made = kernels_run(0, [compiled()], [times(gpu="NVIDIA H100 PCIe")])

    assert set(marks_of(made)) == {"softmax measured"}
    assert [words.partition(":")[0] for words in key_of(made)] == [
        "roof, measured in this session",
        "measured median",
    ]
    assert heading_of(made) == "Roofline of the NVIDIA H100 PCIe"


def test_launches_that_were_not_timed_beside_others_that_were_are_counted() -> None:
    made = kernels_run(0, [compiled(), compiled("dropout")], [times()])

    assert heading_of(made) == "Roofline of the NVIDIA H200; 1 of 2 launches not measured"
    assert set(marks_of(made)) == {"softmax predicted", "softmax measured", "dropout predicted"}


def test_one_launch_of_a_kernel_is_drawn_the_first_and_the_table_has_all() -> None:
    other = compiled(sizes="rows=2 columns=2", work=replace(MOVING, flops=1))
    made = kernels_run(0, [compiled(), other])

    assert marks_of(made)["softmax predicted"][0] == 2.5
    assert "the first launch that is tracked of each kernel; 1 of 2, the table has all" in caption_of(made)
    assert [row["launch"] for row in table_of(made)] == [
        f"softmax float16 {SIZES}",
        "softmax float16 rows=2 columns=2",
    ]


def test_the_roofline_is_of_the_place_that_measured_and_the_caption_says_which_are_drawn() -> None:
    lent = kernels_run(0, [compiled()], [times()], environment="lent")
    newer = kernels_run(1, [compiled()], environment="here")

    assert title_of(newer, lent).startswith("NVIDIA H200: 1 kernel at 96%")
    assert "1 of 2 environments are drawn." in caption_of(newer, lent)


def test_a_plain_function_without_work_is_in_the_grid_and_has_no_roofline() -> None:
    made = kernels_run(0, [compiled("mine:function", work=None, dtype="", sizes="x=*fp32")])
    figure = figure_of(made)

    assert len(figure.axes) == 1
    assert "mine:function" in {text.strip() for text in texts(figure)}
    assert table_of(made)[0]["predicted least"] == "not known: what it has to move and to compute is not known"


def test_a_kernel_without_operations_has_a_row_and_no_place_on_logarithmic_axes() -> None:
    copy = kernels_run(0, [compiled("copy", work=replace(MOVING, flops=0)), compiled()])

    assert set(marks_of(copy)) == {"softmax predicted"}
    assert table_of(copy)[0]["operations/byte"] == "0"


def test_a_results_folder_becomes_a_figure_and_a_section_of_the_page(tmp_path: Path) -> None:
    folder = Folder(tmp_path / "results")
    folder.begin()
    row = {**told(), "work": asdict(MOVING)}
    compiling = {"case": "x", "codegen": {"kernel": "softmax", "target": "sm_90", "rows": [row]}}
    timing = json.loads(json.dumps({"case": "y", "kernel_times": asdict(times())}))
    folder.add(1, {"load.track_bytes": 1.0}, sidecar=[compiling, timing])

    index = draw_reports(tmp_path / "results", tmp_path / "out", ["kernels"])

    page = index.read_text()
    assert (tmp_path / "out" / "kernels.png").is_file()
    assert "NVIDIA H200: 1 kernel at 96% (softmax) of the copy&#x27;s rate." in page
    assert "1.25 ms (1.25-1.25, n=9), one process" in page
