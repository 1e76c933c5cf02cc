"""The stages of a night, each of which can be gone on with: what to measure, measuring, suspects, and the verdicts."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from pcbench.analysis.asv_results import read_results
from pcbench.analysis.baseline import FILE, read_baseline
from pcbench.analysis.findings import Finding, Judgement, worst_first
from pcbench.analysis.gating import gate
from pcbench.analysis.night_plan import costs, plan
from pcbench.analysis.quantities import counted, seconds
from pcbench.analysis.records import Case
from pcbench.analysis.series import all_series
from pcbench.analysis.steps import alerts
from pcbench.analysis.suspects import cut, restless, suspects
from pcbench.commands import _night_confirming, _night_locating
from pcbench.commands._night_asv import measure, tell_left_out
from pcbench.commands._night_ground import Ground, earlier_costs, new_commits
from pcbench.commands._night_state import Night, keep
from pcbench.errors import PcbenchError

_NOT_TONIGHT = "not measured tonight: the budget; a later night has its turn"


@dataclass
class Working:
    """A night at work: it keeps its state after each stage.

    Attributes:
        ends: When its budget is spent, by the monotonic clock.
        notes: What is to be said beside the verdicts.
    """

    ground: Ground
    night: Night
    budget_s: float
    ends: float
    say: Callable[[str], None]
    notes: list[str]
    baseline: str | None = None
    resumed: bool = False
    whole: bool = True

    @property
    def candidate(self) -> str:
        """The commit that is judged."""
        return self.night.commits[0]

    def plan(self) -> None:
        """Choose the commits and what of the suite is measured, unless an interrupted night has."""
        if "plan" in self.night.done:
            self.notes += self.night.dropped
            return
        fresh, measured = self._commits()
        earlier = earlier_costs(self.ground, self.night.short)
        suite = self.ground.suite()
        timings = {name: one.kind == "time" for name, one in suite.items()}
        share = self.ground.policy.night_suite * self.budget_s
        found = plan(fresh, costs(earlier, timings, self.night.restless), share, self.ground.policy)
        turn = self.night.left_out if measured is not None and self.night.before == measured else ()
        if measured is not None:
            more = f", after {counted(len(turn), 'benchmark')} that had been left out" if turn else ""
            self.say(f"nothing new since {measured[:8]}: it is judged again{more}")
            found = replace(found, left_out=(), few=(), dropped=())
            self.night = replace(self.night, done=() if turn else (f"measured {measured}",))
        elif found.seconds is None:
            self.say("no earlier night tells what the suite takes: it is measured whole")
        else:
            took = f"about {seconds(found.seconds)} for what earlier nights measured"
            self.say(f"{counted(len(found.commits), 'commit')} to measure: {took}")
        for line in found.dropped:
            self.say(f"budget: {line}")
        self.notes += [f"budget: {line}" for line in found.dropped]
        self.night = replace(
            self.night,
            commits=found.commits,
            few=found.few,
            left_out=found.left_out,
            only=turn,
            dropped=tuple(self.notes),
        ).behind("plan")
        keep(self.ground.folder, self.night)

    def _commits(self) -> tuple[list[str], str | None]:
        """The commits to measure, newest first; and where there is nothing new, the one that was measured."""
        if self.ground.env is not None:
            commit = _accepted_commit(self.ground)
            return [commit], commit if self.ground.entry(commit) is not None else None
        fresh, newest = new_commits(self.ground)
        if fresh:
            return fresh, None
        if newest is None:
            raise PcbenchError(f"git lists no commit of {self.ground.root}")
        return [newest], newest

    def measure(self) -> None:
        """Run the suite on each commit, newest first."""
        for commit in self.night.commits:
            if f"measured {commit}" in self.night.done:
                continue
            if not self._measured(commit):
                self._end_early(commit)
                break
            short = {**self.night.short, commit: self.night.few}
            tell_left_out(self.ground, commit, self.night.left_out)
            self.night = replace(self.night, short=short).behind(f"measured {commit}")
            keep(self.ground.folder, self.night)
        if self.ground.entry(self.candidate) is None:
            said = "" if self.whole else " before the budget ended; the same command goes on"
            raise PcbenchError(f"asv measured nothing of {self.candidate[:8]}{said}", hint=f"see {self.ground.log}")

    def _end_early(self, commit: str) -> None:
        """Say what the end of the budget means: the newest commit is gone on with, older ones are left out."""
        if commit == self.candidate:
            self.whole = False
            self.notes.append(f"the budget ended while {commit[:8]} was measured; the same command goes on with it")
            return
        left = self.night.commits[self.night.commits.index(commit) :]
        older = counted(len(left), "older commit")
        self.notes.append(f"budget: left out {older}, as it ended while {commit[:8]} was measured")

    def _measured(self, commit: str) -> bool:
        """Measure one commit; False where the budget ended before."""
        self.say(f"measuring {commit[:8]}")
        left = self.ends - time.monotonic()
        if left <= 0:
            return False
        ending = measure(
            self.ground,
            commit,
            only=self.night.only,
            without=self.night.left_out,
            few=self.night.few,
            again=self.resumed,
            limit_s=left,
        )
        return ending is None or not ending.out_of_time

    def judged(self) -> Judgement:
        """The gate's findings on what is stored now; what was left out on purpose is listed, not judged."""
        found = gate(self.ground.wanted(self.candidate, self.baseline), self.ground.policy)
        left_out = set(self.night.left_out)
        missing = [one for one in found.findings if one.candidate is None and one.case.benchmark in left_out]
        findings = worst_first([one for one in found.findings if one not in missing])
        unavailable = (*found.unavailable, *((one.case, _NOT_TONIGHT) for one in missing))
        return replace(found, findings=findings, unavailable=unavailable)

    def confirm(self) -> None:
        """Decide suspects in pairs, until the canary's share of the budget is left."""
        if "confirmed" in self.night.done:
            return
        found = self.judged()
        alerted = _alerted(self.ground, found.findings)
        known = earlier_costs(self.ground, {})
        took = {name: told for each in reversed(known) for name, (told, _) in each.items()}
        cases = [one.case for one in found.findings]
        process_s = _night_confirming.known_seconds(took, cases)
        named = suspects(found.findings, self.ground.policy, alerted, process_s)
        ends = self.ends - self.ground.policy.night_canary * self.budget_s
        self.say(counted(len(named), "suspect"))
        while named and time.monotonic() < ends:
            chosen, named = cut(named, ends - time.monotonic())
            self.notes += _night_confirming.confirm(self.ground, self.candidate, chosen, ends, self.say)
        self.notes += [_night_confirming.out_of_budget(one.finding.case) for one in named]
        calm = restless(self.judged().findings, self.ground.policy)
        self.night = replace(self.night, restless=calm).behind("confirmed")
        keep(self.ground.folder, self.night)

    def canary(self) -> None:
        """Measure the baseline against itself."""
        if "canary" in self.night.done:
            return
        ends = min(self.ends, time.monotonic() + 2 * self.ground.policy.night_canary * self.budget_s)
        self.notes += _night_confirming.canary(
            self.ground, self.candidate, self.judged(), self.night.number, self.night.started, ends, self.say
        )
        self.night = self.night.behind("canary")
        keep(self.ground.folder, self.night)

    def verdicts(self) -> Judgement:
        """The judgement of the night, with the commits that its findings name."""
        found = _night_locating.locate(self.ground, self.judged(), self.candidate, self.ends, self.say)
        rate = str(_night_confirming.measured_rate(self.ground))
        return replace(found, notes=(*found.notes, *self.notes, rate))

    def finish(self) -> None:
        """Have the next night start anew, unless the newest commit is not measured whole."""
        # What is still to be measured may hold more suspects.
        done = self.night.done if self.whole else tuple(one for one in self.night.done if one != "confirmed")
        self.night = replace(self.night, finished=self.whole, done=done)
        keep(self.ground.folder, self.night)


