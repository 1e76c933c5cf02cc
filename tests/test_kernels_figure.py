"""The figure of the report on kernels, from one kernel to eleven on four targets: nothing covers or crosses."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable

import pytest
from figures import drawn
from kernel_reports import figure_of
from kernel_runs import (
    COMPUTING,
    SIZES,
    compiled,
    kernels_run,
    with_gpu,
    without_gpu,
)
from matplotlib.figure import Figure
from matplotlib.text import Text

NAMES = (
    "attention",
    "cross_entropy",
    "dropout",
    "layer_norm",
    "matmul",
    "matmul_fp8",
    "matmul_int4",
    "rms_norm",
    "row_sum",
    "softmax",
    "vector_add",
)
TARGETS = ("sm_90", "sm_100", "sm_80", "gfx942")


EXAMPLES: dict[str, Callable[[], Figure]] = {
    "one kernel": lambda: figure_of(kernels_run(0, [compiled()])),
    "one kernel that computes": lambda: figure_of(kernels_run(0, [compiled(work=COMPUTING)])),
    "eleven kernels without a GPU": lambda: figure_of(without_gpu(0, NAMES)),
    "eleven kernels with a GPU": lambda: figure_of(with_gpu(0, NAMES)),
    "eleven kernels on four targets": lambda: figure_of(without_gpu(0, NAMES, TARGETS)),
    "a long reason and a long change": lambda: figure_of(
        kernels_run(0, [compiled(target=target) for target in TARGETS]),
        kernels_run(
            1,
            [compiled(target=target, code="b", spill_stores=7, spill_load_bytes=9) for target in TARGETS],
            unmeasured={f"softmax float16 {SIZES}": "no " * 90},
        ),
    ),
    "dollars in what the assembler says": lambda: figure_of(
        kernels_run(0, [compiled()]),
        kernels_run(1, [compiled(code="b", warnings=["Potential Performance Loss at $L__BB0_2 and $L_{BB0_3"])]),
    ),
}


@functools.cache
def example(name: str) -> Figure:
    return drawn(EXAMPLES[name]())


@pytest.mark.parametrize("name", EXAMPLES)
def test_no_text_of_the_figure_covers_another_or_is_cut(name: str) -> None:
    figure = example(name)
    ticks = {
        id(t) for axes in figure.axes for axis in (axes.xaxis, axes.yaxis) for t in axis.get_ticklabels(which="both")
    }
    found = [text for text in figure.findobj(Text) if text.get_visible() and text.get_text().strip()]
    found = [text for text in found if id(text) not in ticks]
    boxes = [(text.get_text(), text.get_window_extent()) for text in found]
    for words, box in boxes:
        assert box.x0 >= -1, words
        assert box.x1 <= figure.bbox.width + 1, words
        assert box.y0 >= -1, words
        assert box.y1 <= figure.bbox.height + 1, words
    for (words, one), (others, other) in itertools.combinations(boxes, 2):
        apart = one.x1 <= other.x0 or other.x1 <= one.x0 or one.y1 <= other.y0 + 1 or other.y1 <= one.y0 + 1

        assert apart, (words, others)


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_caption_says_commit_versions_and_n(name: str) -> None:
    caption = " ".join(example(name).get_supxlabel().split())

    assert "Commit 0000000" in caption
    assert "torch 2.15.0, triton 3.9.0" in caption
    assert "ptxas 13.4.59" in caption
    assert "n = " in caption


def test_the_lines_from_names_to_marks_do_not_cross() -> None:
    axes = example("eleven kernels without a GPU").axes[1]
    arrows = [text for text in axes.texts if text.get_text() == ""]
    ends = []
    for arrow in arrows:
        mark = axes.transData.transform(arrow.xy)  # type: ignore[attr-defined]
        ends.append((axes.transAxes.transform(arrow.xyann), mark))  # type: ignore[attr-defined]

    def side(one: object, two: object, of: object) -> float:
        (ax, ay), (bx, by), (cx, cy) = one, two, of  # type: ignore[misc]
        return float((bx - ax) * (cy - ay) - (by - ay) * (cx - ax))

    assert len(ends) == len(NAMES)
    for (a, b), (c, d) in itertools.combinations(ends, 2):
        across = side(a, b, c) * side(a, b, d) < -1 and side(c, d, a) * side(c, d, b) < -1

        assert not across
