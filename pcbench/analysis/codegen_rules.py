"""Which differences between two sides' compilations matter: the rules, and what they say. Numbers are in Policy."""

from __future__ import annotations

from collections.abc import Sequence

from pcbench.analysis.codegen_changes import Change, Weight, worst_first
from pcbench.analysis.codegen_metrics import judged
from pcbench.analysis.codegen_pairs import Pair, PairedRows, pair_up
from pcbench.analysis.codegen_rows import CodegenRow, Key
from pcbench.analysis.policy import Policy
from pcbench.status import Status


def compare(baseline: Sequence[CodegenRow], candidate: Sequence[CodegenRow], policy: Policy) -> tuple[Change, ...]:
    """What changed, worst first. Nothing is said of machine code that is the same to the bit.

    Less of something, instructions or registers, say, is never called better: it has been four times slower.
    """
    paired = pair_up(baseline, candidate)
    found = [change for pair in paired.pairs for change in _of_pair(pair, policy)]
    found += _unpaired(paired, candidate)
    return worst_first(found)


def _of_pair(pair: Pair, policy: Policy) -> list[Change]:
    before, after = pair.baseline, pair.candidate
    if before.status is Status.OK and after.status is Status.OK:
        found = [] if pair.same_code else judged(pair, policy)
    elif before.status is Status.OK:
        weight = Weight.HARD if after.status is Status.COMPILE_FAILED else Weight.UNKNOWN
        found = [Change(pair.key, "compiles", weight, f"no longer: {_why(after)}", _look(pair.key))]
    elif after.status is Status.OK:
        sentence = f"compiles now; the baseline did not: {_why(before)}"
        found = [Change(pair.key, "compiles", Weight.NOTE, sentence, _look(pair.key))]
    elif before.status is after.status is Status.UNAVAILABLE and before.reason == after.reason:
        found = []
    else:
        sentence = f"neither side compiles: {_why(after)}"
        sentence += "" if _why(before) == _why(after) else f"; the baseline: {_why(before)}"
        found = [Change(pair.key, "compiles", Weight.UNKNOWN, sentence, _look(pair.key))]
    if found and pair.renamed:
        found.append(Change(pair.key, "name", Weight.NOTE, pair.renamed, "nothing: what was compared is said"))
    return found


def _unpaired(paired: PairedRows, candidate: Sequence[CodegenRow]) -> list[Change]:
    found = []
    stated = {_unavailable(row) for row in paired.broken_baseline} & {
        _unavailable(row) for row in paired.broken_candidate
    }
    for side, rows in (("baseline", paired.broken_baseline), ("candidate", paired.broken_candidate)):
        found += [
            Change(row.key, "compiles", Weight.UNKNOWN, f"the {side}: {_why(row)}", _look(row.key))
            for row in rows
            if _unavailable(row) is None or _unavailable(row) not in stated
        ]
    kept = {_launch(row.key) for row in candidate if row.status is Status.OK}
    for row in paired.missing:
        if _explained(row, paired.broken_candidate):
            continue
        lost = row.status is Status.OK and _launch(row.key) in kept
        sentence = "a configuration that the baseline has is gone" if lost else "MISSING: the baseline alone has it"
        weight = Weight.HARD if lost else Weight.UNKNOWN if row.status is Status.OK else Weight.NOTE
        found.append(Change(row.key, "configurations" if lost else "rows", weight, sentence, _look(row.key)))
    for row in paired.new:
        if not _explained(row, paired.broken_baseline):
            found.append(Change(row.key, "rows", Weight.NOTE, "NEW: the candidate alone has it", _look(row.key)))
    return found


def _unavailable(row: CodegenRow) -> tuple[Key, str | None] | None:
    """What a row that is unavailable states; None for another: two crashes are not the same one."""
    return (row.key, row.reason) if row.status is Status.UNAVAILABLE else None


def _explained(row: CodegenRow, broken: Sequence[CodegenRow]) -> bool:
    """Whether the side that lacks a row has said why, of its kernel as a whole or of its shape."""
    return any(
        told.kernel == row.key.kernel
        and told.target in ("", row.key.target)
        and (told.sizes, told.dtype) in (("", ""), (row.key.sizes, row.key.dtype))
        for told in (one.key for one in broken)
    )


def _launch(key: Key) -> tuple[str, ...]:
    return key.kernel, key.function, key.sizes, key.dtype, key.target


def _why(row: CodegenRow) -> str:
    return f"{row.status}: {row.reason or 'no reason was given'}"


def _look(key: Key) -> str:
    where = f" --target {key.target}" if key.target else ""
    return f"`pcbench codegen {key.kernel}{where} --configs all` on either side shows what the compiler says"