def _accepted_commit(ground: Ground) -> str:
    """The commit of the newest baseline of this machine and profile: what another torch build is compared on.

    Raises:
        PcbenchError: There is none.
    """
    accepted = read_baseline(ground.results / FILE).places
    ours = {f"{one.environment} on {one.machine}" for one in ground.entries()}
    found = [told for place, told in accepted.items() if place in ours]
    if not found:
        raise PcbenchError(
            "there is no baseline to compare another torch with",
            hint="measure with the present one first: pcbench nightly, then pcbench accept --reason TEXT",
        )
    return max(found, key=lambda one: one.date).commit


def _alerted(ground: Ground, findings: Sequence[Finding]) -> set[str]:
    """The cases that history alerts on, of those that are times."""
    wanted: set[Case] = {one.case for one in findings if one.unit == "seconds"}
    places = {one.place for one in findings}
    if len(ground.entries()) < ground.policy.run_nights + ground.policy.run_least:
        return set()
    runs = [run for run in read_results(ground.results).runs if run.machine.name == ground.machine]
    return {
        str(series.case)
        for series in all_series(runs)
        if series.case in wanted
        and series.place in places
        and series.newest is not None
        and alerts([min(m.samples) if m.samples else m.value for _, m in series.points], ground.policy)
    }
