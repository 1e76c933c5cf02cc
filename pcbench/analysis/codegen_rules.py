"""Which differences between two sides' compilations matter: the rules, and what they say. Numbers are in Policy."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace

from pcbench.analysis.codegen_changes import NAME, Change, Weight, worst_first
from pcbench.analysis.codegen_confirming import looked_at
from pcbench.analysis.codegen_metrics import judged
from pcbench.analysis.codegen_pairs import Pair, PairedRows, pair_up
from pcbench.analysis.codegen_rows import CodegenRow, Key
from pcbench.analysis.policy import Policy
from pcbench.analysis.selection import names
from pcbench.status import Status


@dataclass(frozen=True)
class Compared:
    """What two sides' rows come to.

    Attributes:
        pairs: The compilations that both have, and that were judged.
        missing: The baseline's rows that the candidate has not, and that were judged; ``new`` the other way round.
        changes: What changed, worst first.
        ignored: The compilations, of either side, that the policy has nobody judge.
    """

    pairs: tuple[Pair, ...]
    missing: tuple[CodegenRow, ...]
    new: tuple[CodegenRow, ...]
    changes: tuple[Change, ...]
    ignored: tuple[Key, ...]


def compare(baseline: Sequence[CodegenRow], candidate: Sequence[CodegenRow], policy: Policy) -> Compared:
    """What changed, worst first, each compilation by its own policy, as :func:`policy_of_row` has it.

    Nothing is said of machine code that is the same to the bit, but that its kernel is called otherwise. Less of
    something, instructions or registers, say, is never called better: it has been four times slower.
    """
    paired = pair_up(baseline, candidate)
    alone = (paired.missing, paired.new, paired.broken_baseline, paired.broken_candidate)
    keys = {pair.key for pair in paired.pairs} | {row.key for rows in alone for row in rows}
    policies = {key: policy_of_row(policy, key) for key in keys}
    ignored = {key for key, own in policies.items() if own.ignore}
    pairs = tuple(pair for pair in paired.pairs if pair.key not in ignored)
    found = [change for pair in pairs for change in _of_pair(pair, policies[pair.key])]
    found += [change for change in _unpaired(paired, candidate) if change.key not in ignored]
    missing, new = (tuple(row for row in rows if row.key not in ignored) for rows in (paired.missing, paired.new))
    return Compared(pairs, missing, new, worst_first(_with_looks(found)), tuple(sorted(ignored)))


def policy_of_row(policy: Policy, key: Key) -> Policy:
    """The policy of one compilation: a pattern names it by its kernel, or by its key in words; later patterns win."""
    found = policy
    for pattern, values in policy.overrides:
        if names(pattern, key.kernel) or names(pattern, str(key)):
            found = replace(found, **values)
    return found


def _of_pair(pair: Pair, policy: Policy) -> list[Change]:
    before, after = pair.baseline, pair.candidate
    if before.status is Status.OK and after.status is Status.OK:
        found = [] if pair.same_code else judged(pair, policy)
    elif before.status is Status.OK:
        weight = Weight.HARD if after.status is Status.COMPILE_FAILED else Weight.UNKNOWN
        found = [Change(pair.key, "compiles", weight, f"no longer: {_why(after)}", _LOOK)]
    elif after.status is Status.OK:
        sentence = f"compiles now; the baseline did not: {_why(before)}"
        found = [Change(pair.key, "compiles", Weight.NOTE, sentence, _LOOK)]
    elif before.status is after.status is Status.UNAVAILABLE and before.reason == after.reason:
        found = []
    elif before.status is after.status is Status.COMPILE_FAILED and before.reason == after.reason:
        sentence = f"neither side compiles, for the same reason: {_why(after)}"
        found = [Change(pair.key, "compiles", Weight.NOTE, sentence, _LOOK)]
    else:
        sentence = f"neither side compiles: {_why(after)}"
        sentence += "" if _why(before) == _why(after) else f"; the baseline: {_why(before)}"
        found = [Change(pair.key, "compiles", Weight.UNKNOWN, sentence, _LOOK)]
    if pair.renamed and (found or pair.other_kernel):
        found.append(Change(pair.key, NAME, Weight.NOTE, pair.renamed, "nothing: what was compared is said"))
    return found


def _unpaired(paired: PairedRows, candidate: Sequence[CodegenRow]) -> list[Change]:
    found = []
    stated = {_unavailable(row) for row in paired.broken_baseline} & {
        _unavailable(row) for row in paired.broken_candidate
    }
    for side, rows in (("baseline", paired.broken_baseline), ("candidate", paired.broken_candidate)):
        found += [
            Change(row.key, "compiles", Weight.UNKNOWN, f"the {side}: {_why(row)}", _LOOK)
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
        found.append(Change(row.key, "configurations" if lost else "rows", weight, sentence, _LOOK))
    for row in paired.new:
        if not _explained(row, paired.broken_baseline):
            found.append(Change(row.key, "rows", Weight.NOTE, "NEW: the candidate alone has it", _LOOK))
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


_LOOK = ""
"""Stands for the command that shows what the compiler says, until it is known for which targets."""


def _with_looks(changes: Sequence[Change]) -> list[Change]:
    """The same, each that is to be looked at with the one command that shows it for all targets that it is said of."""
    alike: dict[tuple[str, ...], list[Key]] = defaultdict(list)
    for change in changes:
        alike[_said(change)].append(change.key)
    return [
        replace(change, confirm=looked_at(alike[_said(change)])) if change.confirm == _LOOK else change
        for change in changes
    ]


def _said(change: Change) -> tuple[str, ...]:
    return change.key.kernel, change.rule, change.weight, change.sentence
