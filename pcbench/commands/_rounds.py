"""What ``pcbench compare`` measures: a capture per strategy, then rounds in which every row is sampled in turn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from pcbench import sampling
from pcbench.analysis.comparison import Row
from pcbench.commands._progress import Step
from pcbench.errors import PcbenchError
from pcbench.samples import EAGER, Capture, LoadSample, Outcome
from pcbench.sampling import Setting
from pcbench.status import Status


@dataclass(frozen=True)
class Plan:
    """What to measure.

    Attributes:
        strategies: Names, without eager, which is always measured.
        temperatures: Some of cold, warm, hot.
        samples: Rounds: processes per strategy and temperature.
    """

    setting: Setting
    strategies: tuple[str, ...]
    temperatures: tuple[str, ...]
    samples: int

    @property
    def processes(self) -> tuple[str, ...]:
        """The temperatures that take a process of their own: a hot load is the second of a warm one's."""
        return tuple(
            t for t in ("cold", "warm") if t in self.temperatures or (t == "warm" and "hot" in self.temperatures)
        )

    @property
    def steps(self) -> int:
        """How many processes that is at most, the check of the model included."""
        return 1 + len(self.strategies) + self.samples * len(self.processes) * (1 + len(self.strategies))


@dataclass
class Measured:
    """What has been measured so far; an interruption leaves it usable."""

    plan: Plan
    captures: dict[str, Capture] = field(default_factory=dict)
    outcomes: dict[tuple[str, str], list[Outcome]] = field(default_factory=dict)

    def rows(self) -> tuple[Row, ...]:
        """A row per strategy and temperature that was reached."""
        found = [self._row(name, t) for t in self.plan.temperatures for name in (EAGER, *self.plan.strategies)]
        return tuple(row for row in found if row is not None)

    def _row(self, strategy: str, temperature: str) -> Row | None:
        captured = self.captures.get(strategy)
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


def measure(measured: Measured, folder: Path, step: Step) -> None:
    """Fill ``measured``; artifacts and their caches are kept in ``folder`` meanwhile.

    Raises:
        PcbenchError: The model itself is at fault.
    """
    plan = measured.plan
    step(f"checking {plan.setting.target} in eager mode")
    checked = sampling.load(plan.setting, EAGER, None, "warm")
    if checked.status is not Status.OK:
        raise PcbenchError(f"{plan.setting.target} does not work in eager mode: {checked.status}: {checked.reason}")
    for strategy in plan.strategies:
        step(f"capturing with {strategy}")
        measured.captures[strategy] = sampling.capture(plan.setting, strategy, folder / strategy)
    captured = [s for s in plan.strategies if measured.captures[s].status is Status.OK]
    for number in range(1, plan.samples + 1):
        for temperature in plan.processes:
            for strategy in _rotated([EAGER, *captured], number):
                earlier = measured.outcomes.setdefault((strategy, temperature), [])
                if earlier and not earlier[-1].samples:
                    continue
                step(f"{temperature} load {number} of {plan.samples}: {strategy}")
                earlier.append(_load(plan, strategy, temperature, folder))


def _load(plan: Plan, strategy: str, temperature: str, folder: Path) -> Outcome:
    return sampling.load(
        plan.setting,
        strategy,
        None if strategy == EAGER else folder / strategy,
        temperature,
        hot=temperature == "warm" and "hot" in plan.temperatures,
        calls=strategy != EAGER and temperature == plan.processes[-1],
    )


def _rotated(names: Sequence[str], by: int) -> list[str]:
    """Each round starts with another one, so that none always follows the same neighbour."""
    start = by % len(names)
    return [*names[start:], *names[:start]]


def _worst(outcomes: list[Outcome], temperature: str) -> tuple[Status, str | None]:
    """The first outcome that is not OK, of the load at this temperature; OK when there is none."""
    for outcome in outcomes:
        ours: list[LoadSample] = [s for s in outcome.samples if s.temperature == temperature]
        if outcome.status is not Status.OK and not (ours and all(s.status is Status.OK for s in ours)):
            return outcome.status, outcome.reason
    return Status.OK, None


def _known(value: float | None) -> tuple[float, ...]:
    return () if value is None else (value,)
