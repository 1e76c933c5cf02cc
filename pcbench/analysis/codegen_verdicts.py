"""The verdict on a number of machine code: by the rules of ``pcbench codegen diff``, where both runs have rows.

Each rule belongs to one benchmark, so that what fires is said once. A slower compile belongs to none: the seconds of
compiling are judged as times are.
"""

from __future__ import annotations

from collections.abc import Sequence

from pcbench.analysis.codegen_changes import COMPILE_TIME, Change, Weight
from pcbench.analysis.codegen_metrics import THRESHOLDS
from pcbench.analysis.codegen_rules import Compared, compare
from pcbench.analysis.policy import Policy
from pcbench.analysis.quantities import counted, listed, quantity
from pcbench.analysis.records import Case, Measurement, Run, Verdict
from pcbench.analysis.stored_rules import Said, judge_stored
from pcbench.codegen_numbers import QUANTITIES, number_of
from pcbench.status import Status

_OF_RULE = {
    "spills": "spills",
    "occupancy": "inverse occupancy",
    "fits": "inverse occupancy",
    "registers": "registers",
}
"""Which number a rule belongs to; those that are not named belong to the instructions, but for the compile time."""
_OTHERS = "instructions"
_GAINS = {
    "spills": ("spills", "registers spill less"),
    "inverse occupancy": ("occupancy", "more warps are resident"),
}
"""Numbers of which less may be better, with their rule and what is then said; the others have fallen and cost time."""
_VERDICTS = ((Weight.HARD, Verdict.SLOWER), (Weight.UNKNOWN, Verdict.UNJUDGED), (Weight.SOFT, Verdict.INCONCLUSIVE))
_EXACT = "exact"
_BY_DIFF = "`pcbench codegen diff` of both sides"
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
    if before.codegen not in QUANTITIES:
        return _unknown(before.codegen)
    found = compare(baseline, candidate, policy)
    fired = [
        change
        for change in found.changes
        if change.rule != COMPILE_TIME and _OF_RULE.get(change.rule, _OTHERS) == before.codegen
    ]
    numbers = "" if now is None else f"{quantity(before.value, '')} -> {quantity(now.value, now.unit)}; "
    for weight, verdict in _VERDICTS:
        these = [change for change in fired if change.weight is weight]
        if these:
            return Said(verdict, numbers + _sentences(these), _rules(these, policy), these[0].confirm)
    return _unless_a_gain(before.codegen, found, numbers, fired)


def judge_without_rows(before: Measurement, now: Measurement, policy: Policy) -> Said:
    """The verdict on two stored numbers of a case, baseline first, where :func:`judge_codegen` has none.

    More registers or instructions may cost nothing, and fewer are no gain by themselves; as many instructions may be
    others, which narrow accesses, for one, do not add to.

    Args:
        policy: The case's own.
    """
    said, what = judge_stored(before, now, policy), before.codegen
    if what not in ("", *QUANTITIES):
        return _unknown(what)
    if what in ("", *_GAINS) or (said.verdict is Verdict.SAME and what != _OTHERS):
        return said
    if said.verdict not in (Verdict.SLOWER, Verdict.FASTER, Verdict.CHANGED, Verdict.SAME):
        return said
    return Said(Verdict.INCONCLUSIVE, f"{said.reason}; {UNTOLD}", said.rule, _BY_DIFF)


def _unknown(what: str) -> Said:
    known = f"its benchmark says codegen = {what!r}; this pcbench knows {listed(QUANTITIES)}"
    return Said(Verdict.UNJUDGED, f"{known}: take one that knows it, or mend the benchmark", "")


def _unless_a_gain(what: str, found: Compared, numbers: str, notes: Sequence[Change]) -> Said:
    """SAME, or FASTER where a number fell of which less may be better; of rows that both sides have and are judged.

    Where there are none of these, INCONCLUSIVE.
    """
    both = [pair for pair in found.pairs if pair.baseline.status is pair.candidate.status is Status.OK]
    one, other = (
        number_of(what, [row.metrics for row in side])
        for side in ([pair.baseline for pair in both], [pair.candidate for pair in both])
    )
    if what in _GAINS and one is not None and other is not None and other < one:
        rule, sentence = _GAINS[what]
        return Said(Verdict.FASTER, f"{numbers}{sentence}", f"codegen rule {rule} ({_EXACT})")
    said = [_sentences(notes)] if notes else []
    said += [f"the policy ignores {counted(len(found.ignored), 'compilation')}"] if found.ignored else []
    if not found.pairs:
        why = "; ".join(["no compilation of one side was compared with one of the other", *said])
        return Said(Verdict.INCONCLUSIVE, numbers + why, "codegen rules", _BY_DIFF)
    if all(pair.same_code for pair in found.pairs) and not (found.missing or found.new):
        return Said(Verdict.SAME, "; ".join(["the same machine code", *said]), "codegen rules")
    differing, alone = sum(not pair.same_code for pair in found.pairs), len(found.missing) + len(found.new)
    words = [f"the code of {counted(differing, 'compilation')} differs, and no rule fired"] if differing else []
    words += [f"{counted(alone, 'compilation')} of one side alone"] if alone else []
    verdict = Verdict.INCONCLUSIVE if found.missing else Verdict.SAME
    return Said(verdict, numbers + "; ".join([*words, *said]), "codegen rules", _BY_DIFF if found.missing else "")


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
    share: float | None = getattr(policy, THRESHOLDS[rule]) if rule in THRESHOLDS else None
    return _EXACT if share is None else f"beyond {share:.0%}"
