"""What a selftest of verdicts in pairs found, as tables and sentences."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from pcbench.analysis.columns import aligned, piped
from pcbench.analysis.quantities import counted, digits
from pcbench.analysis.records import Verdict
from pcbench.analysis.selftest_pairs import OURS, RECORD, Group, Share
from pcbench.analysis.selftest_pairs_store import Selftest

_KINDS = (Verdict.SLOWER, Verdict.FASTER, Verdict.SAME, Verdict.INCONCLUSIVE, Verdict.HOST)
_HEADER = ("planted", "counted", "timed", "verdicts", *map(str, _KINDS), "found (95 %)", "pairs", "s a verdict")


def text(selftest: Selftest, *, markdown: bool = False) -> str:
    """For a terminal, or as Markdown."""
    parts: list[str] = []
    for title, rows, said in _sections(selftest):
        lines = [f"### {title}", ""] if markdown else [title]
        if rows:
            lines += piped(rows) if markdown else [f"  {line}" for line in aligned(rows)]
        lines += ["", *(f"- {each}" for each in said)] if markdown else [f"  {each}" for each in said]
        parts.append("\n".join(lines))
    return "\n\n".join(parts)


def finding(selftest: Selftest) -> str:
    """The one sentence: what is found of 3 %, or of what there is, and how many are false."""
    said = []
    for one in (0.03, *sorted({each.planted for each in selftest.checks if each.planted > 0}, reverse=True)):
        found = [each for each in selftest.checks if each.planted == one]
        if found:
            shares = " and ".join(f"{each.moved[OURS].share:.0%} {_record(each)}" for each in found)
            said.append(f"{one:.0%} slower is found in {shares}")
            break
    false = [each.moved[OURS] for each in selftest.checks if each.planted == 0]
    if false:
        found_false, of = sum(each.found for each in false), sum(each.of for each in false)
        said.append(f"{found_false} of {counted(of, 'verdict')} on the same code are false")
    return "; ".join(said)


def _sections(selftest: Selftest) -> Iterator[tuple[str, list[tuple[str, ...]], list[str]]]:
    for recorded in (False, True):
        groups = [each for each in selftest.checks if each.recorded is recorded]
        if groups:
            yield _title(selftest, groups), [_HEADER, *map(_row, groups)], list(_said(selftest, groups))
    if selftest.checks:
        yield (
            "What other rules say of the same samples: share called slower (same code: slower or faster)",
            _others(selftest),
            [],
        )
    if selftest.loads:
        title = f"Loads of a second or more: pairs beyond {selftest.slow_delta:.0%}"
        yield (
            title,
            [_HEADER, *map(_row, selftest.loads)],
            [_bound(each) for each in selftest.loads if each.planted == 0],
        )
    notes = [f"on {selftest.machine}"]
    if selftest.uncounted:
        notes.append(f"counted: unavailable: {selftest.uncounted}; the planted size is the nominal one")
    if selftest.interrupted:
        notes.append("interrupted: what was settled by then")
    yield "Measured", [], notes


def _title(selftest: Selftest, groups: Sequence[Group]) -> str:
    if not groups[0].recorded:
        return f"Small checks, nothing on record: pairs beyond {selftest.delta:.1%}"
    fine, of = sum(each.fine for each in groups), sum(each.of for each in groups)
    return (
        f"Small checks, {RECORD} pairs of the same code on record: pairs beyond {selftest.fine_delta:.0%} "
        f"where they allow it, in {fine} of {of} verdicts, else {selftest.delta:.1%}"
    )


def _row(each: Group) -> tuple[str, ...]:
    found = each.moved[OURS]
    return (
        f"{each.planted:.0%}" if each.planted else "same code",
        "-" if each.counted is None else f"{each.counted:+.2%}",
        f"{each.timed:+.2%}",
        str(each.of),
        *(str(each.verdicts.get(kind, 0)) for kind in _KINDS),
        _share(found),
        digits(round(each.pairs, 1)),
        digits(each.seconds),
    )


def _said(selftest: Selftest, groups: Sequence[Group]) -> Iterator[str]:
    for each in groups:
        if each.planted == 0:
            yield _bound(each)
    for one in selftest.resampled:
        if one.recorded is groups[0].recorded:
            worst = f"{one.worst.found} of {digits(one.worst.of)}, below {one.worst.bound:.2%}"
            yield (
                f"resampled: {one.false.found} of {counted(one.false.of, 'verdict')} on pairs of the same code, "
                f"centred and signed by chance, were false, at 95 % fewer than {one.false.bound:.3%}; the worst of "
                f"{counted(one.pools, 'check')}: {worst}. "
                "It takes pairs to be independent and no side to be favoured"
            )


def _bound(each: Group) -> str:
    false = each.moved[OURS]
    return (
        f"measured: {false.found} of {counted(false.of, 'verdict')} on the same code were false: at 95 % fewer than "
        f"{false.bound:.2%}, if verdicts were independent; those of a comparison share their processes. "
        "What a suite's true rate is, its nightly canary tells"
    )


def _others(selftest: Selftest) -> list[tuple[str, ...]]:
    groups = [each for each in selftest.checks if not each.recorded]
    groups = groups or list(selftest.checks)
    names = list(dict.fromkeys(name for each in groups for name in each.moved))
    header = ("rule", *(f"{each.planted:.0%}" if each.planted else "same code" for each in groups))
    rows = [(_rule(name, groups), *(_cell(each.moved, name) for each in groups)) for name in names]
    fine = [each for each in selftest.checks if each.recorded and groups[0] is not each]
    if fine and [each.planted for each in fine] == [each.planted for each in groups] and not groups[0].recorded:
        rows.insert(1, (_rule(OURS, fine), *(_cell(each.moved, OURS) for each in fine)))
    return [header, *rows]


def _rule(name: str, groups: Sequence[Group]) -> str:
    return f"pcbench ab, {_record(groups[0])}" if name == OURS else name


def _record(each: Group) -> str:
    return f"with {RECORD} pairs on record" if each.recorded else "without a record"


def _cell(moved: Mapping[str, Share], name: str) -> str:
    return _share(moved[name]) if name in moved else "-"


def _share(one: Share) -> str:
    return f"{one.share:.1%} ({one.low:.1%} to {one.high:.1%})"
