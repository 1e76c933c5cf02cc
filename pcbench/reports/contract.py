"""Which promises of torch's documents hold, run by run; in the table the claims whose outcome changed, and how."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from pcbench.analysis.contract_changes import Change, changes, with_claims
from pcbench.analysis.neighbours import torch_of
from pcbench.analysis.quantities import counted
from pcbench.analysis.records import Run
from pcbench.analysis.series import Place, by_place
from pcbench.analysis.shown import Shown
from pcbench.claims import ClaimOutcome
from pcbench.reports import Report, Table
from pcbench.reports._captions import all_ran_on
from pcbench.reports._drawing import INK, caption, figure, plain_axes, title

_LOOKS = {
    ClaimOutcome.HOLDS: ("#009E73", ""),
    ClaimOutcome.DIFFERS: ("#D55E00", "///"),
    ClaimOutcome.UNAVAILABLE: ("#cccccc", ""),
    ClaimOutcome.CRASHED: ("#222222", "xxx"),
}
_MOST_RUNS = 12
_MOST_PLACES = 6
_BAR_INCHES = 0.3


def _draw(shown: Shown) -> Figure | None:
    checked = with_claims(shown.runs)
    if not checked:
        return None
    places = sorted(by_place(checked).items(), key=lambda item: item[1][-1].date, reverse=True)
    panels = {place: ordered[-_MOST_RUNS:] for place, ordered in places[:_MOST_PLACES]}
    documents = sorted({result.document for run in checked for result in run.claims.values()})
    heights = [0.3, *(_BAR_INCHES * len(newest) + 0.1 for newest in panels.values())]
    fig = figure(10, sum(heights) + 0.7 * len(panels) + 1.3)
    grid = fig.add_gridspec(len(heights), len(documents), height_ratios=heights)
    key = fig.add_subplot(grid[0, :])
    key.axis("off")
    handles = [Patch(facecolor=look[0], hatch=look[1], edgecolor="white", label=str(o)) for o, look in _LOOKS.items()]
    key.legend(handles=handles, loc="center left", ncols=len(handles), fontsize=9.5, frameon=False, borderpad=0)
    for row, (place, newest) in enumerate(panels.items(), start=1):
        for column, document in enumerate(documents):
            axes = fig.add_subplot(grid[row, column])
            _draw_panel(axes, newest, document, labelled=column == 0)
            # The place is as wide as two columns: it stands over the first alone.
            below = "" if len(panels) == 1 else f"\n{place if column == 0 else ''}"
            axes.set_title(document + below, loc="left", fontsize=9.5, color=INK)
    title(fig, _finding(checked))
    hidden = f"{len(panels)} of {len(places)} environments are drawn, the newest. " * (len(panels) < len(places))
    caption(
        fig,
        "Claims by outcome; newest runs, oldest on top. A claim is a sentence of a document with a program that can "
        f"find it broken; n = 1 process each. {hidden}{all_ran_on([run for runs in panels.values() for run in runs])}",
    )
    return fig


def _draw_panel(axes: Axes, shown: Sequence[Run], document: str, *, labelled: bool) -> None:
    most = 1
    for place, run in enumerate(shown):
        outcomes = [result.outcome for result in run.claims.values() if result.document == document]
        left = 0
        for outcome, (colour, hatch) in _LOOKS.items():
            count = outcomes.count(outcome)
            axes.barh(place, count, left=left, color=colour, hatch=hatch, edgecolor="white", height=0.75)
            left += count
        axes.text(left, place, f" {outcomes.count(ClaimOutcome.HOLDS)} hold", va="center", fontsize=8.5, color=INK)
        most = max(most, left)
    axes.set_xlim(0, most * 1.3)
    axes.set_ylim(len(shown) - 0.45, -0.55)
    names = [f"{run.commit[:8]}, torch {torch_of(run).split('+')[0]}" for run in shown] if labelled else []
    axes.set_yticks(range(len(shown)) if labelled else [], names)
    plain_axes(axes, grid="x")
    axes.tick_params(axis="y", length=0)


def _finding(checked: Sequence[Run]) -> str:
    newest = checked[-1]
    found = [change for change in changes(checked) if change.after is newest]
    lost = sum(change.lost for change in found)
    holding = [result.outcome for result in newest.claims.values()].count(ClaimOutcome.HOLDS)
    held = f"{holding} of {counted(len(newest.claims), 'claim')} hold in the newest run"
    if not found:
        return held
    return f"{held}; {counted(len(found), 'claim')} changed, of which {lost} held before"


def _table(shown: Shown) -> Table | None:
    checked = with_claims(shown.runs)
    if not checked:
        return None
    header = ("claim", "old outcome", "new outcome", "evidence", "from", "to", "what it says", "environment")
    return Table(header, tuple(_row(change) for change in changes(checked)))


def _row(change: Change) -> tuple[str, ...]:
    old, new = change.old, change.new
    ran = (f"{run.commit[:8]}, torch {torch_of(run)}" for run in (change.before, change.after))
    where = Place(change.after.machine.name, change.after.environment)
    return (new.id, str(old.outcome), str(new.outcome), new.evidence, *ran, new.claim, str(where))


REPORT = Report("Promises of torch's documents, and which changed", _draw, _table)
