"""What differs between two sides' compilations, as lines of a terminal and as Markdown."""

from __future__ import annotations

import difflib
import html
import math
import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from pcbench.analysis.codegen_changes import Change, Entry, Weight, entries, exit_code
from pcbench.analysis.codegen_pairs import Pair
from pcbench.analysis.codegen_rows import CodegenRow, Key
from pcbench.analysis.codegen_rules import Compared
from pcbench.analysis.columns import grouped, piped
from pcbench.analysis.quantities import counted, digits
from pcbench.status import Status

_NAMED = 8
_ROWS = 150
_LONGEST = 300
_ADDRESS = re.compile(r"/\*[0-9a-fx]{4,}\*/")
_PARTS = (("function", "function"), ("dtype", "dtype"), ("sizes", "size"), ("config", "configuration"))
_FEW = 2
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
        return "; ".join(grouped(told)) or ("no row has numbers" if self.rows else "it has none of these kernels")


@dataclass(frozen=True)
class Diff:
    """Two sides, and what comparing them came to."""

    baseline: Side
    candidate: Side
    compared: Compared

    @property
    def exit_code(self) -> int:
        """1 if a hard rule fired, 2 if something could not be compared, or nothing could be, else 0."""
        return exit_code(self.changes) or (0 if self.pairs else 2)

    @property
    def changes(self) -> tuple[Change, ...]:
        """What changed, worst first."""
        return self.compared.changes

    @property
    def pairs(self) -> tuple[Pair, ...]:
        """The compilations that both sides have, but for those that the policy ignores."""
        return self.compared.pairs

    def of(self, weight: Weight) -> tuple[Change, ...]:
        """The changes of one weight, worst first."""
        return tuple(change for change in self.changes if change.weight is weight)


def diff_lines(diff: Diff, *, code: bool = False) -> list[str]:
    """The sides, then each compilation with what changed in it and how to be sure, then the rest in a line.

    Compilations of one kernel of which the very same is said share an entry, which counts them.

    Args:
        code: With the machine code of what changed, as a diff.
    """
    lines = _head(diff)
    pairs = {pair.key: pair for pair in diff.pairs}
    for entry in entries(diff.changes):
        lines += ["", _names(entry), *(f"  {change.weight}: {_said(change)}" for change in entry.changes)]
        lines += [f"  to confirm: {words}" for words in dict.fromkeys(change.confirm for change in entry.changes)]
        for key in entry.keys if code else ():
            if key in pairs and not pairs[key].same_code:
                lines += [f"    {key}"] if len(entry.keys) > 1 else []
                lines += [f"    {line}" for line in _code_lines(pairs[key])]
    return [*lines, "", *rest(diff)]


def as_markdown(diff: Diff) -> str:
    """The same as a comment on a change: a table, hard rules first; rows beyond 150 are counted."""
    head = ["", "kernel", "target", "what changed", "to confirm"]
    told = [
        [change.weight, names, ", ".join(entry.targets), _cell(_said(change)), _cell(change.confirm)]
        for entry in entries(diff.changes)
        for names in (_marked_names(entry),)
        for change in entry.changes
    ]
    blocks = [f"### pcbench codegen: {_cell(outcome(diff))}", "\n\n".join(map(_cell, _head(diff)))]
    blocks += ["\n".join(piped([head, *told[:_ROWS]]))] if told else []
    left = len(told) - _ROWS
    blocks += [f"and {left:,} more"] if left > 0 else []
    return "\n\n".join([*blocks, "\n\n".join(map(_cell, rest(diff)))])


def diff_json(diff: Diff) -> dict[str, Any]:
    """All of it for other programs: the sides, the counts, each change with its key, and what the policy ignores."""
    sides = {
        name: {"side": side.label, "made_by": side.made_by}
        for name, side in (("baseline", diff.baseline), ("candidate", diff.candidate))
    }
    same = sum(pair.same_code for pair in diff.pairs)
    changes = [_change_json(change) for change in diff.changes]
    counts = {"compared": len(diff.pairs), "same_code": same}
    return {"schema": 1, **sides, **counts, "changes": changes, "ignored": list(map(str, diff.compared.ignored))}


