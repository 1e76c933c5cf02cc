"""What ``pcbench compare`` measures: a capture per strategy, then rounds in which every row is sampled in turn."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from pcbench import sampling
from pcbench.analysis.capture_table import CaptureRow
from pcbench.analysis.comparison import Row
from pcbench.analysis.shape_calls import ShapeRow
from pcbench.asking import Setting
from pcbench.commands._progress import Step
from pcbench.errors import PcbenchError, UsageError
from pcbench.samples import BUNDLED, EAGER, Capture, LoadSample, Outcome
from pcbench.status import Status

T = TypeVar("T")


@dataclass(frozen=True)
class Plan:
    """What to measure.

    Attributes:
        strategies: Names, without eager, which is always measured.
        temperatures: Some of cold, bundled, warm, hot.
        samples: Rounds: processes per strategy and temperature.
        capture_warm: Capture each strategy once more, from the caches that its capture left.
        shapes: Call each extra shape that the model names, after the load.
        keep_state: Keep what loads on another instruction set need to check their answers.
    """

    setting: Setting
    strategies: tuple[str, ...]
    temperatures: tuple[str, ...]
    samples: int
    shapes: bool = False
    keep_state: bool = False
    capture_warm: bool = False

    @property
    def processes(self) -> tuple[str, ...]:
        """The temperatures that take a process of their own: a hot load is the second of a warm one's."""
        return tuple(
            t
            for t in ("cold", BUNDLED, "warm")
            if t in self.temperatures or (t == "warm" and "hot" in self.temperatures)
        )

    @property
    def bundles(self) -> bool:
        """Whether each strategy is captured once more, with its compiler caches in the artifact."""
        return BUNDLED in self.temperatures

    @property
    def steps(self) -> int:
        """How many processes that is at most, the check of the model included."""
        captures = len(self.strategies) * (1 + self.capture_warm + self.bundles)
        return 1 + captures + self.samples * len(self.processes) * (1 + len(self.strategies))


@dataclass
class Measured:
    """What has been measured so far; an interruption leaves it usable."""

    plan: Plan
    captures: dict[str, Capture] = field(default_factory=dict)
    warm_captures: dict[str, Capture] = field(default_factory=dict)
    bundled_captures: dict[str, Capture] = field(default_factory=dict)
    outcomes: dict[tuple[str, str], list[Outcome]] = field(default_factory=dict)

    def rows(self) -> tuple[Row, ...]:
        """A row per strategy and temperature that was reached."""
        found = [self._row(name, t) for t in self.plan.temperatures for name in (EAGER, *self.plan.strategies)]
        return tuple(row for row in found if row is not None)

    def capture_rows(self) -> tuple[CaptureRow, ...]:
        """A row per capture that was taken, warm ones last."""
        taken = (("cold", self.captures), (BUNDLED, self.bundled_captures), ("warm", self.warm_captures))
        return tuple(CaptureRow(name, t, capture) for t, captures in taken for name, capture in captures.items())

    def loadable(self, temperature: str) -> list[str]:
        """The strategies whose capture for loads at this temperature is there."""
        captures = self.bundled_captures if temperature == BUNDLED else self.captures
        return [s for s in self.plan.strategies if s in captures and captures[s].status is Status.OK]

    def shape_rows(self) -> tuple[ShapeRow, ...]:
        """A row per strategy and extra shape that was reached."""
        rows = []
        for strategy in (EAGER, *self.plan.strategies):
            outcomes = self.outcomes.get((strategy, self.plan.processes[-1]), [])
            names = dict.fromkeys(call.name for outcome in outcomes for call in outcome.shapes)
            for name in names:
                calls = tuple(call for outcome in outcomes for call in outcome.shapes if call.name == name)
                rows.append(ShapeRow(strategy, name, calls))
        return tuple(rows)

    def _row(self, strategy: str, temperature: str) -> Row | None:
        captured = (self.bundled_captures if temperature == BUNDLED else self.captures).get(strategy)
        outcomes = self.outcomes.get((strategy, "warm" if temperature == "hot" else temperature), [])
        if captured is not None and captured.status is not Status.OK:
            return Row(strategy, temperature, captured.status, captured.reason)
        if not outcomes:
            return None
        status, reason = _worst(outcomes, temperature)
        timed = [outcome for outcome in outcomes if outcome.call_s and temperature != "hot"]
        return Row(
            strategy,
            temperature,
            status,
            reason,
            weights=captured.weights if captured else None,
            capture_s=_known(captured.capture_s if captured else None),
            save_s=_known(captured.save_s if captured else None),
            artifact_bytes=captured.artifact_bytes if captured else None,
            samples=tuple(s for outcome in outcomes for s in outcome.samples if s.temperature == temperature),
            call_s=tuple(value for outcome in timed for value in outcome.call_s),
            eager_call_s=tuple(value for outcome in timed for value in outcome.eager_call_s),
            pairs_by_process=tuple(len(outcome.call_s) for outcome in timed),
        )


