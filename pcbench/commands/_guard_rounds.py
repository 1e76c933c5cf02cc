"""What ``pcbench guards`` measures, by target and torch build: builds are sampled in turn, process by process."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

from pcbench import guard_sampling, torch_envs
from pcbench.analysis.guard_report import GuardReport
from pcbench.asking import Setting
from pcbench.commands._builds import Build
from pcbench.commands._guard_arguments import Asked
from pcbench.commands._progress import Step
from pcbench.commands._rounds import rotated
from pcbench.errors import PcbenchError, UnavailableError
from pcbench.guard_causes import Remedies, Subtrees
from pcbench.guard_samples import Cost, Counted, Sweep
from pcbench.guard_sampling import CENSUS_SIZE, COUNTED_SIZES
from pcbench.instruction_counting import counted, limit_s


@dataclass
class Examined:
    """One target on one build, and what has been measured of it so far; an interruption leaves it usable.

    Attributes:
        problems: Part to the reason why no more is known of it, while others go on.
        failed: The first error behind them.
    """

    target: str
    build: Build
    asked: Asked
    counted: Counted | None = None
    costs: list[Cost] = field(default_factory=list)
    sweeps: list[Sweep] = field(default_factory=list)
    subtrees: list[Subtrees] = field(default_factory=list)
    remedies: list[Remedies] = field(default_factory=list)
    instructions: dict[int, tuple[float, ...]] = field(default_factory=dict)
    counted_by: str | None = None
    problems: dict[str, str] = field(default_factory=dict)
    failed: PcbenchError | None = None

    @property
    def setting(self) -> Setting:
        return self.build.setting(replace(self.asked.setting, target=self.target))

    @property
    def parts(self) -> tuple[str, ...]:
        """What a round measures."""
        if self.asked.census_alone:
            return ()
        return ("sweep",) if self.asked.is_family(self.target) else ("cost", "subtrees", "remedies")

    @property
    def counted_sizes(self) -> tuple[int, ...]:
        """At which sizes instructions are counted; a model has none."""
        return COUNTED_SIZES if self.asked.is_family(self.target) else (CENSUS_SIZE,)

    def report(self) -> GuardReport:
        """What is known by now."""
        return GuardReport(
            self.target,
            self.build.name,
            self.counted,
            tuple(self.costs),
            tuple(self.sweeps),
            tuple(self.subtrees),
            tuple(self.remedies),
            dict(self.instructions),
            self.counted_by,
            dict(self.problems),
        )


def steps_of(examined: Sequence[Examined]) -> int:
    """How many steps measuring them takes at most."""
    return sum(
        2 + len(one.parts) * one.asked.processes + one.asked.instructions * len(one.counted_sizes) for one in examined
    )


def measure(examined: Sequence[Examined], step: Step) -> None:
    """Fill them: censuses first, then rounds of processes, builds in turn.

    Raises:
        PcbenchError: No target's guards could be counted on any build: the first reason.
    """
    for one in examined:
        with _kept(one, "census"):
            one.counted = guard_sampling.census(one.setting, one.asked.size, _said(one, step))
    going = [one for one in examined if one.counted is not None]
    if not going:
        raise next(one.failed for one in examined if one.failed is not None)
    for number in range(going[0].asked.processes):
        for one in rotated(going, number):
            for part in one.parts:
                if part not in one.problems:
                    with _kept(one, part):
                        _said(one, step)(f"{part}, process {number + 1}")
                        _measure_part(one, part)


def count_instructions(examined: Sequence[Examined], step: Step) -> None:
    """Count those of a check, where they were asked for: of all targets of a build in one process."""
    for build in dict.fromkeys(one.build.name for one in examined):
        going = [one for one in examined if one.build.name == build and one.counted and one.asked.instructions]
        sized = [(one.target, size) for one in going for size in one.counted_sizes]
        if not sized:
            continue
        setting = replace(going[0].setting, timeout_s=max(going[0].setting.timeout_s, limit_s(len(sized))))
        try:
            found = counted(sized, setting, step=step)
        except UnavailableError as error:
            for one in going:
                one.problems["instructions"] = error.problem
            continue
        for one in going:
            one.counted_by = found.method
            for size in one.counted_sizes:
                target = (one.target, size)
                if target in found.values:
                    one.instructions[size] = found.values[target]
                else:
                    why = found.unavailable.get(target) or found.failed[target]
                    one.problems["instructions" + (f" at size {size}" if one.asked.is_family(one.target) else "")] = why


def _measure_part(one: Examined, part: str) -> None:
    if part == "sweep":
        one.sweeps.append(guard_sampling.sweep(one.setting))
    elif part == "cost":
        one.costs.append(guard_sampling.cost(one.setting))
    elif part == "subtrees":
        one.subtrees.append(guard_sampling.subtrees(one.setting))
    else:
        one.remedies.append(guard_sampling.remedies(one.setting))


@contextmanager
def _kept(one: Examined, part: str) -> Iterator[None]:
    """Turn an error into the reason why a part is not known."""
    try:
        yield
    except PcbenchError as error:
        one.problems[part] = error.problem if error.hint is None else f"{error.problem} ({error.hint})"
        one.failed = one.failed or error


def _said(one: Examined, step: Step) -> Step:
    where = "" if one.build.name == torch_envs.THIS else f" on {one.build.name}"
    return lambda what: step(f"{one.target}{where}: {what}")
