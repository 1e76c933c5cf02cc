"""The verdict on a number of machine code: by the rules of ``pcbench codegen diff``, where both runs have rows.

Each rule belongs to one benchmark, so that what fires is said once. A slower compile belongs to none: the seconds of
compiling are judged as times are.
"""

from __future__ import annotations

from collections.abc import Sequence

from pcbench.analysis.codegen_changes import Change, Weight
from pcbench.analysis.codegen_pairs import PairedRows, pair_up
from pcbench.analysis.codegen_rules import compare
from pcbench.analysis.policy import Policy
from pcbench.analysis.quantities import counted, listed, quantity
from pcbench.analysis.records import Case, Measurement, Run, Verdict
from pcbench.analysis.stored_rules import Said
from pcbench.codegen_numbers import number_of
from pcbench.status import Status

_OF_RULE = {
    "spills": "spills",
    "occupancy": "inverse occupancy",
    "fits": "inverse occupancy",
    "registers": "registers",
    "compile time": "seconds of compiling",
}
"""Which number a rule belongs to; those that are not named belong to the instructions."""
_OTHERS = "instructions"
_GAINS = {
    "spills": ("spills", "registers spill less"),
    "inverse occupancy": ("occupancy", "more warps are resident"),
}
"""Numbers of which less may be better, with their rule and what is then said; the others have fallen and cost time."""
_VERDICTS = ((Weight.HARD, Verdict.SLOWER), (Weight.UNKNOWN, Verdict.UNJUDGED), (Weight.SOFT, Verdict.INCONCLUSIVE))
_SHARES = {
    "global": "codegen_global",
    "registers": "codegen_registers",
    "shared memory": "codegen_shared",
    "instructions": "codegen_sass",
    "barriers": "codegen_barriers",
    "ptx": "codegen_ptx",
}
"""Rule to the threshold that it has in the policy; any change at all fires the others, but for layouts."""
_EXACT = "exact"
UNTOLD = "the number alone does not tell: pcbench codegen diff judges the machine code"


def judge_codegen(
    case: Case, before: Measurement, now: Measurement | None, runs: tuple[Run, Run], policy: Policy
) -> Said | None:
    """What the rules say of a case, baseline first; None where it is no such number or a run has no rows of it.

    Args:
        case: Its parameters ``kernel`` and ``target`` name the rows.
        now: None where the candidate has no number, as of what does not compile.
        policy: The case's own.
    """
    named = case.param("kernel") or "", case.param("target") or ""
    baseline, candidate = (run.codegen.get(named, ()) for run in runs)
    if not before.codegen or not baseline or not candidate:
        return None
    fired = [
        change
        for change in compare(baseline, candidate, policy).changes
        if _OF_RULE.get(change.rule, _OTHERS) == before.codegen
    ]
    numbers = "" if now is None else f"{quantity(before.value, '')} -> {quantity(now.value, now.unit)}; "
    for weight, verdict in _VERDICTS:
        these = [change for change in fired if change.weight is weight]
        if these:
            return Said(verdict, numbers + _sentences(these), _rules(these, policy), these[0].confirm)
    return _unless_a_gain(before.codegen, pair_up(baseline, candidate), numbers, fired)


def without_rows(said: Said, what: str) -> Said:
    """The verdict on two numbers ``what`` of machine code that nobody has rows of, where they do not decide it.

    More registers or instructions may cost nothing, and fewer are no gain by themselves.
    """
    if what in ("", *_GAINS) or said.verdict is Verdict.SAME:
        return said
    return Said(Verdict.INCONCLUSIVE, f"{said.reason}; {UNTOLD}", said.rule)


def _unless_a_gain(what: str, paired: PairedRows, numbers: str, notes: Sequence[Change]) -> Said:
    """SAME, or FASTER where a number fell of which less may be better; of rows that both sides have."""
    both = [pair for pair in paired.pairs if pair.baseline.status is pair.candidate.status is Status.OK]
    one, other = (
        number_of(what, [row.metrics for row in side])
        for side in ([pair.baseline for pair in both], [pair.candidate for pair in both])
    )
    if what in _GAINS and one is not None and other is not None and other < one:
        rule, sentence = _GAINS[what]
        return Said(Verdict.FASTER, f"{numbers}{sentence}", f"codegen rule {rule} ({_EXACT})")
    said = [_sentences(notes)] if notes else []
    if all(pair.same_code for pair in paired.pairs) and not (paired.missing or paired.new):
        return Said(Verdict.SAME, "; ".join(["the same machine code", *said]), "codegen rules")
    differing = counted(sum(not pair.same_code for pair in paired.pairs), "compilation")
    return Said(
        Verdict.SAME,
        numbers + "; ".join([f"the code of {differing} differs, and no rule fired", *said]),
        "codegen rules",
    )


def _sentences(changes: Sequence[Change]) -> str:
    """Of each rule the first sentence, with the compilation that it is of, and of how many more it has one."""
    found: dict[str, list[Change]] = {}
    for change in changes:
        found.setdefault(change.rule, []).append(change)
    return "; ".join(f"{these[0].sentence} ({_where(these)})" for these in found.values())


def _where(changes: Sequence[Change]) -> str:
    key = changes[0].key
    function = "" if key.function.strip("_") == key.kernel else key.function
    words = " ".join(filter(None, (function, key.dtype, key.sizes))) or key.kernel
    more = len({change.key for change in changes}) - 1
    return f"{words}; {counted(more, 'more compilation')} alike" if more else words


def _rules(changes: Sequence[Change], policy: Policy) -> str:
    """``codegen rules width (exact) and global (beyond 25%)``."""
    said = [f"{rule} ({_threshold(rule, policy)})" for rule in dict.fromkeys(change.rule for change in changes)]
    return f"codegen {'rule' if len(said) == 1 else 'rules'} {listed(said)}"


def _threshold(rule: str, policy: Policy) -> str:
    if rule == "layouts":
        return f"{policy.codegen_layouts} more"
    share: float | None = getattr(policy, _SHARES[rule]) if rule in _SHARES else None
    return _EXACT if share is None else f"beyond {share:.0%}"
