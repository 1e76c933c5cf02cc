"""A judgement as GitHub's workflow commands: what a run's page shows as annotations.

Without ``from __future__ import annotations``, whose name is taken here: call it as
``verdict_annotations.annotations``.
"""

from collections.abc import Sequence

from pcbench.analysis.findings import UNKNOWN, WORSE, Judgement
from pcbench.analysis.quantities import counted
from pcbench.analysis.records import Verdict
from pcbench.analysis.verdict_groups import Group, by_reason, clipped, confirmed_by, decided_by, outcome, visible

MOST = 10
"""Of each kind: GitHub shows no more of a step."""
_LONGEST = 1000
_KINDS = (("error", WORSE), ("warning", UNKNOWN), ("notice", (Verdict.INCONCLUSIVE, Verdict.FASTER)))


def annotations(judgement: Judgement) -> tuple[str, ...]:
    """Lines to print: errors for what got worse, warnings for what could not be judged, notices for the rest.

    Cases with one reason are one annotation. Of each kind there are at most ten; the last tells how many were left out.
    A judgement without findings is an error.
    """
    if not judgement.findings:
        return (_command("error", "pcbench", outcome(judgement)),)
    lines: list[str] = []
    for kind, verdicts in _KINDS:
        groups = by_reason(judgement.of(*verdicts))
        fits = len(groups) <= MOST
        shown = groups if fits else groups[: MOST - 1]
        lines += [_annotation(kind, group) for group in shown]
        if not fits:
            left = sum(len(group.findings) for group in groups[MOST - 1 :])
            lines.append(_command(kind, "pcbench", f"{counted(left, 'more case')}: the step's log lists them"))
    return tuple(lines)


def _annotation(kind: str, group: Group) -> str:
    first, count = group.first, len(group.findings)
    title = f"{first.verdict} {visible(str(first.case))}" + (f" and {count - 1:,} more" if count > 1 else "")
    told = (visible(first.reason), *decided_by(first), confirmed_by(first), visible(str(first.place)))
    said: Sequence[str] = tuple(filter(None, told))
    return _command(kind, title, "; ".join(said))


def _command(kind: str, title: str, message: str) -> str:
    """``::kind title=...::message``, escaped as actions/toolkit (packages/core/src/command.ts) does."""
    title = _escaped(clipped(title, _LONGEST)).replace(":", "%3A").replace(",", "%2C")
    return f"::{kind} title={title}::{_escaped(clipped(message, _LONGEST))}"


def _escaped(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
