"""Where the time of a guard check goes, and what would spare it, as lines of a terminal."""

from __future__ import annotations

import statistics
import textwrap
from collections.abc import Mapping, Sequence

from pcbench.analysis.columns import aligned, grouped
from pcbench.analysis.quantities import digits, seconds, with_spread
from pcbench.analysis.spread import Spread, spread
from pcbench.guard_causes import KindCost, Part, Remedies, Remedy, Subtrees
from pcbench.guard_samples import CHECK, HIT, Census

_SHOWN = 10
_WIDTH = 118
UNKNOWN = "-"


def subtree_lines(processes: Sequence[Subtrees]) -> list[str]:
    """By type of guard, by module, and the ten most expensive subtrees: medians and ranges over processes."""
    least = spread([min(one.check) for one in processes])
    middle = spread([statistics.median(one.check) for one in processes])
    shares = spread([one.explained for one in processes])
    if least is None or middle is None or shares is None:
        return []
    untimed = dict(pair for one in processes for pair in one.untimed.items())
    return [
        f"where a check's time goes: least block {with_spread(least, 'seconds')}, middle block "
        f"{with_spread(middle, 'seconds')}{over(processes)}",
        "",
        *_kind_lines(processes),
        f"with the root and the way there, these add up to {shares.median:.0%} of the least block",
        "",
        *_part_lines("by module, without the modules below", [one.modules for one in processes], middle),
        "",
        *_part_lines("most expensive subtrees", [one.dearest for one in processes], middle),
        *(f"not timed: {line}" for line in grouped(list(untimed.items()))),
    ]


def remedy_lines(processes: Sequence[Remedies]) -> list[str]:
    """A line per guard filter and setting: guards, check and hit beside the default's; then what goes unnoticed."""
    default = processes[0].default
    by_name = remedies_by_name(processes)
    rows: list[Sequence[str]] = [("what would help", "guards", "in Python", "check", "x default", "hit", "x default")]
    rows.append(("default", *_change(default, default), *_default(by_name, CHECK), *_default(by_name, HIT)))
    cheaper = True
    for name, measured in by_name.items():
        if cheaper and not _spares(measured):
            cheaper = False
            rows.append(("what would not, or not for certain", *[""] * 6))
        rows.append((name, *_change(measured[0].census, default), *_beside(measured, CHECK), *_beside(measured, HIT)))
    lines = [
        *aligned(rows),
        f"least blocks, taken in turn with the default's{over(processes)}",
    ]
    unchanged = processes[0].unchanged
    said = f"without effect on its guards: {', '.join(unchanged)}"
    lines += textwrap.wrap(said, _WIDTH, subsequent_indent="  ") if unchanged else []
    lines += ["", "what then goes unnoticed"]
    for name, measured in by_name.items():
        said = f"{name}: {measured[0].unsafe}"
        lines += textwrap.wrap(said, _WIDTH, initial_indent="  ", subsequent_indent="    ")
    failed = [(name, measured[0].reason) for name, measured in by_name.items() if measured[0].reason]
    return lines + [f"not measured: {line}" for line in grouped(failed)]


def remedies_by_name(processes: Sequence[Remedies]) -> Mapping[str, list[Remedy]]:
    """What each process says of a remedy; those that spare most time of a check come first, those not timed last."""
    found: dict[str, list[Remedy]] = {}
    for one in processes:
        for remedy in one.remedies:
            found.setdefault(remedy.name, []).append(remedy)

    def rank(item: tuple[str, list[Remedy]]) -> tuple[bool, float, str]:
        of_default = spread(ratios(item[1], CHECK))
        return not _spares(item[1]), float("inf") if of_default is None else of_default.median, item[0]

    return dict(sorted(found.items(), key=rank))


def _spares(measured: Sequence[Remedy]) -> bool:
    """Whether it spares time of a check in every process."""
    of_default = spread(ratios(measured, CHECK))
    return of_default is not None and of_default.high < 1


def ratios(measured: Sequence[Remedy], measure: str) -> list[float]:
    """A remedy's least block by the default's, which were taken in turn; one per process that has samples."""
    taken = [(one.samples.get(measure, ()), one.default.get(measure, ())) for one in measured]
    return [min(with_it) / min(without) for with_it, without in taken if with_it and without]