def prepare(measured: Measured, folder: Path, step: Step) -> None:
    """Check the model and capture it; artifacts and their caches are kept in ``folder`` for the rounds.

    Raises:
        PcbenchError: The model itself is at fault.
    """
    plan = measured.plan
    step(f"checking {plan.setting.target} in eager mode")
    checked = sampling.load(plan.setting, EAGER, None, "warm", shapes=plan.shapes)
    if checked.status is not Status.OK:
        raise PcbenchError(f"{plan.setting.target} does not work in eager mode: {checked.status}: {checked.reason}")
    if plan.shapes and not checked.shapes:
        raise UsageError(
            f"{plan.setting.target} names no extra shapes", hint="add shapes={'name': inputs_function} to its MODEL"
        )
    for call in checked.shapes:
        if call.status is not Status.OK:
            raise UsageError(f"{plan.setting.target} itself does not take its shape {call.name}: {call.reason}")
    for strategy in plan.strategies:
        step(f"capturing with {strategy}")
        measured.captures[strategy] = sampling.capture(
            plan.setting, strategy, folder / strategy, keep_state=plan.keep_state
        )
    captured = measured.loadable("cold")
    for strategy in captured if plan.bundles else ():
        step(f"capturing with {strategy}, with its caches")
        place = folder_of(folder, strategy, BUNDLED)
        measured.bundled_captures[strategy] = sampling.capture(
            plan.setting, strategy, place, keep_state=plan.keep_state, with_caches=True
        )
    for strategy in captured if plan.capture_warm else ():
        step(f"capturing with {strategy} again")
        again = folder / f"{strategy}-again"
        measured.warm_captures[strategy] = sampling.capture(plan.setting, strategy, again, warm_from=folder / strategy)
        shutil.rmtree(again, ignore_errors=True)


def measure_round(measured: Measured, number: int, folder: Path, step: Step) -> None:
    """Take a sample of every row; a strategy whose last load failed is left out."""
    plan = measured.plan
    for temperature in plan.processes:
        for strategy in rotated([EAGER, *measured.loadable(temperature)], number):
            earlier = measured.outcomes.setdefault((strategy, temperature), [])
            if earlier and not earlier[-1].samples:
                continue
            step(f"{temperature} load {number} of {plan.samples}: {strategy}")
            earlier.append(_load(plan, strategy, temperature, folder))


def _load(plan: Plan, strategy: str, temperature: str, folder: Path) -> Outcome:
    return sampling.load(
        plan.setting,
        strategy,
        None if strategy == EAGER else folder_of(folder, strategy, temperature),
        temperature,
        hot=temperature == "warm" and "hot" in plan.temperatures,
        shapes=plan.shapes and temperature == plan.processes[-1],
        calls=strategy != EAGER and temperature == plan.processes[-1],
    )


def folder_of(folder: Path, strategy: str, temperature: str) -> Path:
    """Where a strategy's capture for loads at this temperature is: one with caches is a capture of its own."""
    return folder / (f"{strategy}-with-caches" if temperature == BUNDLED else strategy)


def rotated(items: Sequence[T], by: int) -> list[T]:
    """The items from another one on in each round, so that none always follows the same neighbour."""
    if not items:
        return []
    start = by % len(items)
    return [*items[start:], *items[:start]]


def _worst(outcomes: list[Outcome], temperature: str) -> tuple[Status, str | None]:
    """The first outcome that is not OK, of the load at this temperature; OK when there is none."""
    for outcome in outcomes:
        ours: list[LoadSample] = [s for s in outcome.samples if s.temperature == temperature]
        if outcome.status is not Status.OK and not (ours and all(s.status is Status.OK for s in ours)):
            return outcome.status, outcome.reason
    return Status.OK, None


def _known(value: float | None) -> tuple[float, ...]:
    return () if value is None else (value,)
