"""The rules for two compilations that both succeeded, metric by metric."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping

from pcbench.analysis.codegen_changes import COMPILE_TIME, Change, Weight
from pcbench.analysis.codegen_confirming import COMPILED_AGAIN, MEASURED_ALIKE, timed
from pcbench.analysis.codegen_pairs import Pair
from pcbench.analysis.policy import Policy
from pcbench.analysis.quantities import digits, listed, seconds

_SPILLS = ("spill_stores", "spill_loads", "spill_store_bytes", "spill_load_bytes")
_GROWTHS = (
    ("registers", "registers", "registers", "codegen_registers"),
    ("shared_bytes", "shared memory", "bytes of shared memory", "codegen_shared"),
    ("sass", "instructions", "machine instructions", "codegen_sass"),
    ("barriers", "barriers", "barriers", "codegen_barriers"),
    ("ptx", "ptx", "PTX instructions", "codegen_ptx"),
)
"""Metric, rule, words and the threshold's name, of what is to be looked at where it grew."""
THRESHOLDS: Mapping[str, str] = {"global": "codegen_global", **{rule: name for _, rule, _, name in _GROWTHS}}
"""Rule to the share that it has in the policy; any change at all fires the others, but for layouts."""

_USED = (
    *_SPILLS,
    *(metric for metric, *_ in _GROWTHS),
    *("blocks_per_sm", "occupancy", "mma", "async_copies", "global_access", "global_128", "convert_layout"),
)
_CONFIRMED_BY = {COMPILE_TIME: COMPILED_AGAIN, "metrics": MEASURED_ALIKE}
"""Rules that no GPU confirms."""
_GONE = ("fits", "matrix", "copies", "warnings")
"""Rules about something that is there or not."""
_METRIC_OF = {
    **{rule: (metric, False) for metric, rule, *_ in _GROWTHS},
    "global": ("global_access", False),
    "occupancy": ("occupancy", True),
    "width": ("global_128", True),
}
"""Rule to the metric that says how much worse it got, and whether that falls."""
_TILE = re.compile(r"_\d+x\d+x\d+(_\d+b(?=_))?_?")
"""The tile in AMD's names of matrix instructions: ``v_mfma_f32_32x32x8_f16``, or ``v_mfma_f32_32x32x4_2b_f16``."""
_QUOTED_OR_COUNTED = re.compile(r"'[^']*'|\"[^\"]*\"|\b\d+\b")

_Found = tuple[str, Weight, str]
"""Rule, weight and sentence."""


def judged(pair: Pair, policy: Policy) -> list[Change]:
    """What every rule says of a pair whose sides both compiled."""
    rules: tuple[Callable[[Pair, Policy], list[_Found]], ...] = (
        _spills,
        _residency,
        _matrix,
        _copies,
        _width,
        _accesses,
        _growths,
        _warnings,
        _layouts,
        _compile_time,
        _unknown,
    )
    return [
        Change(pair.key, rule, weight, sentence, _CONFIRMED_BY.get(rule) or timed(pair.key), _times(pair, rule, weight))
        for judge in rules
        for rule, weight, sentence in judge(pair, policy)
    ]


def _times(pair: Pair, rule: str, weight: Weight) -> float:
    """By how many times what a rule is about got worse, as :class:`Change` has it; of spills also from none on."""
    if rule in _GONE and weight is Weight.HARD:
        return math.inf
    if rule == "spills":
        found = [both for metric in _SPILLS if (both := _both(pair, metric)) is not None]
        return (1 + sum(after for _, after in found)) / (1 + sum(before for before, _ in found))
    metric, falls = _METRIC_OF.get(rule, ("", False))
    if rule == COMPILE_TIME:
        before, after = pair.baseline.compile_cpu_s or 1.0, pair.candidate.compile_cpu_s or 1.0
    else:
        before, after = _both(pair, metric) or (1.0, 1.0)
    if falls:
        before, after = after, before
    return after / before if before else math.inf


