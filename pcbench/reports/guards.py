"""What a guard costs by family, and how many guards models have over commits; the table says what changed, in words."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from pcbench.analysis.census_changes import changes, sentences
from pcbench.analysis.guard_slopes import slopes_of
from pcbench.analysis.neighbours import over_builds, over_commits, torch_of
from pcbench.analysis.quantities import counted, digits
from pcbench.analysis.records import Run
from pcbench.analysis.series import Place, by_place
from pcbench.analysis.shown import Shown
from pcbench.guard_samples import Census
from pcbench.reports import Report, Table
from pcbench.reports._captions import all_ran_on
from pcbench.reports._drawing import FAINT, INK, caption, figure, plain_axes, title
from pcbench.reports._guard_slopes import ROW_INCHES, draw_panels, slope_caption, slope_finding

_MOST_RUNS = 16
_MOST_PLACES = 3
_NAMED = 3
_STEPS = {
    "more": ("^", "more guards"),
    "fewer": ("v", "fewer guards"),
    "other": ("D", "as many, but another entry changed"),
}


@dataclass(frozen=True)
class _Step:
    """A model's guards in a run, beside those of the run before it: ``how`` names one of the steps, or is None."""

    at: int
    guards: int
    how: str | None
    delta: int


def _draw(shown: Shown) -> Figure | None:
    runs = shown.runs
    counting = [run for run in runs if run.censuses]
    timed = next(((run, found) for run in reversed(runs) if (found := slopes_of(run))), None)
    if not counting and timed is None:
        return None
    newest = sorted(by_place(counting).items(), key=lambda item: item[1][-1].date, reverse=True)
    strips = {place: _steps(ordered[-_MOST_RUNS:]) for place, ordered in newest[:_MOST_PLACES]}
    rows = [] if timed is None else [len(timed[1]) + 1.5]
    rows += [1.0] * bool(strips)
    rows += [len(steps) + 1.5 for steps in strips.values()]
    fig = figure(10, ROW_INCHES * sum(rows) + 0.55 * len(rows) + 1.6)
    grid = fig.add_gridspec(len(rows), 2, height_ratios=rows, width_ratios=[2.2, 1])
    if timed is not None:
        draw_panels(fig.add_subplot(grid[0, 0]), fig.add_subplot(grid[0, 1]), timed[1])
    if strips:
        _draw_key(fig.add_subplot(grid[len(rows) - len(strips) - 1, :]))
    for row, (place, steps) in enumerate(strips.items(), start=len(rows) - len(strips)):
        axes = fig.add_subplot(grid[row, :])
        _draw_steps(axes, steps, [run.commit[:8] for run in dict(newest)[place][-_MOST_RUNS:]])
        where = f"\n{place}" if len(newest) > 1 else ""
        axes.set_title(f"guards of each model, newest commits{where}", loc="left", fontsize=9.5, color=INK)
    finding = "; ".join([*_census_finding(strips.values()), *([] if timed is None else [slope_finding(timed[1])])])
    title(fig, finding[0].upper() + finding[1:], columns=92)
    drawn = [*([] if timed is None else [timed[0]]), *(run for place in strips for run in dict(newest)[place])]
    hidden = f"{len(strips)} of {len(newest)} environments are drawn, the newest. " * (len(strips) < len(newest))
    said = "" if timed is None else slope_caption(timed[1])
    counts = "Guards: exact, the same in n = 2 processes with different hash seeds. " * bool(strips)
    caption(fig, f"{said}{counts}{hidden}{all_ran_on(sorted(drawn, key=lambda run: run.date))}")
    return fig


