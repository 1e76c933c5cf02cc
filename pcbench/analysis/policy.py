"""Every threshold that a verdict stands on, with its reason. Verdicts print the one that they used."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any

from pcbench.analysis.records import Case
from pcbench.analysis.selection import names
from pcbench.errors import UsageError

LEAST_PAIRS = 6
"""Fewer pairs have no interval with 95 % coverage: the widest, from the least to the largest, covers less."""


@dataclass(frozen=True)
class Policy:
    """The numbers of the judge. Ratios are candidate / baseline, less 1; times are seconds.

    Attributes:
        delta: A timing has changed where it differs by more than this: below it lie layout and hash seeds, which no
            repetition averages out; 10 of 100 pairs of unchanged checks lay above it (docs/judge.md).
        fine_delta: The same for a case whose pairs of the same code stay within it often enough.
        fine_share: How often they may leave it, to either side, for ``fine_delta`` to hold.
        fine_pairs: How many pairs of the same code must be on record before that is believed.
        record_files: Pairs of the same code are taken from so many files, those written last.
        floor_s: No difference below this is a change: a few cycles.
        pairs: Pairs of processes in a look; twice as many where the first leave it open. SAME may end a look before.
        same_pairs: Not before so many: the interval of fewer is too wide to be worth stopping for.
        quorum: The share of pairs that must lie beyond ``delta`` on one side.
        slow_s: From here on a case is slow: a pair takes seconds, so that it has the next three instead.
        slow_delta, slow_pairs, slow_quorum: Likewise, for what starts processes and reads files: its pairs lie further
            apart.
        stored_delta: Stored timings, which were taken at different times, are suspects beyond this, and no more.
        stored_ratio: Beyond this, with every sample on one side, they are believed: no night of unchanged code was so
            far from its past in 47,400 (docs/judge.md).
        stored_samples: If there are so many samples on either side.
        stored_load: And if neither run began at such a load a CPU, when other work was running; or from sure_ratio on.
        host_share: If more than this share of timings moved the same way, it was the machine.
        host_cases: Fewer cases than this cannot tell.
        instructions: Counted instructions have changed beyond this.
        byte_share, byte_least: Bytes have changed beyond this share, and beyond so many bytes.
        memory_share: Peak memory has changed beyond this share: what the allocator keeps differs from run to run.
        number_share: A number that is neither a time, nor bytes, nor whole, is a suspect beyond this.
        range_factor: And beyond so many times the range of the samples, where there are several.
        sure_ratio: From here on pairs are not asked to confirm stored times: blocks laid out for one would not end.
        night_suite, night_canary: Shares of a night's budget for the suite and for pairs of the same code; the rest
            confirms suspects and names commits.
        night_few: What fewer repetitions are taken to cost, of all, until a night has measured it.
        night_idle: A timing is left out of so many nights in a row at most, whatever the budget.
        canary_cases: How many cases a night measures in pairs of the same code; they change from night to night.
        run_nights: A slow-down is alerted on when this many nights lie above ``run_quantile`` of the nights before, of
            which at most ``run_history`` and at least ``run_least`` are looked at.
        run_shift, run_sigmas: And when their median is above the median before by this share, and by so many robust
            standard deviations of a night.
        report_nights: Reports look for steps among so many of the newest nights of a stretch, as the search takes time
            that grows with their square; ``pcbench history`` looks at all.
        step_penalty: What a further step must explain, in units of the kernel's cost, to be listed.
        step_correlated: The same where neighbouring nights are correlated by more than ``step_correlation``.
        step_far: For that correlation a night counts as so many robust standard deviations from its level at most: two
            outliers side by side are no drift.
        step_nights: Nights that a step must have on either side; an outlier has one.
        step_shift, step_sigmas: A step is larger than this share, and than so many robust standard deviations.
        alert_penalty: As ``step_penalty``, for steps that are alerted on: quieter, and slower.
        alert_history: They are looked for in so many of the newest nights, as many as the rule was measured with.
        alert_nights: A step is alerted on for so many nights; two within so many nights are one.
        eager_moved, eager_share: A report says that the machine changed where eager moved by more than this, and by so
            much of what the case itself moved (of logarithms): what both share is not the strategy's.
        codegen_global: A Triton kernel that accesses global memory by more than this share more often reads in narrower
            steps, or twice: lost alignment makes it fourfold. This one fails; the next six are to be looked at.
        codegen_registers: Registers move by a few with every release of the assembler; blocks fewer fail by themselves.
        codegen_shared: Shared memory, which padding alone does not grow by this share.
        codegen_sass: Instructions, which say nothing of time by themselves: less is never called better.
        codegen_barriers: Waits, of which a kernel has few, so that this is one or two more.
        codegen_layouts: So many more conversions between layouts: each goes through shared memory.
        codegen_ptx: Instructions before the assembler, which removes some of what is added there.
        codegen_compile: CPU seconds of a compile, each compiled once: they differ by a tenth between processes.
        codegen_compile_s: And by at least so many seconds, as those of a small kernel differ by more.
        ignore: The case is measured and shown, and never judged.
    """

    delta: float = 0.015
    fine_delta: float = 0.01
    fine_share: float = 0.25
    fine_pairs: int = 40
    record_files: int = 60
    floor_s: float = 5e-9
    pairs: int = 20
    same_pairs: int = 8
    quorum: float = 0.75
    slow_s: float = 0.05
    slow_delta: float = 0.05
    slow_pairs: int = 10
    slow_quorum: float = 0.7
    stored_delta: float = 0.05
    stored_ratio: float = 2.0
    stored_samples: int = 3
    stored_load: float = 1.0
    host_share: float = 0.3
    host_cases: int = 5
    instructions: float = 0.002
    byte_share: float = 0.002
    byte_least: int = 64
    memory_share: float = 0.02
    number_share: float = 0.05
    range_factor: float = 4.0
    sure_ratio: float = 10.0
    night_suite: float = 0.6
    night_canary: float = 0.1
    night_few: float = 0.5
    night_idle: int = 6
    canary_cases: int = 2
    run_nights: int = 5
    run_quantile: float = 0.85
    run_history: int = 45
    run_least: int = 20
    run_shift: float = 0.01
    run_sigmas: float = 1.5
    report_nights: int = 250
    step_penalty: float = 4.0
    step_correlated: float = 6.0
    step_correlation: float = 0.3
    step_far: float = 3.0
    step_nights: int = 4
    step_shift: float = 0.005
    step_sigmas: float = 0.5
    alert_penalty: float = 8.0
    alert_history: int = 100
    alert_nights: int = 5
    eager_moved: float = 0.05
    eager_share: float = 0.75
    codegen_global: float = 0.25
    codegen_registers: float = 0.10
    codegen_shared: float = 0.05
    codegen_sass: float = 0.10
    codegen_barriers: float = 0.25
    codegen_layouts: int = 1
    codegen_ptx: float = 0.15
    codegen_compile: float = 0.25
    codegen_compile_s: float = 0.1
    ignore: bool = False
    overrides: tuple[tuple[str, Mapping[str, Any]], ...] = field(default=())

    def of(self, case: Case | str) -> Policy:
        """The policy of one case: later patterns win."""
        found = self
        for pattern, values in self.overrides:
            if names(pattern, case):
                found = replace(found, **values)
        return found


def read_policy(table: Mapping[str, Any]) -> Policy:
    """A policy from ``[tool.pcbench.policy]``: its own numbers, and ``case``, a list of tables with a ``match``.

    Raises:
        UsageError: It has a name or a kind of value that a policy has not.
    """
    given = dict(table)
    cases = given.pop("case", [])
    if not isinstance(cases, list) or not all(isinstance(entry, dict) for entry in cases):
        raise UsageError("tool.pcbench.policy.case is no list of tables", hint="write [[tool.pcbench.policy.case]]")
    overrides = []
    for entry in cases:
        values = dict(entry)
        pattern = values.pop("match", None)
        if not isinstance(pattern, str):
            raise UsageError("a [[tool.pcbench.policy.case]] has no match", hint='match = "bench_load.*", say')
        overrides.append((pattern, _checked(values, f"the case {pattern!r}")))
    return Policy(**_checked(given, "tool.pcbench.policy"), overrides=tuple(overrides))


def _checked(values: Mapping[str, Any], where: str) -> dict[str, Any]:
    known: dict[str, type] = {each.name: type(each.default) for each in fields(Policy) if each.name != "overrides"}
    for name, value in values.items():
        if name not in known:
            raise UsageError(f"{where} has {name!r}, which no policy has", hint=f"there are: {', '.join(known)}")
        kinds: Any = (int, float) if known[name] is float else (known[name],)
        if not isinstance(value, kinds) or isinstance(value, bool) != (known[name] is bool):
            raise UsageError(f"{where}: {name} is {value!r}, not {known[name].__name__}")
        if known[name] is not bool and not 0 < value < math.inf:
            raise UsageError(f"{where}: {name} is {value!r}; it must be above 0")
        if name in ("pairs", "slow_pairs", "same_pairs") and value < LEAST_PAIRS:
            raise UsageError(f"{where}: {name} is {value!r}; fewer than {LEAST_PAIRS} have no interval with 95 %")
        if name in ("quorum", "slow_quorum") and not 0.5 < value <= 1:
            raise UsageError(f"{where}: {name} is {value!r}; a quorum is a share above 0.5, up to 1")
        if name.endswith(("delta", "share")) and value >= 1:
            raise UsageError(f"{where}: {name} is {value!r}; it is a share below 1", hint="0.03 is 3 %")
        if name == "run_quantile" and value >= 1:
            raise UsageError(f"{where}: {name} is {value!r}; a quantile is below 1")
    return dict(values)
