"""What differs between two sides' compilations, as lines of a terminal and as Markdown."""

from __future__ import annotations

import html
import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from pcbench.analysis.codegen_changes import COMPILE_TIME, Change, Entry, Weight, apart, entries, exit_code, longer
from pcbench.analysis.codegen_differing import as_json, code_lines, differing, in_words
from pcbench.analysis.codegen_pairs import Pair
from pcbench.analysis.codegen_rows import CodegenRow, Key
from pcbench.analysis.codegen_rules import Compared
from pcbench.analysis.columns import grouped, piped
from pcbench.analysis.quantities import counted
from pcbench.status import Status

_NAMED = 8
_ROWS = 150
_LONGEST = 300
_PARTS = (("function", "function"), ("dtype", "dtype"), ("sizes", "size"), ("config", "configuration"))
_FEW = 2


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
        """1 if a hard rule fired; 2 if something was not compared, or nothing has numbers on both sides; else 0."""
        return exit_code(self.changes) or (0 if self.measured else 2)

    @property
    def changes(self) -> tuple[Change, ...]:
        """What changed, worst first."""
        return self.compared.changes

    @property
    def pairs(self) -> tuple[Pair, ...]:
        """The compilations that both sides have, but for those that the policy ignores."""
        return self.compared.pairs

    @property
    def measured(self) -> tuple[Pair, ...]:
        """Those of them that have numbers on both sides."""
        return tuple(pair for pair in self.pairs if pair.measured)

    @property
    def differing(self) -> tuple[Pair, ...]:
        """Those of which the machine code differs, and no rule about it fired."""
        return differing(self.pairs, self.changes)

    def of(self, weight: Weight) -> tuple[Change, ...]:
        """The changes of one weight, worst first."""
        return tuple(change for change in self.changes if change.weight is weight)


def diff_lines(diff: Diff, *, code: bool = False) -> list[str]:
    """The sides, then each compilation with what changed in it and how to be sure, then the rest in a line.

    Compilations of one kernel of which the very same is said share an entry, which counts them; those of which the
    compile time alone is said have a line for each kernel.

    Args:
        code: With the machine code of all that differs, as a diff.
    """
    lines = _head(diff)
    pairs = {pair.key: pair for pair in diff.pairs}
    left = {pair.key for pair in diff.differing}
    others, slower = apart(diff.changes)
    for entry in entries(others):
        lines += ["", _names(entry), *(f"  {change.weight}: {_said(change)}" for change in entry.changes)]
        lines += [f"  to confirm: {words}" for words in dict.fromkeys(change.confirm for change in entry.changes)]
        for key in entry.keys if code else ():
            if key in pairs and key not in left and not pairs[key].same_code:
                lines += [f"    {key}"] if len(entry.keys) > 1 else []
                lines += [f"    {line}" for line in code_lines(pairs[key])]
    if slower:
        first = slower[0].changes[0]
        lines += ["", *(f"{first.weight}: {COMPILE_TIME}: {one.keys[0].kernel}: {longer(one)}" for one in slower)]
        lines.append(f"  to confirm: {first.confirm}")
    return [*lines, "", *rest(diff, code=code)]


def as_markdown(diff: Diff) -> str:
    """The same as a comment on a change: a table, hard rules first; rows beyond 150 are counted."""
    head = ["", "kernel", "target", "what changed", "to confirm"]
    others, slower = apart(diff.changes)
    told = [
        [change.weight, names, ", ".join(entry.targets), _cell(_said(change)), _cell(change.confirm)]
        for entry in entries(others)
        for names in (_marked_names(entry),)
        for change in entry.changes
    ]
    told += [
        [first.weight, f"<code>{_cell(first.key.kernel)}</code>", ", ".join(one.targets), said, _cell(first.confirm)]
        for one in slower
        for first, said in ((one.changes[0], f"{COMPILE_TIME}: {longer(one)}"),)
    ]
    blocks = [f"### pcbench codegen: {_cell(outcome(diff))}", "\n\n".join(map(_cell, _head(diff)))]
    blocks += ["\n".join(piped([head, *told[:_ROWS]]))] if told else []
    left = len(told) - _ROWS
    blocks += [f"and {left:,} more"] if left > 0 else []
    return "\n\n".join([*blocks, "\n\n".join(map(_cell, rest(diff)))])


def diff_json(diff: Diff) -> dict[str, Any]:
    """All of it for other programs: the sides, the counts, each change with its key, what differs without one with its
    numbers, and what the policy ignores."""
    sides = {
        name: {"side": side.label, "made_by": side.made_by}
        for name, side in (("baseline", diff.baseline), ("candidate", diff.candidate))
    }
    same = sum(pair.same_code for pair in diff.pairs)
    changes = [_change_json(change) for change in diff.changes]
    counts = {"compared": len(diff.measured), "same_code": same}
    lists = {"changes": changes, "differing": list(map(as_json, diff.differing))}
    return {"schema": 1, **sides, **counts, **lists, "ignored": list(map(str, diff.compared.ignored))}


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
    one = same == 1 or len(diff.measured) == 1
    told = f"{same} of {counted(len(diff.measured), 'compilation')} {'is' if one else 'are'} the same machine code"
    if not diff.measured:
        told = "nothing was compared" + (": no compilation has numbers on both sides" if diff.pairs else "")
    return f"{', '.join(counts) or 'no rule fired'}; {told}"


def rest(diff: Diff, *, code: bool = False) -> list[str]:
    """What else differs, with numbers and no verdict, what the policy ignores, and what is the same.

    Args:
        code: Each with its machine code, as a diff; else those beyond the eighth are counted.
    """
    other = diff.differing
    named = other if code else other[:_NAMED]
    lines = []
    for pair in named:
        lines.append(f"the code differs, and no rule fired for it: {pair.key}: {in_words(pair)}")
        lines += [f"    {line}" for line in code_lines(pair)] if code else []
    if left := len(other) - len(named):
        lines.append(f"and {counted(left, 'more compilation')}: --json has them, with their numbers")
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


def _cell(text: str) -> str:
    cut = text if len(text) <= _LONGEST else f"{text[: _LONGEST - 3]}..."
    return html.escape(" ".join(cut.split()), quote=False).translate({ord("|"): "&#124;", ord("@"): "&#64;"})