def _both(pair: Pair, metric: str) -> tuple[float, float] | None:
    """The two numbers; None where a side does not know it."""
    before, after = pair.baseline.metrics.get(metric), pair.candidate.metrics.get(metric)
    return None if before is None or after is None else (before, after)


def _spills(pair: Pair, policy: Policy) -> list[_Found]:  # noqa: ARG001  # one signature for all rules
    said = []
    for metric in _SPILLS:
        found = _both(pair, metric)
        if found is not None and found[1] > found[0]:
            said.append(f"{metric.replace('_', ' ')} from {digits(found[0])} to {digits(found[1])}")
    return [("spills", Weight.HARD, f"registers spill more: {listed(said)}")] if said else []


def _residency(pair: Pair, policy: Policy) -> list[_Found]:  # noqa: ARG001
    """Blocks per SM, where they are blocks of as many warps; else the share of warps that is resident."""
    blocks, shares, warps = (_both(pair, metric) for metric in ("blocks_per_sm", "occupancy", "warps"))
    limit = pair.candidate.words.get("occupancy_limit")
    why = f", limited by {limit.removeprefix('does not fit: ')}" if limit else ""
    if blocks is not None and blocks[0] > 0 and blocks[1] == 0:
        return [("fits", Weight.HARD, f"no longer fits: {digits(blocks[0])} blocks per SM before, now none{why}")]
    if blocks is not None and (warps is None or warps[0] == warps[1]):
        fell, what = blocks[1] < blocks[0], f"blocks per SM fell from {digits(blocks[0])} to {digits(blocks[1])}"
    elif shares is not None:
        fell, what = shares[1] < shares[0], f"occupancy fell from {shares[0]:.3g} to {shares[1]:.3g}"
    else:
        return []
    return [("occupancy", Weight.HARD, what + why + _cause(pair))] if fell else []


def _cause(pair: Pair) -> str:
    """The numbers that residency hangs on and that rose."""
    said = []
    for metric, words in (("registers", "registers"), ("shared_bytes", "bytes of shared memory"), ("warps", "warps")):
        found = _both(pair, metric)
        if found is not None and found[1] > found[0]:
            said.append(f"{words} {digits(found[0])} to {digits(found[1])}")
    return f" ({', '.join(said)})" if said else ""


def _matrix(pair: Pair, policy: Policy) -> list[_Found]:  # noqa: ARG001
    found = _both(pair, "mma")
    if found is not None and found[0] > 0 and found[1] == 0:
        return [("matrix", Weight.HARD, f"matrix instructions are gone: {digits(found[0])} before, now 0")]
    before, after = (row.words.get("mma_class") for row in (pair.baseline, pair.candidate))
    if not before or not after or before == after:
        return []
    tile = _kinds(before) == _kinds(after)
    what = f"of another {'tile' if tile else 'kind'}: {before} before, now {after}"
    return [("matrix", Weight.SOFT if tile else Weight.HARD, f"matrix instructions are {what}")]


def _kinds(opcodes: str) -> frozenset[str]:
    """What is multiplied by opcodes that are joined by ``+``, whatever the tiles."""
    return frozenset(_TILE.sub("_", opcode) for opcode in opcodes.split("+"))


def _copies(pair: Pair, policy: Policy) -> list[_Found]:  # noqa: ARG001
    found = _both(pair, "async_copies")
    if found is None or found[0] == 0 or found[1] > 0:
        return []
    return [("copies", Weight.HARD, f"asynchronous copies are gone: {digits(found[0])} before, now 0")]


def _width(pair: Pair, policy: Policy) -> list[_Found]:  # noqa: ARG001
    """128-bit accesses that are fewer: others in their place are narrower ones, and none may be a read less."""
    wide, every = _both(pair, "global_128"), _both(pair, "global_access")
    if wide is None or wide[1] >= wide[0]:
        return []
    sentence = f"accesses of 128 bits and more fell from {digits(wide[0])} to {digits(wide[1])}"
    if every is not None and every[1] - wide[1] <= every[0] - wide[0]:
        return [("width", Weight.SOFT, f"{sentence}, with no others in their place")]
    others = "" if every is None else f", others rose from {digits(every[0] - wide[0])} to {digits(every[1] - wide[1])}"
    return [("width", Weight.HARD, sentence + others)]


