"""What ``pcbench compare`` measures by torch build: builds are sampled in turn, round by round."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from pcbench import asking, machine
from pcbench.analysis.comparison import Comparison
from pcbench.commands._builds import Build
from pcbench.commands._deploying import Deploying
from pcbench.commands._deploying import measure as measure_deployed
from pcbench.commands._progress import Step
from pcbench.commands._rounds import Measured, Plan, measure_round, prepare, rotated
from pcbench.errors import PcbenchError
from pcbench.samples import EAGER


@dataclass
class Compared:
    """One build, and what has been measured of it so far; an interruption leaves it usable.

    Attributes:
        facts: Versions and machine facts, by name.
        failed: Why nothing more is measured of this build, while others go on.
    """

    build: Build
    measured: Measured
    deploying: Deploying
    facts: dict[str, str] = field(default_factory=dict)
    failed: PcbenchError | None = None

    @property
    def problem(self) -> str:
        """Why nothing is known of this build."""
        return "the command ended before it was measured" if self.failed is None else self.failed.problem

    def comparison(self, model: str) -> Comparison:
        """What was measured, of a build whose facts are known."""
        return Comparison(
            model=model,
            torch=self.facts["torch"],
            triton=self.facts["triton"],
            python=self.facts["python"],
            machine=machine.describe() | {"isa": self.facts["isa"]},
            threads=self.measured.plan.setting.threads,
            rows=self.measured.rows(),
            captures=self.measured.capture_rows(),
            shapes=self.measured.shape_rows(),
            deployed=self.deploying.deployed_rows(),
            workers=self.deploying.worker_rows(),
        )


def compared(build: Build, plan: Plan, conditions: tuple[str, ...], workers: int) -> Compared:
    """A build of which nothing is measured yet."""
    measured = Measured(replace(plan, setting=build.setting(plan.setting)))
    return Compared(build, measured, Deploying(measured, conditions, workers))


def steps_of(compared: Sequence[Compared]) -> int:
    """How many steps measuring them takes at most."""
    return sum(one.measured.plan.steps + one.deploying.steps for one in compared)


def measure(compared: Sequence[Compared], folder: Path, step: Step) -> None:
    """Fill them; artifacts and their caches are kept in ``folder`` meanwhile.

    Raises:
        PcbenchError: Of the only build, or the first build's where none could go on.
    """
    for one in compared:
        try:
            one.facts = _facts(one)
            prepare(one.measured, _place(one, folder), _told(one, compared, step))
        except PcbenchError as error:
            one.failed = error
    going = [one for one in compared if one.failed is None]
    if not going:
        raise next(one.failed for one in compared if one.failed is not None)
    for number in range(1, going[0].measured.plan.samples + 1):
        for one in rotated(going, number):
            measure_round(one.measured, number, _place(one, folder), _told(one, compared, step))
    for one in going:
        measure_deployed(one.deploying, _place(one, folder), one.facts["isa"], _told(one, compared, step))


def _facts(one: Compared) -> dict[str, str]:
    messages = asking.ask(one.measured.plan.setting, {"do": "describe", "strategy": EAGER})
    facts: dict[str, str] = next(m["facts"] for m in messages if "facts" in m)
    return facts


def _place(one: Compared, folder: Path) -> Path:
    return folder / one.build.name


def _told(one: Compared, compared: Sequence[Compared], step: Step) -> Step:
    """The step, with the build's name before it where there are several."""
    return step if len(compared) == 1 else lambda what: step(f"{one.build.name}: {what}")
