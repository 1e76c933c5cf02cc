"""Triton kernels at the newest run: the roofline of a card, predicted and measured apart; what the compiler made."""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence

from matplotlib.figure import Figure

from pcbench.analysis.cards import in_order
from pcbench.analysis.codegen_changes import Weight
from pcbench.analysis.kernel_launches import Kernels, Launch, by_kernel, kernels
from pcbench.analysis.quantities import counted, listed
from pcbench.analysis.roofline import Measured, Prediction, Unknown, roofs
from pcbench.analysis.shown import Shown
from pcbench.reports import Report, Table
from pcbench.reports._captions import all_ran_on, counts_of
from pcbench.reports._compiled_grid import HEAD_ROWS, ROW_INCHES, draw_grid
from pcbench.reports._drawing import INK, caption, figure, title
from pcbench.reports._kernel_cells import HEADER, cells
from pcbench.reports._roofline import PANEL_INCHES, Drawn, can_be_drawn, draw_key, draw_roofline

_KEY_INCHES = 0.95
_NAMED = 3
_USUAL = "sm_90"
"""The target whose roofline is drawn where several have as many predictions."""
_OF_THE_COPY = "The copy reads as much as it writes: a kernel that mostly reads may exceed its rate. "
_DOUBTS: Mapping[str, Callable[[Measured], bool]] = {
    "At a clock that was held down for some samples": lambda one: (
        isinstance(one.throttled, float) and one.throttled > 0
    ),
    "With the CPU's time in some samples": lambda one: one.unqueued > 0,
    "On inputs that may be cached": lambda one: not one.rotated,
}
"""What a measurement may be doubted for, in words, and whether it is."""
_FLOOR = (
    "Predicted: bytes / the peak of memory or operations / that of the dtype, whichever takes longer, as each kernel's "
    "own model counts them: a bound, not a forecast. "
)


def _draw(shown: Shown) -> Figure | None:
    found = kernels(shown)
    if not found:
        return None
    timed = next((one for one in found if _gpu(one)), found[0])
    drawn = _roofline(timed)
    built = next((one for one in (timed, *found) if _targets(one)), None)
    rows = by_kernel(launch for launch in built.launches if launch.compiled) if built is not None else {}
    heights = [_KEY_INCHES + PANEL_INCHES] * bool(drawn) + [ROW_INCHES * (len(rows) + HEAD_ROWS)] * bool(rows)
    if not heights:
        return None
    fig = figure(10, sum(heights) + 1.75)
    parts = list(fig.subfigures(len(heights), 1, height_ratios=heights, squeeze=False)[:, 0])
    if drawn is not None:
        key, panel = parts.pop(0).subplots(2, 1, gridspec_kw={"height_ratios": [_KEY_INCHES, PANEL_INCHES]})
        draw_key(key, drawn)
        draw_roofline(panel, drawn)
        panel.set_title(textwrap.fill(_heading(timed, drawn), 118), loc="left", fontsize=9.5, color=INK)
    if built is not None and rows:
        draw_grid(parts.pop(0).subplots(), rows, _targets(built))
    title(fig, _finding(timed, built), columns=92)
    caption(fig, _caption(found, timed, drawn, built), columns=150)
    return fig


def _gpu(one: Kernels) -> str:
    """The card that was measured; empty where none was."""
    return next((measured.gpu for _, measured in _timed(one.launches)), "")


def _timed(launches: Iterable[Launch]) -> list[tuple[Launch, Measured]]:
    """Those of them that were measured."""
    return [(launch, launch.measured) for launch in launches if isinstance(launch.measured, Measured)]


def _targets(one: Kernels) -> list[str]:
    return in_order(launch.target for launch in one.launches if launch.compiled)


def _roofline(one: Kernels) -> Drawn | None:
    """One launch of each kernel on the card that was measured, else on that of the target with most predictions."""
    gpu, able = _gpu(one), [launch for launch in one.launches if can_be_drawn(launch)]
    measured = [launch for launch, _ in _timed(able)]
    targets = [launch.target for launch in (measured or able)]
    if not targets:
        return None
    target = max(dict.fromkeys(targets), key=lambda one: (targets.count(one), one == _USUAL))
    here = by_kernel(launch for launch in able if launch.target == target)
    chosen = tuple(next((launch for launch, _ in _timed(launches)), launches[0]) for launches in here.values())
    own = [times for times in one.timed if times.gpu == gpu]
    return Drawn(chosen[0].card, roofs(own) if own else None, chosen)


def _heading(one: Kernels, drawn: Drawn) -> str:
    reasons = [launch.measured.reason for launch in one.launches if isinstance(launch.measured, Unknown)]
    why = max(dict.fromkeys(reasons), key=reasons.count, default="")
    if drawn.roofs is None:
        target = drawn.launches[0].target
        return f"Roofline of the {drawn.card.name if drawn.card else target} ({target}). Nothing measured: {why}"
    on = [launch for launch in one.launches if launch.target == drawn.launches[0].target]
    missing = len(on) - len(_timed(on))
    unmeasured = f"; {missing} of {counted(len(on), 'launch', 'launches')} not measured" if missing else ""
    return f"Roofline of the {_gpu(one)}{unmeasured}"


def _finding(timed: Kernels, built: Kernels | None) -> str:
    return "; ".join([_reached(timed), *([] if built is None else _changed(built))])


