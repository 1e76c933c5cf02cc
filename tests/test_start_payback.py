"""When a capture has paid for itself by the start alone."""

from __future__ import annotations

import math

from examples import load_case, run, timing

from pcbench.analysis.records import Case, Run
from pcbench.analysis.shown import Shown
from pcbench.analysis.start_payback import payback_words, starts_to_pay
from pcbench.reports import load


def measured(eager_s: float, aoti_s: float, capture_s: float | None = 30.0) -> Run:
    params = (("model", "mlp"), ("strategy", "aoti"), ("temperature", "cold"))
    found = {load_case("eager", "cold"): timing([eager_s]), load_case("aoti", "cold"): timing([aoti_s])}
    if capture_s is not None:
        found[Case("bench_capture.Capture.track_seconds", params)] = timing([capture_s])
    return run(0, found)


def test_a_capture_of_30_s_that_saves_2_s_a_start_is_paid_back_after_15_starts() -> None:
    assert starts_to_pay(measured(3.0, 1.0), "mlp", "aoti") == 15.0
    assert payback_words(15.0) == "after 15 cold starts"


def test_a_start_that_is_no_shorter_than_eagers_never_pays() -> None:
    assert starts_to_pay(measured(1.0, 1.0), "mlp", "aoti") == math.inf
    assert payback_words(math.inf) == "not by its start"


def test_what_was_not_measured_is_not_paid_back_after_nothing() -> None:
    assert starts_to_pay(measured(3.0, 1.0, None), "mlp", "aoti") is None
    assert starts_to_pay(measured(3.0, 1.0), "mlp", "export") is None


def test_the_table_of_the_load_ladder_has_it() -> None:
    table = load.REPORT.table(Shown([measured(3.0, 1.0)]))

    assert table is not None
    assert table.header[5] == "capture paid back"
    assert [row[5] for row in table.rows] == ["-", "after 15 cold starts"]
