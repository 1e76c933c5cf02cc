"""Guards of one target on several torch builds, side by side: the first is what the others are compared with."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from pcbench.analysis.census_changes import changes, sentences
from pcbench.analysis.columns import aligned, grouped
from pcbench.analysis.guard_cause_lines import UNKNOWN, ratio_words, ratios, remedies_by_name
from pcbench.analysis.guard_lines import headline, unavailable, unstable_lines
from pcbench.analysis.guard_report import GuardReport, measures, of_processes
from pcbench.analysis.quantities import digits, with_spread
from pcbench.analysis.spread import Spread, spread
from pcbench.guard_samples import CHECK
from pcbench.slopes import slope

Values = Callable[[GuardReport], Sequence[float]]
"""A quantity of a report, one per process."""


def guard_build_lines(reports: Sequence[GuardReport]) -> list[str]:
    """Census, in words and in numbers, and time and instructions with their ratios."""
    blocks = [[f"{report.build}: {headline(report)}" for report in reports], *_census_blocks(reports)]
    costs = [cost for report in reports for cost in report.costs]
    if costs:
        rows = {measure: _measure(measure) for measure in measures(costs)}
        blocks.append([_titled("time per call", reports), *table(reports, rows, "seconds")])
        blocks.append([f"unavailable: {line}" for line in grouped(_unavailable(reports))])
    if any(report.sweeps for report in reports):
        rows = {"per guard": _per_guard, "at size 0": _intercept}
        blocks.append([_titled("seconds of a check", reports), *table(reports, rows, "seconds")])
    blocks += _instruction_blocks(reports)
    if any(report.remedies for report in reports):
        blocks.append(_remedy_lines(reports))
    return "\n\n".join("\n".join(block) for block in blocks if block).splitlines()


def table(reports: Sequence[GuardReport], rows: Mapping[str, Values], unit: str) -> list[str]:
    """A line per quantity: each build's median and spread, and each build's ratio to the first's."""
    first, *others = reports
    header = ("", *(report.build for report in reports), *(f"{other.build} / {first.build}" for other in others))
    lines = []
    for name, values in rows.items():
        cells = [_cell(spread(values(report)), unit) for report in reports]
        lines.append((name, *cells, *(ratio_words(ratio(values(first), values(other))) for other in others)))
    return aligned([header, *lines])


def ratio(baseline: Sequence[float], candidate: Sequence[float]) -> Spread | None:
    """Candidate / baseline over processes taken in turn: the n-th of one by the n-th of the other."""
    return spread([after / before for before, after in zip(baseline, candidate, strict=False) if before > 0])


def _titled(what: str, reports: Sequence[GuardReport]) -> str:
    n = min(max(len(report.costs), len(report.sweeps), 1) for report in reports)
    return f"{what}: median and range of {n} processes taken in turn, and of their ratios" if n > 1 else what


def _instruction_blocks(reports: Sequence[GuardReport]) -> list[list[str]]:
    """A table for each way of counting: those of one say nothing beside those of another."""
    blocks = []
    for way in dict.fromkeys(report.counted_by for report in reports if report.instructions):
        alike = [report for report in reports if report.instructions and report.counted_by == way]
        sizes = sorted({size for report in alike for size in report.instructions})
        first, *others = alike
        header = ("", *(report.build for report in alike), *(f"{other.build} / {first.build}" for other in others))
        rows = [header]
        for size in sizes:
            least = [min(report.instructions.get(size, ()), default=None) for report in alike]
            cells = [UNKNOWN if count is None else f"{count:,.0f}" for count in least]
            shares = [f"{count / least[0]:.4f}" if count and least[0] else UNKNOWN for count in least[1:]]
            rows.append((f"size {size}" if len(sizes) > 1 else "check", *cells, *shares))
        title = f"instructions per check, by {way}: the least of three compilations"
        blocks.append([title, *aligned(rows)])
    return blocks


def _census_blocks(reports: Sequence[GuardReport]) -> list[list[str]]:
    """What changed from the first build to each other one."""
    first, *others = reports
    blocks = []
    for other in others:
        if first.counted is None or other.counted is None:
            continue
        before, after = first.counted.census, other.counted.census
        rows = [(c.entry, _count(c.old), _count(c.new), _delta(c.delta)) for c in changes(before, after)]
        said = sentences(before, after, first.build, other.build)
        way = f"from {first.build} to {other.build}:"
        if len(said) > 1:
            blocks.append([way, *(f"  {sentence}" for sentence in said)])
        else:
            blocks.append([f"{way} {said[0] if said else 'the same census'}"])
        if rows:
            blocks.append(aligned([("census", first.build, other.build, "change"), *rows]))
    unstable = [f"{r.build}: {line}" for r in reports if r.counted is not None for line in unstable_lines(r.counted)]
    return [*blocks, unstable]


def _remedy_lines(reports: Sequence[GuardReport]) -> list[str]:
    """By filter and flag: guards, and the time of a check by the default's, on each build."""
    by_name = {report.build: remedies_by_name(report.remedies) for report in reports if report.remedies}
    names = dict.fromkeys(name for found in by_name.values() for name in found)
    defaults = [_default_guards(report) for report in reports]
    builds = [report.build for report in reports]
    rows = [("", *(f"{build}: guards" for build in builds), *(f"{build}: check x default" for build in builds))]
    rows.append(("default", *defaults, *("1" if found != UNKNOWN else UNKNOWN for found in defaults)))
    for name in names:
        told = [by_name.get(report.build, {}).get(name, []) for report in reports]
        guards = [digits(one[0].census.counts.get("guards", 0)) if one and one[0].census else UNKNOWN for one in told]
        rows.append((name, *guards, *(ratio_words(spread(ratios(one, CHECK))) for one in told)))
    return [*aligned(rows), "a setting that changes none of a build's guards, or that it does not have, is -"]


def _default_guards(report: GuardReport) -> str:
    return digits(report.remedies[0].default.counts.get("guards", 0)) if report.remedies else UNKNOWN


def _unavailable(reports: Sequence[GuardReport]) -> list[tuple[str, str]]:
    return [(f"{name} on {report.build}", why) for report in reports for name, why in unavailable(report.costs)]


def _measure(measure: str) -> Values:
    return lambda report: of_processes(report.costs, measure)


def _per_guard(report: GuardReport) -> Sequence[float]:
    return [slope(sweep).per_guard_s for sweep in report.sweeps]


def _intercept(report: GuardReport) -> Sequence[float]:
    return [slope(sweep).intercept_s for sweep in report.sweeps]


def _cell(found: Spread | None, unit: str) -> str:
    return UNKNOWN if found is None else with_spread(found, unit)


def _count(count: int | None) -> str:
    return "unknown" if count is None else digits(count)


def _delta(delta: int | None) -> str:
    return UNKNOWN if delta is None else f"{delta:+,}"