def _reached(one: Kernels) -> str:
    found = _timed(one.launches)
    shares = [(of, launch.kernel) for launch, measured in found if isinstance(of := measured.of_roof, float)]
    count = counted(len(by_kernel(one.launches)), "kernel")
    if not found:
        return f"{count} compiled for {listed(_targets(one) or ['no target'])}, nothing measured on a GPU"
    if not shares:
        return f"{_gpu(one)}: {count}, no rate of a copy or a matmul to compare with"
    (low, slowest), (high, fastest) = min(shares), max(shares)
    said = f"{low:.0%} ({slowest})" if len(shares) == 1 else f"{low:.0%} ({slowest}) to {high:.0%} ({fastest})"
    beside = sorted({measured.beside for _, measured in found if isinstance(measured.of_roof, float)})
    rate = " or ".join(f"{which}'s" for which in beside)
    return (
        f"{_gpu(one)}: {counted(len(by_kernel(launch for launch, _ in found)), 'kernel')} at {said} of the {rate} rate"
    )


def _changed(one: Kernels) -> list[str]:
    """What the newest run changed of the code; nothing where no run before compiled it."""
    before = list(dict.fromkeys(launch.since.commit for launch in one.launches if launch.since.commit))
    worse = _with(one.launches, Weight.HARD)
    if not before:
        return []
    since = f"since {before[0][:8]}" if len(before) == 1 else "since the run before"
    if worse:
        named = ", ".join(worse[:_NAMED]) + (" and more" if len(worse) > _NAMED else "")
        return [f"{counted(len(worse), 'kernel')} compiled to worse code {since} ({named})"]
    softly = _with(one.launches, Weight.SOFT)
    return [f"{counted(len(softly), 'kernel')} to look at {since}" if softly else f"no code got worse {since}"]


def _with(launches: Sequence[Launch], weight: Weight) -> list[str]:
    """The kernels of which a rule of a weight fired."""
    return list(
        dict.fromkeys(one.kernel for one in launches if any(change.weight is weight for change in one.since.noted))
    )


def _caption(found: Sequence[Kernels], timed: Kernels, drawn: Drawn | None, built: Kernels | None) -> str:
    said = []
    if drawn is not None:
        measured = _timed(drawn.launches)
        counts = sorted({one.seconds.n for _, one in measured})
        said.append(_FLOOR if any(isinstance(one.predicted, Prediction) for one in drawn.launches) else "")
        said.append(
            f"Measured: median of {counts_of(counts, 'sample', 'samples')}, one process each. " if counts else ""
        )
        said.append(f"Peaks: {drawn.card.source}. " if drawn.card else "")
        of_the_copy = any(one.beside == "copy" and isinstance(one.of_roof, float) for _, one in measured)
        said.append(_OF_THE_COPY if of_the_copy else "")
        for words, doubted in _DOUBTS.items():
            named = ", ".join(launch.kernel for launch, one in measured if doubted(one))
            said.append(f"{words}: {named}. " if named else "")
    if built is not None:
        said.append(
            "Below, regs and occ.: registers and occupancy of the function that fills a multiprocessor least, the "
            "darker the less; spills: stores and loads, of all its functions; exact, n = 1 compile. "
        )
    total = len({launch.name for one in found for launch in one.launches})
    shown = len(by_kernel(launch for one in found for launch in one.launches))
    said.append(f"Drawn: the first launch that is tracked of each kernel; {shown} of {total}, the table has all. ")
    runs = list({id(one.run): one.run for one in (timed, *([built] if built else []))}.values())
    places = f"{len(runs)} of {len(found)} environments are drawn. " * (len(runs) < len(found))
    commits = ", ".join(dict.fromkeys(run.commit[:8] for run in runs))
    by = list(dict.fromkeys(row.assembler for one in found for launch in one.launches for row in launch.compiled))
    compiler = f" Assembled by {', '.join(name for name in by if name)}." if any(by) else ""
    ran = all_ran_on(sorted(runs, key=lambda run: run.date))
    return "".join([*said, places, f"Commit {commits} on {ran}", compiler])


def _said(shown: Shown) -> list[str]:
    found = kernels(shown)
    sources = {one.card.name: one.card.source for each in found for one in each.launches if one.card is not None}
    said = [f"Documented peaks of the {card}: {source}." for card, source in sources.items()]
    for one in found:
        of = counted(len(one.timed), "timed launch", "timed launches")
        for words, doubted in _DOUBTS.items():
            many = sum(doubted(measured) for _, measured in _timed(one.launches))
            said += [f"{one.place}: {words[0].lower()}{words[1:]}: {many} of {of}; see the table."] if many else []
        lacking = Counter(f"{what}: {why}" for times in one.timed for what, why in times.unavailable.items())
        for what, many in lacking.items():
            said.append(f"{one.place}: not had of {counted(many, 'timed launch', 'timed launches')}: {what}.")
        if one.gone:
            count = counted(len({change.key for change in one.gone}), "compilation")
            said.append(f"{one.place}: {count} of a run before without a counterpart: {one.gone[0].sentence}.")
    return said


def _table(shown: Shown) -> Table | None:
    rows = tuple((*cells(launch), str(one.place)) for one in kernels(shown) for launch in one.launches)
    return Table((*HEADER, "environment"), rows) if rows else None


REPORT = Report("Triton kernels: what bounds them, what they take, what the compiler made", _draw, _table, _said)
