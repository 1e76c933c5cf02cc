"""``pcbench selftest pairs``: verdicts of ``pcbench ab`` on code of which it is known what was planted in it."""

from __future__ import annotations

import argparse
import functools
import os
import platform
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

from pcbench import machine, processes, sides
from pcbench.analysis.policy import Policy
from pcbench.analysis.quantities import counted
from pcbench.analysis.selftest_pairs import CHECKS, LOADS, RECORD, Trial, records, runs
from pcbench.analysis.selftest_pairs_store import Selftest, from_json, key, to_json
from pcbench.analysis.selftest_pairs_text import text
from pcbench.commands import Command, _files, _outputs, _selftest_checks
from pcbench.commands._argument_types import positive_int
from pcbench.commands._pairing import Progress
from pcbench.commands._policy_file import policy_of
from pcbench.commands._selftest_measuring import Ground, checks_in, loads_in, trials
from pcbench.errors import UnavailableError, UsageError
from pcbench.reports._selftest_pairs import draw

_SAY_EVERY_S = 10.0
_LOAD = 0.1
# Seconds of a verdict on a machine that does nothing else: until verdicts were timed they say how long is left.
_COSTS = {(CHECKS, False): 1.5, (CHECKS, True): 4.0, (LOADS, False): 20.0, (LOADS, True): 50.0}


@dataclass(frozen=True)
class _Comparison:
    """What is measured at once: a case each, and what is planted in it."""

    kind: str
    recorded: bool
    planted: Mapping[str, float]
    says: str

    @property
    def cost_s(self) -> float:
        return sum(_COSTS[self.kind, size > 0] for size in self.planted.values())


@dataclass
class _Measured:
    """What there is so far; says on stderr, every few seconds, how far it is."""

    left: list[_Comparison] = field(default_factory=list)
    trials: list[Trial] = field(default_factory=list)
    counted: dict[str, dict[str, float]] = field(default_factory=dict)
    uncounted: str = ""
    done: int = 0
    done_cost_s: float = 0.0
    done_s: float = 0.0
    said: float = 0.0

    def say(self, started: float, progress: Progress) -> None:
        now = time.monotonic()
        if now - self.said < _SAY_EVERY_S:
            return
        self.said = now
        here = self.left[0]
        expected_s = max(here.cost_s, now - started + progress.left_s)
        factor = self.done_s / self.done_cost_s if self.done else expected_s / here.cost_s
        later_s = factor * sum(each.cost_s for each in self.left[1:])
        here_s = max(progress.left_s, factor * here.cost_s - (now - started))
        where = f"comparison {self.done + 1} of {self.done + len(self.left)}, {here.says}"
        left = (
            f"{progress.open} of {counted(progress.cases, 'case')} open; about {(here_s + later_s) / 60:.0f} min left"
        )
        print(f"{where}: {left}", file=sys.stderr, flush=True)

    def ended(self, started: float) -> None:
        self.done += 1
        self.done_s += time.monotonic() - started
        self.done_cost_s += self.left.pop(0).cost_s


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--same-code", type=positive_int, default=200, metavar="N", help="verdicts on the same code")
    parser.add_argument(
        "--planted", type=_sizes, default="1,2,3,5", metavar="SIZES", help="percent to plant (default: %(default)s)"
    )
    parser.add_argument("--verdicts", type=positive_int, default=40, metavar="M", help="verdicts on each planted size")
    parser.add_argument(
        "--checks", type=positive_int, default=len(_selftest_checks.CHECKS), metavar="K", help="checks of a comparison"
    )
    parser.add_argument(
        "--no-record", action="store_true", help=f"leave out the second half, with {RECORD} pairs on record"
    )
    parser.add_argument(
        "--loads", type=positive_int, default=0, nargs="?", const=20, metavar="L",
        help=f"L verdicts each on loads of the same code and with {_LOAD:.0%}% planted (default: none, 20 without L)",
    )  # fmt: skip
    parser.add_argument("--only-loads", action="store_true", help="leave out the checks")
    parser.add_argument(
        "--from", type=Path, dest="stored", metavar="FILE", help="measure nothing: show what --json wrote there"
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="write every verdict there, with its pairs")
    parser.add_argument("--figure", type=Path, metavar="FILE", help="draw it")
    parser.add_argument("--markdown", action="store_true", help="print tables for a document")


def _sizes(words: str) -> tuple[float, ...]:
    try:
        sizes = tuple(float(word) / 100 for word in words.split(","))
    except ValueError:
        raise argparse.ArgumentTypeError(f"{words!r} is no list of percents") from None
    if not all(0 < size <= 1 for size in sizes):
        raise argparse.ArgumentTypeError(f"{words!r}: each is above 0, up to 100")
    return tuple(sorted(set(sizes)))