def _accesses(pair: Pair, policy: Policy) -> list[_Found]:
    """Accesses that a warp makes; where blocks have another number of warps, those of a block, which share its work."""
    found, warps, words = _both(pair, "global_access"), _both(pair, "warps"), "accesses to global memory"
    if found is not None and warps is not None and warps[0] != warps[1]:
        found, words = (found[0] * warps[0], found[1] * warps[1]), f"{words} by the warps of a block"
    if found is None or not _beyond(*found, policy.codegen_global):
        return []
    return [("global", Weight.HARD, _grew(words, *found, policy.codegen_global))]


def _growths(pair: Pair, policy: Policy) -> list[_Found]:
    said = []
    for metric, rule, words, name in _GROWTHS:
        found, threshold = _both(pair, metric), getattr(policy, name)
        if found is not None and _beyond(*found, threshold):
            said.append((rule, Weight.SOFT, _grew(words, *found, threshold)))
    return said


def _beyond(before: float, after: float, threshold: float) -> bool:
    return after - before * (1 + threshold) > 1e-9 * before  # 460 is not beyond 400 * 1.15, which is 459.99...


def _grew(words: str, before: float, after: float, threshold: float) -> str:
    return f"{words} grew from {digits(before)} to {digits(after)}{_share(before, after, threshold)}"


def _share(before: float, after: float, threshold: float) -> str:
    """`` (+33%, beyond 25%)``, with a decimal where it would show as the threshold; empty for a share of none."""
    if not before:
        return ""
    grown, limit = after / before - 1, f"{threshold:.0%}"
    return f" (+{grown:.{1 if f'{grown:.0%}' == limit else 0}%}, beyond {limit})"


def _warnings(pair: Pair, policy: Policy) -> list[_Found]:  # noqa: ARG001
    """Warnings of a kind that the baseline has none of: what is quoted and counted in one may differ."""
    known = {_QUOTED_OR_COUNTED.sub("", line) for line in pair.baseline.warnings}
    new = [line for line in pair.candidate.warnings if _QUOTED_OR_COUNTED.sub("", line) not in known]
    counts = f"{len(pair.baseline.warnings)} before, now {len(pair.candidate.warnings)}"
    return [("warnings", Weight.HARD, f"the assembler warns anew ({counts}): {line}") for line in dict.fromkeys(new)]


def _layouts(pair: Pair, policy: Policy) -> list[_Found]:
    found = _both(pair, "convert_layout")
    if found is None or found[1] < found[0] + policy.codegen_layouts:
        return []
    sentence = f"conversions between layouts grew from {digits(found[0])} to {digits(found[1])}"
    return [("layouts", Weight.SOFT, sentence)]


def _compile_time(pair: Pair, policy: Policy) -> list[_Found]:
    before, after = pair.baseline.compile_cpu_s, pair.candidate.compile_cpu_s
    if not before or after is None or after - before < policy.codegen_compile_s:
        return []
    if not _beyond(before, after, policy.codegen_compile):
        return []
    share = _share(before, after, policy.codegen_compile)
    return [(COMPILE_TIME, Weight.SOFT, f"a compile took {seconds(after)} of CPU, not {seconds(before)}{share}")]


def _unknown(pair: Pair, policy: Policy) -> list[_Found]:  # noqa: ARG001
    sides = {"the baseline": pair.baseline.metrics, "the candidate": pair.candidate.metrics}
    said = []
    for side, other in (tuple(sides), tuple(sides)[::-1]):
        lacking = [metric for metric in _USED if metric in sides[other] and metric not in sides[side]]
        if lacking:
            said.append(f"{side} does not tell {listed(lacking)}")
    return [("metrics", Weight.UNKNOWN, "; ".join(said))] if said else []
