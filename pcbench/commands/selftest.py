"""``pcbench selftest PART``: measures the judge itself, seeded, on data whose truth is known."""

from __future__ import annotations

import argparse

from pcbench.commands import Command, _selftest_history, _selftest_pairs

_PARTS = {"history": _selftest_history.PART, "pairs": _selftest_pairs.PART}


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    parts = parser.add_subparsers(dest="part", metavar="PART", required=True)
    for name, part in _PARTS.items():
        own = parts.add_parser(name, help=part.help, description=part.help)
        part.add_arguments(own)
        own.set_defaults(run_part=part.run)


def _run(args: argparse.Namespace) -> int:
    code: int = args.run_part(args)
    return code


COMMAND = Command("Measure the judge: its false alarms, and what it catches.", _add_arguments, _run)
