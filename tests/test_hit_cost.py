"""The benchmark of a hit: what a process measures, and how asv's cases share it."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import pytest
from toy_strategies import toys as toys

from pcbench import asking, hit_tracking, timing, tracking
from pcbench.errors import UsageError
from pcbench.runner import hit_cost
from pcbench.runner.stages import Request


@pytest.mark.slow
def test_a_process_gives_samples_of_a_hit_and_of_its_checks_each_less_than_the_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PCBENCH_STORE", str(tmp_path))
    least: dict[str, float] = {}
    for check in hit_tracking.CHECKS:
        found: Any = tracking.cache_hit_seconds(check, "2", "8")
        assert len(found["samples"]) >= 5
        least[check] = min(found["samples"])

    assert all(0 < least[check] < least["hit"] for check in hit_tracking.CHECKS if check != "hit")


def test_the_checks_of_one_size_share_a_process_and_a_second_round_takes_new_samples(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []

    def ask(setting: asking.Setting, request: dict[str, Any]) -> list[dict[str, Any]]:
        asked.append(f"{request['do']}: {setting.target}")
        return [{"stage": "x"}, {"cache_hit": {check: [float(len(asked))] for check in hit_tracking.CHECKS}}]

    monkeypatch.setattr(asking, "ask", ask)
    monkeypatch.setenv("PCBENCH_STORE", str(tmp_path))
    rounds = [[tracking.cache_hit_seconds(check, "1", "4") for check in hit_tracking.CHECKS] for _ in range(2)]

    assert asked == ["cache_hit: 1 inputs, 4 parameters"] * 2
    assert rounds == [[{"samples": [n], "number": 1}] * len(hit_tracking.CHECKS) for n in (1.0, 2.0)]


def test_a_check_that_there_is_not_ends_with_its_reason(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        tracking.cache_hit_seconds("weight", "1", "4")

    assert "there is no check of a hit 'weight' (did you mean 'weights'?" in capsys.readouterr().err


@pytest.mark.usefixtures("toys")
def test_the_original_s_samples_are_those_taken_in_turn_with_the_hit(monkeypatch: pytest.MonkeyPatch) -> None:
    numbers = itertools.count()
    monkeypatch.setattr(timing, "interleaved", lambda *_, **__: ([number := 1.0 + next(numbers)], [-number]))
    emitted: list[dict[str, Any]] = []
    hit_cost.cache_hit(Request("1 inputs, 4 parameters", "baked", 1, "."), timing.PhaseClock(), emitted.append)

    (samples,) = (message["cache_hit"] for message in emitted if "cache_hit" in message)
    assert samples["original"] == [-value for value in samples["hit"]]
    assert set(samples) == set(hit_tracking.CHECKS)


@pytest.mark.parametrize("target", ["mlp", "0 inputs, 4 parameters", "1 inputs, 5 parameters"])
def test_a_target_that_is_no_sizes_is_refused(target: str) -> None:
    with pytest.raises(UsageError, match="are no sizes"):
        hit_cost.cache_hit(Request(target, "export", 1, "."), timing.PhaseClock(), lambda message: None)
