"""What one guard of a type takes: known seconds are found again, and what cannot be told apart is not told."""

from __future__ import annotations

import numpy as np
import pytest

from pcbench.guards import _kinds


def test_the_fit_finds_what_kinds_take_however_long_a_part_waits_alone() -> None:
    chance = np.random.default_rng(0)
    takes = {"guards: A": 3.0, "guards: B": 50.0, "dict keys": 7.0}
    rows = [{kind: int(chance.integers(0, 5)) for kind in takes} | {"guards: A": 1 + n} for n in range(30)]

    fit = _kinds.fit([(row, 100.0 + sum(takes[kind] * n for kind, n in row.items())) for row in rows])

    found = {cost.kinds: cost for cost in fit.costs(rows)}
    assert {kinds: cost.seconds for kinds, cost in found.items()} == pytest.approx({(k,): s for k, s in takes.items()})
    assert all(cost.error_s == pytest.approx(0.0, abs=1e-6) for cost in found.values())
    assert found["guards: B",].count == sum(row["guards: B"] for row in rows)
    assert fit.seconds({"guards: B": 2, "dict keys": 1}) == pytest.approx(107.0)


def test_kinds_that_are_always_together_have_one_number_and_others_that_mix_have_none() -> None:
    rows = [{"guards: A": n, "guards: B": 2 * n, "guards: C": n % 3} for n in range(1, 9)]
    fit = _kinds.fit([(row, 10.0 + 4.0 * row["guards: A"] + row["guards: C"]) for row in rows])
    assert {cost.kinds: cost.seconds for cost in fit.costs(rows)} == {
        ("guards: A", "guards: B"): pytest.approx(4.0),
        ("guards: C",): pytest.approx(1.0),
    }

    mixed = [{"guards: A": n, "guards: B": 5 - n, "guards: C": n * n} for n in range(5)]
    told = {cost.kinds[0]: cost for cost in _kinds.fit([(row, 5.0) for row in mixed]).costs([*mixed, {"guards: D": 1}])}
    assert told["guards: A"].seconds is None
    assert told["guards: A"].reason.startswith("not separable from ")
    assert "guards: B" in told["guards: A"].reason
    assert told["guards: C"].seconds == pytest.approx(0.0, abs=1e-9)
    assert told["guards: D"].reason == "no part that has one was timed"


def test_with_too_few_parts_no_error_is_told() -> None:
    assert [cost.error_s for cost in _kinds.fit([({"guards: A": n}, 5.0 * n) for n in (1, 2)]).costs([])] == [None]
    alone = next(_kinds.fit([({"guards: A": 1}, 5.0)]).costs([{"guards: A": 1}]))
    assert (alone.seconds, alone.reason) == (None, "not separable from what being alone takes")
    assert list(_kinds.fit([]).costs([])) == []
