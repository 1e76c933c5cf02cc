"""The arguments of ``pcbench guards``, and what they ask for."""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from pathlib import Path

from pcbench import guard_families
from pcbench.asking import Setting
from pcbench.commands._argument_types import above_0, positive_int
from pcbench.commands._builds import add_env_argument
from pcbench.commands._files import check_writable
from pcbench.commands._outputs import check_figure
from pcbench.errors import UsageError
from pcbench.guard_sampling import CENSUS_SIZE, SIZES

STDOUT = "-"


@dataclass(frozen=True)
class Asked:
    """What to measure of each target.

    Attributes:
        families: The targets that are guard families: those are swept, the others looked into.
        processes: How many processes give the times.
        size: Of a family, for its census.
        census_alone: Nothing but the census.
    """

    targets: tuple[str, ...]
    families: frozenset[str]
    setting: Setting
    processes: int
    size: int
    census_alone: bool
    instructions: bool

    def is_family(self, target: str) -> bool:
        return target in self.families


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare guards' arguments."""
    parser.add_argument(
        "target",
        nargs="*",
        metavar="TARGET",
        help="a model, a guard family (--list), a file that ends in MODEL = Model(...), or package.module:function",
    )
    parser.add_argument("--families", action="store_true", help="all guard families: what one guard of each costs")
    parser.add_argument("--list", action="store_true", help="list the guard families and measure nothing")
    parser.add_argument(
        "--census", action="store_true", help="count alone: seconds of work, and numbers that noise cannot touch"
    )
    parser.add_argument(
        "--instructions",
        action="store_true",
        help="count a check's instructions, too: by the CPU, else under valgrind (half a minute per target)",
    )
    parser.add_argument(
        "--json",
        nargs="?",
        const=STDOUT,
        metavar="FILE",
        help="write census and samples as JSON; without FILE, print them, and no table",
    )
    parser.add_argument(
        "--figure", type=Path, metavar="FILE", help="draw what a guard of each swept family costs there"
    )
    add_env_argument(parser)
    parser.add_argument(
        "--processes",
        type=positive_int,
        default=5,
        metavar="N",
        help="fresh processes to time in (default: 5)",
    )
    parser.add_argument(
        "--size",
        type=positive_int,
        default=CENSUS_SIZE,
        metavar="N",
        help=f"of a family, for its census (default: {CENSUS_SIZE}); times are taken at {', '.join(map(str, SIZES))}",
    )
    parser.add_argument(
        "--threads", type=positive_int, default=1, metavar="N", help="threads that torch may use (default: 1)"
    )
    parser.add_argument(
        "--timeout", type=above_0("seconds"), default=600.0, metavar="SECONDS", help="limit per process (default: 600)"
    )


def asked(args: argparse.Namespace) -> Asked:
    """What the arguments ask for.

    Raises:
        UsageError: No target, one that does not exist, or arguments that exclude each other.
    """
    targets = tuple(dict.fromkeys((*args.target, *(guard_families.names() if args.families else ()))))
    if not targets:
        taken = f"; --json took {args.json} for its FILE" if args.json not in (None, STDOUT) else ""
        raise UsageError("guards of what?", hint=f"name a model or a guard family, or give --families{taken}")
    for target in targets:
        guard_families.check_target(target)
    if args.census and args.instructions:
        raise UsageError("--census is the census alone", hint="leave out --instructions, or --census")
    if args.json not in (None, STDOUT):
        check_writable(Path(args.json))
    if args.figure is not None:
        check_figure(args.figure)
        check_writable(args.figure)
        if args.census or not set(targets) & set(guard_families.names()):
            raise UsageError("--figure draws families that were swept", hint="name one, or give --families")
    return Asked(
        targets=targets,
        families=frozenset(guard_families.names()) & frozenset(targets),
        setting=Setting(targets[0], threads=args.threads, timeout_s=args.timeout),
        processes=args.processes,
        size=args.size,
        census_alone=args.census,
        instructions=args.instructions,
    )
