"""What differs between two sides' compilations, as lines of a terminal and as Markdown."""

from __future__ import annotations

import difflib
import html
import re
from dataclasses import asdict, dataclass
from itertools import groupby
from typing import Any

from pcbench.analysis.codegen_changes import Change, Weight, exit_code
from pcbench.analysis.codegen_pairs import Pair, pair_up
from pcbench.analysis.codegen_rows import CodegenRow
from pcbench.analysis.columns import grouped, piped
from pcbench.analysis.quantities import counted, digits
from pcbench.status import Status

_NAMED = 8
_ROWS = 150
_LONGEST = 300
_ADDRESS = re.compile(r"/\*[0-9a-fx]{4,}\*/")
_METRICS = ("registers", "shared_bytes", "sass", "global_access", "barriers", "ptx")


@dataclass(frozen=True)
class Side:
    """One side of a comparison.

    Attributes:
        label: What the user called it, in words.
    """

    label: str
    rows: tuple[CodegenRow, ...]

    @property
    def compilers(self) -> dict[str, set[str]]:
        """By target, what compiled it: ``triton 3.9.0 and ptxas 13.4.59``."""
        found: dict[str, set[str]] = {}
        for row in self.rows:
            if row.status is Status.OK:
                found.setdefault(row.key.target, set()).add(f"triton {row.triton} and {row.assembler}")
        return found

    @property
    def made_by(self) -> str:
        """``sm_90, sm_100: triton 3.9.0 and ptxas 13.4.59``."""
        told = [(target, ", ".join(sorted(by))) for target, by in self.compilers.items()]
        return "; ".join(grouped(told)) or "no row has numbers"


@dataclass(frozen=True)
class Diff:
    """Two sides, and what changed between them, worst first."""

    baseline: Side
    candidate: Side
    changes: tuple[Change, ...]

    @property
    def exit_code(self) -> int:
        """1 if a hard rule fired, 2 if something could not be compared, or nothing could be, else 0."""
        return exit_code(self.changes) or (0 if self.pairs else 2)

    @property
    def pairs(self) -> tuple[Pair, ...]:
        """The compilations that both sides have."""
        return pair_up(self.baseline.rows, self.candidate.rows).pairs

    def of(self, weight: Weight) -> tuple[Change, ...]:
        """The changes of one weight, worst first."""
        return tuple(change for change in self.changes if change.weight is weight)


def diff_lines(diff: Diff, *, code: bool = False) -> list[str]:
    """The sides, then each compilation with what changed in it and how to be sure, then the rest in a line.

    Args:
        code: With the machine code of what changed, as a diff.
    """
    lines = _head(diff)
    pairs = {pair.key: pair for pair in diff.pairs}
    for key, changes in groupby(diff.changes, key=lambda change: change.key):
        own = list(changes)
        lines += ["", str(key), *(f"  {change.weight}: {change.rule}: {change.sentence}" for change in own)]
        lines += [f"  to confirm: {words}" for words in dict.fromkeys(change.confirm for change in own)]
        if code and key in pairs and not pairs[key].same_code:
            lines += [f"    {line}" for line in _code_lines(pairs[key])]
    return [*lines, "", *rest(diff)]


def as_markdown(diff: Diff) -> str:
    """The same as a comment on a change: a table, hard rules first; rows beyond 150 are counted."""
    told = [["", "kernel", "target", "what changed", "to confirm"]]
    for change in diff.changes[:_ROWS]:
        key = change.key
        names = " ".join(filter(None, (key.kernel, key.function, key.dtype, key.sizes, key.config)))
        told.append([change.weight, f"<code>{_cell(names)}</code>", key.target, *map(_cell, _said(change))])
    blocks = [f"### pcbench codegen: {_cell(outcome(diff))}", "\n\n".join(map(_cell, _head(diff)))]
    blocks += ["\n".join(piped(told))] if diff.changes else []
    left = len(diff.changes) - _ROWS
    blocks += [f"and {left:,} more"] if left > 0 else []
    return "\n\n".join([*blocks, "\n\n".join(map(_cell, rest(diff)))])


def diff_json(diff: Diff) -> dict[str, Any]:
    """All of it for other programs: the sides, the counts, and each change with its key."""
    sides = {
        name: {"side": side.label, "made_by": side.made_by}
        for name, side in (("baseline", diff.baseline), ("candidate", diff.candidate))
    }
    same = sum(pair.same_code for pair in diff.pairs)
    changes = [{**asdict(change.key), **asdict(change), "key": str(change.key)} for change in diff.changes]
    return {"schema": 1, **sides, "compared": len(diff.pairs), "same_code": same, "changes": changes}


def outcome(diff: Diff) -> str:
    """``2 hard, 1 soft; 30 of 36 compilations are the same machine code``."""
    counts = [f"{len(found)} {weight}" for weight in Weight if (found := diff.of(weight))]
    same = sum(pair.same_code for pair in diff.pairs)
    told = f"{same} of {counted(len(diff.pairs), 'compilation')} are the same machine code"
    return f"{', '.join(counts) or 'no rule fired'}; {told}"


def rest(diff: Diff) -> list[str]:
    """What else differs, with numbers and no verdict, and what is the same."""
    said = {change.key for change in diff.changes}
    other = [pair for pair in diff.pairs if not pair.same_code and pair.key not in said]
    other = [pair for pair in other if pair.candidate.status is Status.OK]
    lines = [f"differs, and no rule fired: {pair.key}: {_numbers(pair)}" for pair in other[:_NAMED]]
    lines += [f"and {counted(len(other) - _NAMED, 'more compilation')}"] if len(other) > _NAMED else []
    return [*lines, outcome(diff)]


def _head(diff: Diff) -> list[str]:
    one, two = diff.baseline, diff.candidate
    lines = [f"{name}: {side.label}: {side.made_by}" for name, side in (("baseline", one), ("candidate", two))]
    if any(one.compilers[target] != two.compilers[target] for target in one.compilers.keys() & two.compilers.keys()):
        lines.append("note: the compilers differ, so that what changed may be theirs and not the kernel's")
    return lines


def _said(change: Change) -> tuple[str, str]:
    return f"{change.rule}: {change.sentence}", change.confirm


def _numbers(pair: Pair) -> str:
    before, after = pair.baseline.metrics, pair.candidate.metrics
    moved = [
        f"{metric} {digits(before[metric])} to {digits(after[metric])}"
        for metric in _METRICS
        if metric in before and metric in after and before[metric] != after[metric]
    ]
    return ", ".join(moved) or "the same counts"


def _code_lines(pair: Pair) -> list[str]:
    before, after = (_listing(row.assembly) for row in (pair.baseline, pair.candidate))
    if before is None or after is None:
        return ["the machine code of one side was not kept"]
    return list(difflib.unified_diff(before, after, "baseline", "candidate", n=2, lineterm=""))


def _listing(assembly: str | None) -> list[str] | None:
    """Lines without addresses, which move with everything before them."""
    return None if assembly is None else [_ADDRESS.sub("", line).strip() for line in assembly.splitlines()]


def _cell(text: str) -> str:
    cut = text if len(text) <= _LONGEST else f"{text[: _LONGEST - 3]}..."
    return html.escape(" ".join(cut.split()), quote=False).translate({ord("|"): "&#124;", ord("@"): "&#64;"})