def _run(args: argparse.Namespace) -> int:
    for path in filter(None, (args.json, args.figure)):
        _files.check_writable(path)
    if args.figure is not None:
        _outputs.check_figure(args.figure)
    if args.checks > len(_selftest_checks.CHECKS):
        raise UsageError(f"there are {len(_selftest_checks.CHECKS)} checks, not {args.checks}")
    if args.only_loads and not args.loads:
        raise UsageError("--only-loads without --loads leaves nothing to measure")
    found = _measured(args) if args.stored is None else from_json(args.stored.read_text(), str(args.stored))
    if args.json is not None:
        _files.write(args.json, (to_json(found) + "\n").encode())
    print(text(found, markdown=args.markdown))
    figure = draw(found) if args.figure is not None else None
    if figure is not None:
        _outputs.save_figure(figure, args.figure)
    return 2 if found.interrupted else 0


def _measured(args: argparse.Namespace) -> Selftest:
    root = Path.cwd()
    policy = policy_of(root)
    measured = _Measured()
    interrupted = False
    with ExitStack() as stack:
        if (root / "asv.conf.json").is_file():
            stack.enter_context(sides.alone(root))
        folder = stack.enter_context(processes.scratch())
        try:
            _measure(args, policy, folder, measured)
        except KeyboardInterrupt:
            interrupted = True
            print("interrupted: what was settled by then", file=sys.stderr)
    told = machine.describe()
    load = f"load {os.getloadavg()[0]:.1f} at the end"
    return Selftest(
        tuple(measured.trials),
        policy.delta,
        policy.fine_delta,
        policy.slow_delta,
        f"{told['cpu']}, {told['num_cpu']} CPUs, Python {platform.python_version()}, {load}",
        measured.counted,
        measured.uncounted,
        interrupted,
    )


def _measure(args: argparse.Namespace, policy: Policy, folder: Path, measured: _Measured) -> None:
    checks = _selftest_checks.CHECKS[:: len(_selftest_checks.CHECKS) // args.checks][: args.checks]
    grounds: dict[str, Ground] = {}
    if not args.only_loads:
        grounds[CHECKS] = checks_in(folder / CHECKS, checks)
        for recorded in (False,) if args.no_record else (False, True):
            for sizes, verdicts in (((0.0,), args.same_code), (args.planted, args.verdicts)):
                measured.left += _comparisons(CHECKS, grounds[CHECKS].cases, sizes, verdicts, recorded)
        measured.counted, measured.uncounted = _counted(folder / "counted", checks, args.planted)
    if args.loads:
        grounds[LOADS] = loads_in(folder / LOADS)
        for size in (0.0, _LOAD):
            measured.left += _comparisons(LOADS, grounds[LOADS].cases, (size,), args.loads, False)
    while measured.left:
        now, started = measured.left[0], time.monotonic()
        known = records([each for each in measured.trials if each.kind == CHECKS and not each.recorded])
        tell = functools.partial(measured.say, started)
        for trial in trials(grounds[now.kind], now.planted, policy, known if now.recorded else {}, tell):
            measured.trials.append(trial)  # one at a time: what is settled at Ctrl-C is kept
        measured.ended(started)


def _comparisons(
    kind: str, cases: Sequence[str], sizes: Sequence[float], verdicts: int, recorded: bool
) -> list[_Comparison]:
    what = "the same code" if max(sizes) == 0 else f"{', '.join(f'{size:.3g} %' for size in (100 * s for s in sizes))}"
    says = f"{kind}, {what}{f', {RECORD} pairs on record' if recorded else ''}"
    return [_Comparison(kind, recorded, planted, says) for planted in runs(cases, sizes, verdicts)]


def _counted(folder: Path, checks: Sequence[str], sizes: Sequence[float]) -> tuple[dict[str, dict[str, float]], str]:
    """By size and case, how many times the instructions a call takes; or why they are not counted."""
    print(f"counting the instructions of {counted(len(checks), 'check')} in {len(sizes) + 1} versions", file=sys.stderr)
    found: dict[float, dict[str, float]] = {}
    try:
        for size in (0.0, *sizes):
            side = _selftest_checks.write_side(folder / key(size), dict.fromkeys(checks, size))
            found[size] = _selftest_checks.instructions(side, checks)
    except UnavailableError as error:
        return {}, error.problem
    return {
        key(size): {_selftest_checks.case_of(check): each[check] / found[0.0][check] for check in checks}
        for size, each in found.items()
    }, ""


PART = Command("verdicts of pcbench ab on the same code and on planted slow-downs, beside asv's", _add_arguments, _run)
