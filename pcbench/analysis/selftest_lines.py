"""What a selftest of the rules for long series measured: as text, as Markdown, as JSON."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict

from pcbench.analysis.columns import aligned, piped
from pcbench.analysis.selftest_history import Caught, Excess, RuleResult, Share
from pcbench.analysis.selftest_series import SCENARIOS

_READ = (
    "Per 1,000 nights and series: new false alarms. Per size of step: share caught within 5 nights / within 30 "
    "(median nights to the alarm). Each with its standard error."
)


def as_text(results: Sequence[RuleResult], excesses: Sequence[Excess]) -> str:
    """A table per scenario."""
    lines = [_READ]
    for scenario, of_it in _by_scenario(results):
        header, rows = _table(of_it)
        lines += ["", _heading(scenario, of_it), *aligned([header, *rows])]
    return "\n".join([*lines, "", *_excess_lines(excesses)])


def as_markdown(results: Sequence[RuleResult], excesses: Sequence[Excess]) -> str:
    """The same for a document."""
    lines = [_READ]
    for scenario, of_it in _by_scenario(results):
        header, rows = _table(of_it)
        lines += ["", f"{_heading(scenario, of_it)}:", "", *piped([header, *rows])]
    return "\n".join([*lines, "", *_excess_lines(excesses)])


def as_json(results: Sequence[RuleResult], excesses: Sequence[Excess], seed: int) -> str:
    """One object, with all that was measured."""
    told = {"seed": seed, "rules": [asdict(one) for one in results], "excesses": [asdict(one) for one in excesses]}
    return json.dumps(told, indent=2)


def _by_scenario(results: Sequence[RuleResult]) -> Iterable[tuple[str, list[RuleResult]]]:
    for scenario in dict.fromkeys(one.scenario for one in results):
        yield scenario, [one for one in results if one.scenario == scenario]


def _heading(scenario: str, results: Sequence[RuleResult]) -> str:
    first = results[0]
    series = ", ".join(f"{caught.series:,}" for caught in first.caught)
    return f"{scenario}: {SCENARIOS[scenario]} ({first.nights:,} nights without a step; series per size: {series})"


def _table(results: Sequence[RuleResult]) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    header = ("rule", "false alarms", *(f"step of {caught.size:.0%}" for caught in results[0].caught))
    rows = [
        (one.rule, _with_error(one.false_alarms), *(_caught_cell(caught) for caught in one.caught)) for one in results
    ]
    return header, rows


def _caught_cell(caught: Caught) -> str:
    delay = "-" if caught.delay is None else f"{caught.delay:g}"
    return f"{_with_error(caught.soon)} / {_with_error(caught.late)} ({delay})"


def _with_error(share: Share) -> str:
    return f"{share.value:.2f} ±{share.error:.2f}"


def _excess_lines(excesses: Sequence[Excess]) -> list[str]:
    lines = []
    for scenario in dict.fromkeys(one.scenario for one in excesses):
        told = ", ".join(
            f"{one.ratio:g} times: {_with_error(one.nights)}" for one in excesses if one.scenario == scenario
        )
        lines.append(f"{scenario}: nights per 1,000 at or above a multiple of the median of all nights before: {told}")
    return lines
