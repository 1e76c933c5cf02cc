"""A judgement for a terminal: worst first, each with its numbers, the rule that decided and against what."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

from pcbench.analysis.findings import UNKNOWN, WORSE, WORST_FIRST, Finding, Judgement
from pcbench.analysis.quantities import counted
from pcbench.analysis.records import Verdict
from pcbench.analysis.verdict_groups import (
    Group,
    by_reason,
    confirmed_by,
    decided_by,
    deciding,
    in_common,
    left_to_pairs,
    next_steps,
    outcome,
    places,
    reasons_unavailable,
    tally,
    visible,
)

COLUMNS = 100
SHOWN, SHOWN_OF_OTHERS = 20, 8
"""So many cases that got worse are listed at a place, and of each other verdict, unless all are asked for."""
EXAMPLES = 3
"""So many cases are named of a reason that many share."""


def as_text(judgement: Judgement, *, every: bool = False) -> str:
    """The judgement as lines; the last say what to do next, and the very last the outcome and its exit code.

    Args:
        every: List every case, also those that are the same, instead of the first of many.
    """
    lines = []
    for what, said in (("candidate: ", judgement.candidate), ("against:   ", judgement.baseline)):
        lines += _wrapped(what + visible(said), "", "           ") if said else []
    for note in judgement.notes:
        lines += _wrapped(f"note: {visible(note)}", "", "      ")
    found = places(judgement)
    for place, findings in found.items():
        if len(found) > 1 or str(place) not in judgement.candidate:
            counts = ", ".join(f"{verdict} {count:,}" for verdict, count in tally(findings).items())
            lines += ["", f"== {visible(str(place))}", *_wrapped(counts, "   ", "   ")]
        for verdict in WORST_FIRST:
            these = [one for one in findings if one.verdict is verdict]
            if these and (every or verdict is not Verdict.SAME):
                lines += ["", *_section(judgement, verdict, these, every)]
    rest = _rest(judgement, every)
    lines += ["", *rest] if rest else []
    steps = [line for step in next_steps(judgement) for line in _wrapped(f"next: {step}", "", "      ")]
    return "\n".join([*lines, "", *steps, outcome(judgement)]).strip("\n")


def _section(judgement: Judgement, verdict: Verdict, findings: Sequence[Finding], every: bool) -> list[str]:
    limit = len(findings) if every else SHOWN if verdict in WORSE else SHOWN_OF_OTHERS
    common = in_common(findings)
    heading = f"{verdict} {counted(len(findings), 'case')}{_bracketed(common)}"
    if verdict in UNKNOWN:
        return _by_reason(heading, by_reason(findings), common, limit)
    lines = _wrapped(heading, "", "  ")
    for one in findings[:limit]:
        lines += _one(one, common)
    lines += _more(len(findings) - limit, "  ")
    undecided = left_to_pairs(findings) if verdict is Verdict.INCONCLUSIVE else ()
    if undecided:
        lines += [f"  decide: {deciding(judgement, undecided)}"]
    return lines


def _by_reason(heading: str, groups: Sequence[Group], common: Sequence[str], limit: int) -> list[str]:
    if len(groups) == 1 and len(groups[0].findings) > 1:
        said = _wrapped(f"{heading}: {visible(groups[0].first.reason)}", "", "  ")
        return said + _names(groups[0], limit, "  ")
    lines = _wrapped(heading, "", "  ")
    for group in groups[:limit]:
        if len(group.findings) == 1:
            lines += _one(group.first, common)
        else:
            told = f"{counted(len(group.findings), 'case')}: {_said(group.first, common)}"
            lines += _wrapped(told, "  ", "    ") + _names(group, limit, "    ")
    return lines + _more(sum(len(group.findings) for group in groups[limit:]), "  ")


def _names(group: Group, limit: int, indent: str) -> list[str]:
    shown = group.findings[: limit if limit >= len(group.findings) else EXAMPLES]
    names = [f"{indent}{visible(str(one.case))}" for one in shown]
    return names + _more(len(group.findings) - len(shown), indent)


def _one(finding: Finding, common: Sequence[str]) -> list[str]:
    lines = [f"  {visible(str(finding.case))}", *_wrapped(_said(finding, common), "    ", "    ")]
    return lines + _wrapped(confirmed_by(finding), "    ", "      ")


def _said(finding: Finding, common: Sequence[str]) -> str:
    return visible(finding.reason) + _bracketed([text for text in decided_by(finding) if text not in common])


def _bracketed(texts: Sequence[str]) -> str:
    return f" [{'; '.join(texts)}]" if texts else ""


def _more(left: int, indent: str) -> list[str]:
    return [f"{indent}and {left:,} more: --all shows them"] if left > 0 else []


def _rest(judgement: Judgement, every: bool) -> list[str]:
    same = len(judgement.of(Verdict.SAME))
    absent = judgement.unavailable
    said = [f"SAME {counted(same, 'case')}"] if same else []
    said += [f"not judged {counted(len(absent), 'case')}"] if absent else []
    if not said:
        return []
    lines = ["; ".join(said)]
    if every:
        for case, reason in absent:
            lines += [f"  {visible(str(case))}", *_wrapped(visible(reason), "    ", "    ")]
        return lines
    reasons = reasons_unavailable(absent)
    if len(reasons) == 1:
        return _wrapped(f"{lines[0]} (on both sides: {visible(reasons[0][0])})", "", "  ")
    for reason, count in reasons[:EXAMPLES]:
        lines += _wrapped(f"{counted(count, 'case')}: {visible(reason)}", "  ", "    ")
    return lines + _more(sum(count for _, count in reasons[EXAMPLES:]), "  ")


def _wrapped(text: str, first: str, others: str) -> list[str]:
    """Lines of at most ``COLUMNS`` where no word is longer: words are kept whole, so that names can be copied."""
    return textwrap.wrap(
        text, COLUMNS, initial_indent=first, subsequent_indent=others, break_long_words=False, break_on_hyphens=False
    )
