"""``pcbench selftest history``: the rules for long series, and others', on series whose truth is known."""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

from pcbench.analysis.kernel_cuts import Floats
from pcbench.analysis.selftest_history import SIZES, Excess, RuleResult, excesses, measure
from pcbench.analysis.selftest_lines import as_json, as_markdown, as_text
from pcbench.analysis.selftest_rules import own_rules, rustc_perf, z_score
from pcbench.analysis.selftest_series import NIGHTS, SCENARIOS, planted
from pcbench.commands import Command, _files, _outputs
from pcbench.commands._argument_types import positive_int
from pcbench.commands._asv_rules import asv_rules
from pcbench.commands._policy_file import policy_of
from pcbench.commands._progress import steps
from pcbench.errors import UsageError
from pcbench.reports import _selftest

_SEED = 777


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--real", type=Path, metavar="FILE", help=f".npy of shape (rows, {NIGHTS}): timings by night")
    parser.add_argument(
        "--rows", type=_span, default=slice(None), metavar="A:B", help="only these rows of FILE, from A up to before B"
    )
    parser.add_argument(
        "--series", type=positive_int, default=200, help="series without a step, of each kind (default: 200)"
    )
    parser.add_argument(
        "--steps", type=positive_int, default=100, help="series of each size of step and kind (default: 100)"
    )
    parser.add_argument("--seed", type=int, default=_SEED, help=f"two runs of one seed agree (default: {_SEED})")
    parser.add_argument("--figure", type=Path, metavar="FILE", help="draw it")
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="print JSON")
    form.add_argument("--markdown", action="store_true", help="print tables for a document")


def _run(args: argparse.Namespace) -> int:
    if args.seed < 0:
        raise UsageError(f"the seed is {args.seed}; it must be 0 or more", hint="--seed 777, say")
    if args.figure is not None:
        _outputs.check_figure(args.figure)
        _files.check_writable(args.figure)
    real = None if args.real is None else _rows(args.real, args.rows)
    results, found = _measured(args, real)
    if args.json:
        print(as_json(results, found, args.seed))
    else:
        print((as_markdown if args.markdown else as_text)(results, found))
    if args.figure is not None:
        _outputs.save_figure(_selftest.draw(results, args.seed), args.figure)
    return 0


def _measured(args: argparse.Namespace, real: Floats | None) -> tuple[list[RuleResult], list[Excess]]:
    judges = [own_rules(policy_of(Path.cwd())), asv_rules, z_score, rustc_perf]
    results: list[RuleResult] = []
    found: list[Excess] = []
    scenarios = [scenario for scenario in SCENARIOS if scenario != "real" or real is not None]
    with steps(len(scenarios) * len(SIZES)) as step:
        for scenario, size, of_it in measure(judges, series=args.series, stepped=args.steps, seed=args.seed, real=real):
            if of_it:
                results += of_it
                found += excesses(scenario, planted(scenario, 0.0, args.series, args.seed, real))
            else:
                step(f"{scenario}, step of {size:.0%}")
    return results, found


def _span(text: str) -> slice:
    first, colon, last = text.partition(":")
    if not (colon and first.isdigit() and last.isdigit() and int(first) < int(last)):
        raise argparse.ArgumentTypeError(f"{text} is no range of rows, as 0:300 is")
    return slice(int(first), int(last))


def _rows(path: Path, span: slice) -> Floats:
    """The timings of some rows of a file.

    Raises:
        UsageError: It holds none that this can use.
    """
    hint = f"an array of numbers above 0 of shape (rows, {NIGHTS}), as numpy.save writes it"
    try:
        rows = np.load(path, allow_pickle=False)
    except (OSError, ValueError, EOFError) as error:
        raise UsageError(f"{path} cannot be read: {error}", hint=hint) from error
    if not isinstance(rows, np.ndarray) or rows.dtype.kind not in "fiu" or rows.shape[1:] != (NIGHTS,) or not len(rows):
        raise UsageError(f"{path} is no table of {NIGHTS} nights", hint=hint)
    values = rows[span].astype(float)
    if not len(values):
        raise UsageError(f"{path} has {len(rows)} rows, none of which is from {span.start} to {span.stop}")
    if not (np.isfinite(values) & (values > 0)).all():
        raise UsageError(f"{path} has numbers that are not above 0, or not finite", hint=hint)
    return values


PART = Command("the rules for long series, asv's, and others, on series with planted steps", _add_arguments, _run)
