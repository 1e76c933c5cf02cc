"""What ``pcbench compare`` measures beyond the ladder: deployed artifacts, and several workers that load at once."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from pcbench import deployment, sampling
from pcbench.analysis.deployed import DeployedRow
from pcbench.analysis.workers import WorkersRow
from pcbench.commands._progress import Step
from pcbench.commands._rounds import Measured, folder_of, rotated
from pcbench.deployment import Deployed
from pcbench.errors import UnavailableError
from pcbench.samples import BUNDLED, EAGER, Outcome
from pcbench.status import Status


@dataclass
class Deploying:
    """What has been measured so far; an interruption leaves it usable.

    Attributes:
        ladder: The captures, and the loads of single processes.
        conditions: Some of :data:`pcbench.conditions.CONDITIONS`.
        workers: Processes that load at once; none where it is 0.
    """

    ladder: Measured
    conditions: tuple[str, ...]
    workers: int
    deployed: dict[tuple[str, str, str], list[Deployed]] = field(default_factory=dict)
    at_once: dict[tuple[str, str], list[tuple[Outcome, ...]]] = field(default_factory=dict)

    @property
    def steps(self) -> int:
        """How many steps that is at most."""
        plan = self.ladder.plan
        loads = len(self.conditions) * len(plan.strategies) * (1 + plan.bundles)
        at_once = len(plan.processes) * (1 + len(plan.strategies)) if self.workers else 0
        return plan.samples * (loads + at_once)

    def deployed_rows(self) -> tuple[DeployedRow, ...]:
        """A row per strategy and condition that was reached."""
        rows = []
        for (strategy, temperature, condition), loads in sorted(self.deployed.items()):
            failed = next((load.outcome for load in loads if load.outcome.status is not Status.OK), None)
            status, reason = (Status.OK, None) if failed is None else (failed.status, failed.reason)
            samples = tuple(sample for load in loads for sample in load.outcome.samples)
            wrote = tuple(sorted({name for load in loads for name in load.wrote}))
            rows.append(DeployedRow(strategy, condition, status, reason, samples, wrote, temperature))
        return tuple(rows)

    def worker_rows(self) -> tuple[WorkersRow, ...]:
        """A row per strategy and temperature that was reached."""
        rows = []
        alone = {(row.strategy, row.temperature): row.start_s for row in self.ladder.rows() if row.counts}
        for (strategy, temperature), rounds in sorted(self.at_once.items(), key=self._place):
            failed = next((o for outcomes in rounds for o in outcomes if o.status is not Status.OK), None)
            status, reason = (Status.OK, None) if failed is None else (failed.status, failed.reason)
            samples = () if failed else tuple(tuple(o.samples[0] for o in outcomes) for outcomes in rounds)
            known = alone.get((strategy, temperature), ())
            rows.append(WorkersRow(strategy, temperature, self.workers, status, reason, samples, known))
        return tuple(rows)

    def _place(self, item: tuple[tuple[str, str], object]) -> tuple[int, bool, str]:
        (strategy, temperature), _ = item
        return self.ladder.plan.processes.index(temperature), strategy != EAGER, strategy


def measure(deploying: Deploying, folder: Path, isa: str, step: Step) -> None:
    """Fill ``deploying`` with loads of the artifacts in ``folder``, strategies in turn, round by round."""
    plan = deploying.ladder.plan
    kept = [(s, t) for t in ("cold", BUNDLED) for s in deploying.ladder.loadable(t)]
    for number in range(1, plan.samples + 1):
        for condition in deploying.conditions:
            for strategy, temperature in rotated(kept, number):
                loads = deploying.deployed.get((strategy, temperature, condition), [])
                if loads and loads[-1].outcome.status is not Status.OK:
                    continue
                step(f"deployed ({condition}) {number} of {plan.samples}: {strategy}, {temperature}")
                place = folder_of(folder, strategy, temperature)
                try:
                    loaded = deployment.load(plan.setting, strategy, place, condition, isa, temperature)
                except UnavailableError as error:
                    loaded = Deployed(Outcome(Status.UNAVAILABLE, error.problem))
                deploying.deployed[strategy, temperature, condition] = [*loads, loaded]
        for temperature in plan.processes if deploying.workers else ():
            for strategy in rotated([EAGER, *deploying.ladder.loadable(temperature)], number):
                rounds = deploying.at_once.get((strategy, temperature), [])
                if rounds and any(outcome.status is not Status.OK for outcome in rounds[-1]):
                    continue
                step(f"{deploying.workers} workers, {temperature}, {number} of {plan.samples}: {strategy}")
                source = None if strategy == EAGER else folder_of(folder, strategy, temperature)
                outcomes = sampling.load_workers(plan.setting, strategy, source, temperature, deploying.workers)
                deploying.at_once[strategy, temperature] = [*rounds, outcomes]
