"""The benchmark of a hit: what a process measures, and how asv's cases share it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pcbench import asking, hit_tracking, tracking
from pcbench.errors import UsageError
from pcbench.runner import hit_cost
from pcbench.runner.stages import Request
from pcbench.timing import PhaseClock


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


@pytest.mark.parametrize("target", ["mlp", "0 inputs, 4 parameters", "1 inputs, 5 parameters"])
def test_a_target_that_is_no_sizes_is_refused(target: str) -> None:
    with pytest.raises(UsageError, match="are no sizes"):
        hit_cost.cache_hit(Request(target, "export", 1, "."), PhaseClock(), lambda message: None)