def _draw_steps(axes: Axes, steps: dict[str, list[_Step]], commits: Sequence[str]) -> None:
    last = len(commits) - 1
    for row, found in enumerate(steps.values()):
        axes.plot([step.at for step in found], [row] * len(found), "-o", color=FAINT, linewidth=1, markersize=3.5)
        for step in found:
            if step.how is None:
                continue
            axes.plot(step.at, row, _STEPS[step.how][0], color=INK, markersize=8, zorder=3)
            said = f"{step.delta:+,}" if step.delta else ""
            axes.annotate(said, (step.at, row), (0, 6), textcoords="offset points", ha="center", fontsize=8, color=INK)
        axes.annotate(
            counted(found[-1].guards, "guard"),
            (found[-1].at, row),
            (14, 0),
            textcoords="offset points",
            va="center",
            fontsize=8.5,
            color=INK,
        )
    axes.set_ylim(len(steps) - 0.4, -0.8)
    axes.set_xlim(-0.5, last + 0.5 + 0.14 * (last + 1))
    axes.set_yticks(range(len(steps)), list(steps))
    places = list(range(last, -1, -max(1, -(-len(commits) // 5))))
    axes.set_xticks(places, [commits[place] for place in places])
    plain_axes(axes, grid="x")
    axes.tick_params(axis="y", length=0)


def _draw_key(axes: Axes) -> None:
    axes.axis("off")
    handles = [
        Line2D([], [], color=INK, marker=marker, linestyle="none", markersize=7, label=words)
        for marker, words in _STEPS.values()
    ]
    axes.legend(handles=handles, loc="lower left", ncols=3, fontsize=9, frameon=False, borderpad=0)


def _steps(ordered: Sequence[Run]) -> dict[str, list[_Step]]:
    """By model; one without a census in the newest run is listed as far as it goes."""
    found: dict[str, list[_Step]] = {}
    for model in sorted({model for run in ordered for model in run.censuses}):
        before: Census | None = None
        for at, run in enumerate(ordered):
            census = run.censuses.get(model)
            if census is None:
                continue
            guards, how, delta = census.counts.get("guards", 0), None, 0
            if before is not None:
                delta = guards - before.counts.get("guards", 0)
                changed = any(change.delta for change in changes(before, census))
                how = ("more" if delta > 0 else "fewer") if delta else "other" if changed else None
            found.setdefault(model, []).append(_Step(at, guards, how, delta))
            before = census
    return found


def _census_finding(strips: Collection[Mapping[str, Sequence[_Step]]]) -> list[str]:
    """What the newest commits changed; nothing without a census."""
    newest: list[tuple[str, _Step, bool]] = []
    for steps in strips:
        last = max(found[-1].at for found in steps.values())
        newest += [(model, found[-1], len(found) > 1) for model, found in steps.items() if found[-1].at == last]
    if not newest:
        return []
    compared = {model for model, _, before in newest if before}
    if not compared:
        counts = sorted(step.guards for _, step, _ in newest)
        span = digits(counts[0]) if counts[0] == counts[-1] else f"{digits(counts[0])} to {digits(counts[-1])}"
        return [
            f"{counted(len({model for model, *_ in newest}), 'model')} with {span} guards, at one commit: no trend yet"
        ]
    changed = [(model, step.delta) for model, step, _ in newest if step.how]
    if not changed:
        return [f"the newest commit left the guard census of {counted(len(compared), 'model')} as it was"]
    said = list(
        dict.fromkeys(f"{model} {delta:+,}" if delta else f"{model}: other entries" for model, delta in changed)
    )
    named = f"{', '.join(said[:_NAMED])}{' and more' if len(said) > _NAMED else ''}"
    models = counted(len(compared), "model")
    return [f"the newest commit changed the guard census of {len({m for m, _ in changed})} of {models} ({named})"]


def _table(shown: Shown) -> Table | None:
    counting = [run for run in shown.runs if run.censuses]
    if not counting:
        return None
    pairs = sorted((*over_commits(counting), *over_builds(counting)), key=lambda pair: -pair[1].date.timestamp())
    rows = [row for before, after in pairs for row in _rows(before, after)]
    return Table(("model", "what changed", "from", "to", "environment"), tuple(rows))


def _rows(before: Run, after: Run) -> list[tuple[str, ...]]:
    """A row for each sentence, by model."""
    ran = tuple(f"{run.commit[:8]}, torch {torch_of(run)}" for run in (before, after))
    where = str(Place(after.machine.name, after.environment))
    return [
        (model, sentence, *ran, where)
        for model in sorted({*before.censuses} & {*after.censuses})
        for sentence in sentences(before.censuses[model], after.censuses[model])
    ]


REPORT = Report("What guards are and what they cost", _draw, _table)
