"""A judgement as a pull-request comment: what got worse first, then what could not be judged; the rest folded."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

from pcbench.analysis.findings import UNKNOWN, WORSE, Finding, Judgement
from pcbench.analysis.quantities import counted, quantity
from pcbench.analysis.records import Verdict
from pcbench.analysis.verdict_groups import (
    Group,
    by_reason,
    clipped,
    confirmed_by,
    decided_by,
    deciding,
    left_to_pairs,
    next_steps,
    outcome,
    places,
    reasons_unavailable,
    visible,
)

LIMIT = 65_000
"""In bytes: GitHub takes a comment of 65,536 characters."""
ROWS = 400
"""At most so many in a table; fewer where the comment would be too long."""
CELL = 300
"""A name or reason is cut at so many characters."""

_SPECIAL = re.compile(r"[&<|*`\[\]\\~$@#]|(?<![0-9A-Za-z])_|_(?![0-9A-Za-z])")
"""An underscore within a word marks nothing in GitHub's markdown."""
_NOT_IN_CODE_SPAN = re.compile(r"[`|\\]")


def as_markdown(judgement: Judgement) -> str:
    """GitHub's markdown, below the limit of a comment; rows that do not fit are counted in a last row."""
    rows = ROWS
    while True:
        text = _comment(judgement, rows)
        if len(text.encode()) <= LIMIT or rows == 0:
            return text
        rows //= 2


def _comment(judgement: Judgement, rows: int) -> str:
    worse, unknown = judgement.of(*WORSE), judgement.of(*UNKNOWN)
    suspects, faster = judgement.of(Verdict.INCONCLUSIVE), judgement.of(Verdict.FASTER)
    named = len(places(judgement)) > 1
    blocks = [f"### pcbench: {_prose(outcome(judgement))}", _compared(judgement)]
    if worse:
        blocks.append(_cases(worse, rows, named))
    if unknown:
        blocks += ["**Could not be judged**", _reasons(by_reason(unknown), rows, named)]
    if suspects:
        undecided = left_to_pairs(suspects)
        command = [f"Pairs of processes decide: {_code(deciding(judgement, undecided))}"] if undecided else []
        content = "\n\n".join([*command, _cases(suspects, rows, named)])
        blocks.append(_folded(f"Suspects: {len(suspects):,}", content))
    if faster:
        blocks.append(_folded(f"Faster: {len(faster):,}", _cases(faster, rows, named)))
    blocks += [_rest(judgement), "\n".join(f"- {_prose(step)}" for step in next_steps(judgement))]
    return "\n\n".join(block for block in blocks if block)


def _compared(judgement: Judgement) -> str:
    both = [_prose(said) for said in (judgement.candidate, judgement.baseline) if said]
    lines = [" against ".join(both)] if both else []
    shown = judgement.notes[:10]
    lines += [f"Note: {_prose(note)}" for note in shown]
    if len(judgement.notes) > len(shown):
        lines.append(f"and {counted(len(judgement.notes) - len(shown), 'more note')}")
    return "\n\n".join(lines)


def _cases(findings: Sequence[Finding], rows: int, named: bool) -> str:
    shown = findings[:rows]
    told = any(_evidence(one) for one in shown)
    stored = "stored " if any(one.paired for one in shown) else ""
    numbers = [f"{stored}before", f"{stored}after", "ratio"]
    heads = ["verdict", "case", *(["place"] * named), *numbers, *(["evidence"] * told), "rule"]
    sides = "ll" + "l" * named + "rrr" + "l" * told + "l"
    return _table(heads, sides, [_case(one, named, told) for one in shown], len(findings) - len(shown))


def _case(finding: Finding, named: bool, told: bool) -> list[str]:
    before, after = (_amount(value, finding.unit) for value in (finding.baseline, finding.candidate))
    # The ratio of stored numbers did not decide where pairs did.
    ratio = finding.paired_ratio if finding.paired else finding.ratio
    where = [_prose(str(finding.place))] if named else []
    evidence = [_prose(_evidence(finding))] if told else []
    rule = "; ".join(map(_prose, decided_by(finding)))
    times = "" if ratio is None else f"{ratio:.3f}"
    return [finding.verdict, _code(str(finding.case)), *where, before, after, times, *evidence, rule]


def _evidence(finding: Finding) -> str:
    """The reason without the two numbers that it begins with, which have columns; pairs have others than those."""
    both = finding.baseline is not None and finding.candidate is not None
    reason = finding.reason.partition("; ")[2] if both and not finding.paired else finding.reason
    return "; ".join(filter(None, (reason, confirmed_by(finding))))


def _reasons(groups: Sequence[Group], rows: int, named: bool) -> str:
    heads = ["verdict", "cases", "why", "which", *(["place"] if named else [])]
    shown = [_reason(group, named) for group in groups[:rows]]
    return _table(heads, "lrlll", shown, sum(len(group.findings) for group in groups[rows:]))


def _reason(group: Group, named: bool) -> list[str]:
    count = len(group.findings)
    cases = _code(str(group.first.case)) + (f" and {count - 1:,} more" if count > 1 else "")
    where = [_prose(", ".join(dict.fromkeys(str(one.place) for one in group.findings)))] if named else []
    return [group.first.verdict, f"{count:,}", _prose(group.first.reason), cases, *where]


def _table(heads: Sequence[str], sides: str, rows: Sequence[Sequence[str]], left_out: int) -> str:
    """A table; ``sides`` has ``l`` or ``r`` for each column."""
    rule = ["--:" if side == "r" else "---" for side in sides[: len(heads)]]
    lines = [f"| {' | '.join(cells)} |" for cells in (heads, rule, *rows)]
    more = f"\n\nand {left_out:,} more: the comment would be too long." if left_out else ""
    return "\n".join(lines) + more if rows else f"{left_out:,}: the comment would be too long."


def _rest(judgement: Judgement) -> str:
    same = len(judgement.of(Verdict.SAME))
    said = [f"Same: {counted(same, 'case')}"] if same else []
    reasons = reasons_unavailable(judgement.unavailable)
    if reasons:
        why = "; ".join(f"{count:,}: {_prose(reason)}" for reason, count in reasons[:3])
        more = "; other reasons" if len(reasons) > 3 else ""
        said.append(f"not judged, on both sides: {counted(len(judgement.unavailable), 'case')} ({why}{more})")
    return f"{'; '.join(said)}." if said else ""


def _folded(summary: str, content: str) -> str:
    # GitHub reads markdown inside the element only after an empty line.
    return f"<details><summary>{summary}</summary>\n\n{content}\n\n</details>"


def _amount(value: float | None, unit: str) -> str:
    if value is None:
        return ""
    return _prose(quantity(value, unit)) if math.isfinite(value) else str(value)


def _code(text: str) -> str:
    """The text as code: as a span where it can be one in a table, else as an element with everything escaped."""
    shown = clipped(visible(text), CELL)
    if not _NOT_IN_CODE_SPAN.search(shown) and shown.strip():
        return f"`{shown}`"
    return f"<code>{_escaped(shown)}</code>"


def _prose(text: str) -> str:
    return _escaped(clipped(visible(text), CELL))


def _escaped(text: str) -> str:
    """The text with what markdown or HTML would take for its own as entities; nobody is mentioned, no issue linked."""
    return _SPECIAL.sub(lambda found: f"&#{ord(found[0])};" + ("&#8288;" if found[0] in "@#" else ""), text)
