"""What the ways to print a judgement have in common: findings by place and by reason, and the outcome in words."""

from __future__ import annotations

import re
import shlex
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from pcbench.analysis.findings import IGNORED, UNKNOWN, WORSE, WORST_FIRST, Finding, Judgement
from pcbench.analysis.quantities import counted, listed
from pcbench.analysis.records import Case, Verdict
from pcbench.analysis.series import Place

_COMMIT = re.compile(r"\b[0-9a-f]{8,40}\b")
_NEXT = {
    Verdict.FAILED: "FAILED: mend the benchmark or the code and measure again",
    Verdict.MISSING: "MISSING: measure what is missing, or accept that it is gone",
    Verdict.HOST: "HOST: measure again on a quiet machine, or decide by pairs (pcbench ab)",
    Verdict.UNJUDGED: "UNJUDGED: measure both sides on the same torch, machine and threads, or accept the new ones",
    Verdict.NEW: "NEW: pcbench accept --reason TEXT makes it the baseline",
}


@dataclass(frozen=True)
class Group:
    """Findings of one verdict with the same reason and rule, in the order in which they were given; at least one."""

    findings: tuple[Finding, ...]

    @property
    def first(self) -> Finding:
        """The one that speaks for all."""
        return self.findings[0]


def by_reason(findings: Iterable[Finding]) -> tuple[Group, ...]:
    """Groups of equal verdict, reason, rule and reference; in the order of the verdicts, then the largest first."""
    found: dict[tuple[str, ...], list[Finding]] = {}
    for one in findings:
        found.setdefault((one.verdict, one.reason, one.rule, one.against), []).append(one)
    groups = [Group(tuple(each)) for each in found.values()]
    return tuple(sorted(groups, key=lambda group: (WORST_FIRST.index(group.first.verdict), -len(group.findings))))


def places(judgement: Judgement) -> dict[Place, tuple[Finding, ...]]:
    """The findings of each place; the place of the worst first."""
    found: dict[Place, list[Finding]] = {}
    for one in judgement.findings:
        found.setdefault(one.place, []).append(one)
    return {place: tuple(each) for place, each in found.items()}


def tally(findings: Sequence[Finding]) -> dict[Verdict, int]:
    """How many there are of each verdict that occurs, worst first."""
    found = dict.fromkeys(WORST_FIRST, 0)
    for one in findings:
        found[one.verdict] += 1
    return {verdict: count for verdict, count in found.items() if count}


def reasons_unavailable(unavailable: Sequence[tuple[Case, str]]) -> tuple[tuple[str, int], ...]:
    """Why cases were listed and not judged, and how many each; most first."""
    found: dict[str, int] = {}
    for _, reason in unavailable:
        found[reason] = found.get(reason, 0) + 1
    return tuple(sorted(found.items(), key=lambda item: -item[1]))


def outcome(judgement: Judgement) -> str:
    """One sentence: what the exit code says, with the counts behind it."""
    counts = tally(judgement.findings)
    worse, unknown = (sum(counts.get(verdict, 0) for verdict in group) for group in (WORSE, UNKNOWN))
    suspects = counts.get(Verdict.INCONCLUSIVE, 0)
    code = judgement.exit_code
    if not judgement.findings:
        return f"exit {code}: nothing was compared"
    unjudged = f"{counted(unknown, 'case')} could not be judged ({_counts(counts, UNKNOWN)})"
    if code == 1:
        said = f"exit 1: {counted(worse, 'case')} got worse ({_counts(counts, WORSE)})"
        return f"{said}; {unjudged}" if unknown else said
    if code == 2:
        return f"exit 2: nothing that could be judged got worse, but {unjudged}"
    undecided = f"; {counted(suspects, 'suspect')} undecided" if suspects else ""
    return f"exit 0: nothing got worse{undecided}"