def _change_json(change: Change) -> dict[str, Any]:
    """A change with its key; JSON has no infinity, so that ``times`` is then null."""
    times = change.times if math.isfinite(change.times) else None
    return {**asdict(change.key), **asdict(change), "key": str(change.key), "times": times}


def outcome(diff: Diff) -> str:
    """``2 hard, 1 soft; 30 of 36 compilations are the same machine code``."""
    found = {weight: len(diff.of(weight)) for weight in Weight}
    counts = [f"{count} {weight}" for weight, count in found.items() if count and weight is not Weight.NOTE]
    counts += [counted(found[Weight.NOTE], "note")] if found[Weight.NOTE] else []
    same = sum(pair.same_code for pair in diff.pairs)
    told = f"{same} of {counted(len(diff.pairs), 'compilation')} are the same machine code"
    return f"{', '.join(counts) or 'no rule fired'}; {told if diff.pairs else 'nothing was compared'}"


def rest(diff: Diff) -> list[str]:
    """What else differs, with numbers and no verdict, what the policy ignores, and what is the same."""
    said = {change.key for change in diff.changes}
    other = [pair for pair in diff.pairs if not pair.same_code and pair.key not in said]
    other = [pair for pair in other if pair.candidate.status is Status.OK]
    lines = [f"differs, and no rule fired: {pair.key}: {_numbers(pair)}" for pair in other[:_NAMED]]
    lines += [f"and {counted(len(other) - _NAMED, 'more compilation')}"] if len(other) > _NAMED else []
    if count := len(diff.compared.ignored):
        what = counted(count, "compilation")
        lines.append(f"the policy ignores {what}: take their ignore out of [tool.pcbench.policy] to have them judged")
    return [*lines, outcome(diff)]


def _head(diff: Diff) -> list[str]:
    one, two = diff.baseline, diff.candidate
    lines = [f"{name}: {side.label}: {side.made_by}" for name, side in (("baseline", one), ("candidate", two))]
    if any(one.compilers[target] != two.compilers[target] for target in one.compilers.keys() & two.compilers.keys()):
        lines.append("note: the compilers differ, so that what changed may be theirs and not the kernel's")
    return lines


def _said(change: Change) -> str:
    return f"{change.rule}: {change.sentence}"


def _names(entry: Entry) -> str:
    """The compilation, or how many there are: ``attention: 12 compilations for sm_90, sm_100: _attention; float16``."""
    if len(entry.keys) == 1:
        return str(entry.keys[0])
    where = f" for {', '.join(entry.targets)}" if entry.targets else ""
    counts = f"{entry.keys[0].kernel}: {counted(len(entry.keys), 'compilation')}{where}"
    return ": ".join(filter(None, (counts, _parts(entry.keys))))


def _marked_names(entry: Entry) -> str:
    """The same in a cell of Markdown, without the targets, which have their own."""
    key = entry.keys[0]
    if len(entry.keys) == 1:
        names = (key.kernel, key.function, key.dtype, key.sizes, key.config)
        return f"<code>{_cell(' '.join(filter(None, names)))}</code>"
    told = (counted(len(entry.keys), "compilation"), _cell(_parts(entry.keys)))
    return f"<code>{_cell(key.kernel)}</code>: {': '.join(filter(None, told))}"


def _parts(keys: Sequence[Key]) -> str:
    """What keys are made of: one or two values as they are, more as their number."""
    said = []
    for name, noun in _PARTS:
        values = tuple(dict.fromkeys(getattr(key, name) for key in keys if getattr(key, name)))
        said += [", ".join(values) if len(values) <= _FEW else counted(len(values), noun)] if values else []
    return "; ".join(said)


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
