"""Verdicts of ``pcbench ab`` on sides of which it is known what was planted in them, comparison by comparison."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path

from pcbench import sides
from pcbench.analysis import pairs
from pcbench.analysis.paired_verdicts import judge_paired, rule_of
from pcbench.analysis.pairs import log_ratios
from pcbench.analysis.policy import Policy
from pcbench.analysis.selftest_pairs import CHECKS, LOADS, Trial
from pcbench.commands import _pooled_rules, _selftest_checks, _selftest_loads
from pcbench.commands._pair_processes import Listed, listed
from pcbench.commands._pairing import Progress, measure
from pcbench.errors import PcbenchError
from pcbench.paired import Paired
from pcbench.sides import Asked, Ready, Suite

_LOAD_LIMIT_S = 300.0

WriteSide = Callable[[Path, Mapping[str, float]], Path]
"""Writes a side's folder, given what is planted in which case."""


@dataclass(frozen=True)
class Ground:
    """A suite, and how to write sides for it.

    Attributes:
        kind: Of its trials.
        cases: Ids of its cases.
        folder: Where sides are written, each comparison's in a folder of its own.
    """

    kind: str
    suite: Suite
    cases: tuple[str, ...]
    write_side: WriteSide
    folder: Path


def checks_in(folder: Path, checks: Sequence[str]) -> Ground:
    """The small checks of these names."""
    package = _selftest_checks.PACKAGE
    suite = Suite(_selftest_checks.write_suite(folder, checks), {package: package})
    names = {_selftest_checks.case_of(check): check for check in checks}

    def write(side: Path, planted: Mapping[str, float]) -> Path:
        return _selftest_checks.write_side(side, {names[case]: size for case, size in planted.items()})

    return Ground(CHECKS, suite, tuple(names), write, folder)


def loads_in(folder: Path) -> Ground:
    """The loads, of which all have the same planted in a comparison."""
    package = _selftest_loads.PACKAGE
    suite = Suite(_selftest_loads.write_suite(folder), {package: package}, timeout_s=_LOAD_LIMIT_S)

    def write(side: Path, planted: Mapping[str, float]) -> Path:
        # Written once: compiling its modules anew for each comparison would take longer than measuring them.
        size = max(planted.values(), default=0.0)
        tree = folder / f"{side.name}-{size:.3f}"
        return tree if tree.is_dir() else _selftest_loads.write_side(tree, size)

    cases = tuple(f"{_selftest_loads.SUITE}.track_{name}" for name in _selftest_loads.LOADS)
    return Ground(LOADS, suite, cases, write, folder)


def trials(
    ground: Ground,
    planted: Mapping[str, float],
    policy: Policy,
    same_code: Mapping[str, Sequence[float]],
    tell: Callable[[Progress], None],
) -> Iterator[Trial]:
    """Measure the cases of one comparison, in new folders, with new processes; each comes when all are settled.

    At Ctrl-C those that are settled come, too; then KeyboardInterrupt goes on.

    Args:
        planted: What is planted in which case; the others are not measured.
        same_code: ln ratios of pairs of the same code on record, by case.

    Raises:
        PcbenchError: A case could not be measured.
    """
    folder = ground.folder / "comparison"
    found: list[Paired] = []
    with ExitStack() as stack:
        stack.callback(shutil.rmtree, folder, ignore_errors=True)
        # Names of one length, as the sides' own: paths are part of what a process holds.
        trees = (ground.write_side(folder / "a-tree", {}), ground.write_side(folder / "b-tree", planted))
        asked = (Asked(str(tree)) for tree in trees)
        pair = stack.enter_context(sides.both(ground.folder, ground.suite, folder, *asked))
        baseline, candidate = (_watched(ready) for ready in pair)
        cases = _cases(baseline, planted)
        known = {case.versioned: same_code[str(case.case)] for case in cases if str(case.case) in same_code}
        started = time.monotonic()
        interrupt: KeyboardInterrupt | None = None
        try:
            for each in measure(baseline, candidate, cases, policy, same_code=known, tell=tell):
                found.append(each)  # what came before Ctrl-C is kept
        except KeyboardInterrupt as error:
            interrupt = error
        spent_s = time.monotonic() - started
        pot = [_samples(ready) for ready in (baseline, candidate)]
        taken = sum(len(look.pairs) for each in found for look in each.looks)
        for each in found:
            trial = _trial(each, planted[each.case], policy, same_code.get(each.case, ()), pot)
            if trial is not None:
                yield replace(trial, kind=ground.kind, recorded=bool(same_code), seconds=spent_s * trial.pairs / taken)
        if interrupt is not None:
            raise interrupt


def _watched(ready: Ready) -> Ready:
    """The side, with its blocks kept."""
    return replace(ready, variables={**ready.variables, _pooled_rules.VARIABLE: str(_blocks(ready))})


def _blocks(ready: Ready) -> Path:
    return ready.folder / "blocks"


def _samples(ready: Ready) -> dict[str, list[list[float]]]:
    """By case, the samples of each process; none where the suite has no timed ones."""
    return _pooled_rules.read(_blocks(ready)) if _blocks(ready).is_file() else {}


def _cases(baseline: Ready, planted: Mapping[str, float]) -> list[Listed]:
    known = {str(each.case): each for each in listed(baseline)}
    return [known[case] for case in planted]


def _trial(
    paired: Paired,
    size: float,
    policy: Policy,
    same_code: Sequence[float],
    pot: Sequence[Mapping[str, Sequence[Sequence[float]]]],
) -> Trial | None:
    """None where it was interrupted before it was settled."""
    verdict, said, _ = judge_paired(paired, policy, same_code)
    if paired.failed:
        raise PcbenchError(f"the selftest's {paired.case} could not be measured: {said}")
    looks = [log_ratios(look.pairs) for look in paired.looks]
    if not any(looks):
        return None
    rule = rule_of(paired, policy, same_code)
    if pairs.verdict(looks, rule)[0] is None:
        return None
    ratios = tuple(ratio for look in looks for ratio in look)
    taken = [each.get(paired.case, [])[: len(ratios)] for each in pot]
    others = _pooled_rules.said(*taken) if all(taken) else {}
    return Trial(paired.case, size, False, CHECKS, verdict, rule, ratios, 0.0, others)