def _kind_lines(processes: Sequence[Subtrees]) -> list[str]:
    by_kind: dict[tuple[str, ...], list[KindCost]] = {}
    for one in processes:
        for kind in one.kinds:
            by_kind.setdefault(kind.kinds, []).append(kind)
    rows, unknown = [], []
    for kinds, told in by_kind.items():
        found = spread([one.seconds for one in told if one.seconds is not None])
        name = " + ".join(kinds)
        if found is None:
            unknown.append(name)
        else:
            count, together_s = told[0].count, found.median * told[0].count
            error_s = max((one.error_s or 0.0 for one in told), default=0.0)
            told_apart = (with_spread(found, "seconds"), seconds(together_s))
            cells = told_apart if found.median > max(0.0, error_s) else ("not told from 0", UNKNOWN)
            rows.append((-together_s, name, digits(count), *cells))
    shown = aligned([("by type", "count", "one of it", "all of it"), *(row[1:] for row in sorted(rows))])
    said = f"not told apart here, as they come together or on one value: {', '.join(unknown)}"
    return [*(shown if rows else []), *(textwrap.wrap(said, _WIDTH, subsequent_indent="  ") if unknown else [])]


def _part_lines(title: str, processes: Sequence[Sequence[Part]], whole: Spread) -> list[str]:
    """Medians of pairs' differences, and their shares of a whole that is one of medians, too."""
    by_name: dict[str, list[Part]] = {}
    for parts in processes:
        for part in parts:
            by_name.setdefault(part.name, []).append(part)
    rows, noted = [], dict[str, None]()
    for name, told in by_name.items():
        # A pair's difference may be below 0 for what takes next to nothing.
        found = spread([statistics.median(part.samples) for part in told])
        if found is not None:
            share = f"{max(0.0, found.median) / whole.median:.0%}"
            noted.update(dict.fromkeys(part.note for part in told if part.note))
            how = told[0].how + (" *" if told[0].note else "")
            rows.append((-found.median, name, digits(told[0].guards), with_spread(found, "seconds"), share, how))
    header = (title, "guards", "time", "of the middle block", "how")
    shown = sorted(rows)[:_SHOWN]
    more = len(rows) - len(shown)
    below = [*([f"and {digits(more)} more"] if more else []), *(f"* {note}" for note in noted)]
    return [*aligned([header, *(row[1:] for row in shown)]), *below]


def _beside(measured: Sequence[Remedy], measure: str) -> tuple[str, str]:
    """Its time and its ratio to the default's."""
    least = spread([min(one.samples[measure]) for one in measured if one.samples.get(measure)])
    of_default = spread(ratios(measured, measure))
    if least is None or of_default is None:
        return UNKNOWN, UNKNOWN
    return seconds(least.median), ratio_words(of_default)


def _default(by_name: Mapping[str, Sequence[Remedy]], measure: str) -> tuple[str, str]:
    """The default's own time, the least of all processes' blocks."""
    taken = [min(one.default[measure]) for told in by_name.values() for one in told if one.default.get(measure)]
    return (seconds(min(taken)), "1") if taken else (UNKNOWN, UNKNOWN)


def over(processes: Sequence[object]) -> str:
    """What is shown of so many processes."""
    return f"; median and range of {len(processes)} processes" if len(processes) > 1 else "; one process"


def ratio_words(found: Spread | None) -> str:
    """A ratio with its range, where it has one."""
    if found is None:
        return UNKNOWN
    return f"{found.median:.2f}" + (f" ({found.low:.2f}-{found.high:.2f})" if found.n > 1 else "")


def _change(census: Census | None, default: Census) -> tuple[str, str]:
    if census is None:
        return UNKNOWN, UNKNOWN
    return _counted(census, default, "guards"), _counted(census, default, "guards in Python")


def _counted(census: Census, default: Census, entry: str) -> str:
    now, delta = census.counts.get(entry, 0), census.counts.get(entry, 0) - default.counts.get(entry, 0)
    return f"{digits(now)} ({delta:+,})" if delta else digits(now)