def next_steps(judgement: Judgement) -> tuple[str, ...]:
    """What to do about each verdict that occurs, worst first; a sentence each."""
    if not judgement.findings:
        return _nothing_judged(judgement)
    counts = tally(judgement.findings)
    steps = []
    worse = [verdict for verdict in WORSE if verdict in counts]
    if worse:
        steps.append(f"{listed(worse)}: mend it, or if it was meant: pcbench accept 'CASE' --reason TEXT")
    steps += [_NEXT[verdict] for verdict in UNKNOWN if verdict in counts]
    suspects = judgement.of(Verdict.INCONCLUSIVE)
    if left_to_pairs(suspects):
        steps.append("INCONCLUSIVE: no failure; pairs of processes decide (pcbench ab)")
    if len(left_to_pairs(suspects)) < len(suspects):
        steps.append("INCONCLUSIVE machine code: no failure; a GPU decides, or what each is said to be confirmed by")
    if Verdict.FASTER in counts:
        steps.append("FASTER: pcbench accept 'CASE' --reason TEXT keeps the gain from being lost again")
    return tuple(steps)


def _nothing_judged(judgement: Judgement) -> tuple[str, ...]:
    ignored = sum(reason == IGNORED for _, reason in judgement.unavailable)
    steps = []
    if ignored:
        of = "all" if ignored == len(judgement.unavailable) else f"{ignored:,} of {len(judgement.unavailable):,}"
        steps.append(
            f"the policy ignores {of} cases: take their ignore out of [tool.pcbench.policy] to have them judged"
        )
    if not ignored or ignored < len(judgement.unavailable):
        steps.append("measure the candidate (pcbench bench), then ask again")
    return tuple(steps)


def left_to_pairs(suspects: Sequence[Finding]) -> tuple[Finding, ...]:
    """Those that pairs of processes can decide: of machine code they tell nothing."""
    return tuple(one for one in suspects if not one.confirm)


def confirmed_by(finding: Finding) -> str:
    """``to confirm: timing it``, or nothing, where pairs of processes would tell."""
    return f"to confirm: {visible(finding.confirm)}" if finding.confirm else ""


def deciding(judgement: Judgement, suspects: Sequence[Finding]) -> str:
    """The command that decides suspects, with the first case in it; at least one.

    Where the two commits are not known or are the same, it names ``BASE`` and ``CANDIDATE``.
    """
    one, other = (_COMMIT.search(text) for text in (suspects[0].against, judgement.candidate))
    sides = "BASE CANDIDATE" if one is None or other is None or one[0] == other[0] else f"{one[0]} {other[0]}"
    more = " ..." if len(suspects) > 1 else ""
    return f"pcbench ab {sides} {shlex.quote(visible(str(suspects[0].case)))}{more}"


def decided_by(finding: Finding) -> tuple[str, ...]:
    """The rule, and what the candidate was compared with: ``("exact, more is worse", "accepted 1a2b3c4d")``."""
    pairs = "pairs of processes" if finding.paired else ""
    return tuple(visible(text) for text in (finding.rule, finding.against, pairs) if text)


def in_common(findings: Sequence[Finding]) -> tuple[str, ...]:
    """What of :func:`decided_by` holds for all of them, so that it can be said once."""
    found = [decided_by(one) for one in findings]
    return tuple(text for text in found[0] if all(text in each for each in found)) if found else ()


def visible(text: str) -> str:
    """The text with what a terminal, XML or a page cannot show written out: ``\\n``, ``\\x00``, ``\\u202e``.

    Names and reasons come from other people's files: an escape sequence in one is not to be obeyed.
    """
    if text.isascii() and text.isprintable():
        return text
    return "".join(_written_out(each) if _cannot_be_shown(each) else each for each in text)


def clipped(text: str, limit: int) -> str:
    """The text, cut to at most ``limit`` characters with an ellipsis as the last."""
    return text if len(text) <= limit else text[: limit - 1] + "…"


def _cannot_be_shown(character: str) -> bool:
    code = ord(character)
    directs = 0x202A <= code <= 0x202E or 0x2066 <= code <= 0x2069
    return directs or code & 0xFFFE == 0xFFFE or unicodedata.category(character) in ("Cc", "Cs", "Zl", "Zp")


def _written_out(character: str) -> str:
    return character.encode("unicode_escape").decode("ascii")


def _counts(counts: dict[Verdict, int], verdicts: Sequence[Verdict]) -> str:
    return ", ".join(f"{counts[verdict]:,} {verdict}" for verdict in verdicts if verdict in counts)
