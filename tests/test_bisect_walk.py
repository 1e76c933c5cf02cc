"""What a walk keeps of the pairs that it takes, and how it judges those that are on record."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pcbench.analysis.policy import Policy
from pcbench.analysis.records import Verdict
from pcbench.commands import _bisecting
from pcbench.commands._bisecting import Walk
from pcbench.commands._night_pairs import At
from pcbench.paired import Look, Paired, Side
from pcbench.sides import Suite

PLACES = [At(letter * 40) for letter in "abc"]
PAIRS = ((1.0, 1.5),) * 6


def paired(place: At, pairs: tuple[tuple[float, float], ...] = PAIRS) -> Paired:
    one, other = Side("a", PLACES[0].commit), Side("c", place.commit)
    looks = (Look(pairs, ()), Look(pairs, ()))
    return Paired("b.time", "seconds", one, other, looks, "2026-11-30", version="1", delta=math.log1p(0.02))


@pytest.fixture
def walk(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Walk:
    @contextmanager
    def ready(root: Path, suite: Suite, one: At, other: At, variables: Any) -> Iterator[Any]:  # noqa: ARG001
        yield other, variables

    monkeypatch.setattr(_bisecting, "ready", ready)
    monkeypatch.setattr(_bisecting, "compare", lambda pair, *_, **__: [paired(pair[0])])
    return Walk(tmp_path, Suite(tmp_path), PLACES, "abc", "b.time", Policy(pairs=6, slow_pairs=6))


def test_pairs_of_a_sharpened_rule_are_kept_and_settle_nothing(walk: Walk) -> None:
    kept: list[Paired] = []
    walk.keep = lambda index, found: kept.append(found)
    assert walk.timing(2)[0] is Verdict.SLOWER
    walk.sharpen(math.log(1.5))
    walk.timing(1)

    assert kept == [paired(PLACES[2]), replace(paired(PLACES[1]), settled=False, delta=None)]


def test_pairs_on_record_are_judged_by_the_sharpened_rule(walk: Walk) -> None:
    nearer_to_the_first = ((1.0, 1.1),) * 6
    walk.known |= {PLACES[1]: paired(PLACES[1], nearer_to_the_first), PLACES[2]: paired(PLACES[2])}
    assert walk.timing(1)[0] is Verdict.SLOWER
    walk.sharpen(math.log(1.5))

    assert walk.timing(1)[0] is Verdict.SAME
    found = walk.find(walk.timing, Verdict.SLOWER)
    assert (found.unchanged, found.changed) == (1, 2)
