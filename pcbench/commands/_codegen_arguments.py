"""The arguments of ``pcbench codegen``, and what they ask for."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pcbench.analysis.codegen_rows import is_function
from pcbench.codegen_asking import CHIPS
from pcbench.commands._argument_types import above_0
from pcbench.commands._files import check_writable
from pcbench.errors import UsageError

STDOUT = "-"
DIFF = "diff"
_DEFAULT_TARGETS = ("sm_90", "sm_100")

EPILOG = """\
KERNEL is one of kernels/, a file that ends in KERNEL = Kernel(...), or module:function, a plain @triton.jit function,
with --signature and --constexpr. A and B are JSON files that --json wrote, commits (anything that git takes), folders
with a kernels/ of their own, or two files that each end in KERNEL = Kernel(...), which are compared whatever they are
called; of a commit, a KERNEL that is a file or a module is the commit's, too.
`pcbench codegen diff KERNEL --triton 3.6.0 --triton 3.9.0` compares two Triton versions instead. Options come last.

The thresholds of diff are codegen_registers = 0.10 and the like in [tool.pcbench.policy] of the pyproject.toml here. A
[[tool.pcbench.policy.case]] has others, or ignore = true, for what its match names: a kernel, match = "layer_norm", or
compilations as diff prints them, match = "layer_norm * sm_100 *".

exit codes:
  0  done; of diff: no hard rule fired (what is soft, and what is new, is said)
  1  of diff: a hard rule fired: spills, blocks per SM, narrower accesses, lost matrix instructions and the like
  2  something did not compile, or could not be compared, or nothing has numbers on both sides; there is no such kernel

examples:
  pcbench codegen softmax --target sm_90
  pcbench codegen mine.py --configs all --json mine.json
  pcbench codegen package.module:kernel --signature "*fp32,*fp32,i32" --constexpr BLOCK=1024
  pcbench codegen diff HEAD~1 HEAD
  pcbench codegen diff HEAD . softmax --sass     what I have not committed yet, with its machine code
  pcbench codegen diff before.py after.py        two kernels of my own
"""


@dataclass(frozen=True)
class Asked:
    """What to compile.

    Attributes:
        kernels: As they were named; none where all are asked for.
        targets: None where nothing was said.
        configs: ``first`` or ``all``; None likewise.
        signature: Of a plain function: the types of its parameters, and ``constexprs`` its constants.
        assembly: Keep the machine code.
    """

    kernels: tuple[str, ...]
    targets: tuple[str, ...] | None
    configs: Literal["first", "all"] | None
    signature: str | None
    constexprs: Mapping[str, int | str]
    assembly: bool
    timeout_s: float

    @property
    def chips(self) -> tuple[str, ...]:
        """The targets, by default those of NVIDIA's newest two."""
        return self.targets or _DEFAULT_TARGETS


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare codegen's arguments."""
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.epilog = EPILOG
    parser.usage = "pcbench codegen [KERNEL ...] [options]\n       pcbench codegen diff A B [KERNEL ...] [options]"
    parser.add_argument("words", nargs="*", metavar="KERNEL", help="what to compile (default: all of kernels/)")
    parser.add_argument(
        "--target",
        action="append",
        choices=CHIPS,
        help=f"a GPU to compile for; repeat it for several (default: {' and '.join(_DEFAULT_TARGETS)})",
    )
    parser.add_argument(
        "--configs", choices=("first", "all"), help="of autotuned kernels: the first configuration (default), or all"
    )
    parser.add_argument("--json", metavar="FILE", help=f"write all of it; {STDOUT} prints it, and no table")
    parser.add_argument("--signature", metavar="TYPES", help='of module:function: "*fp32,*fp32,i32", say')
    parser.add_argument(
        "--constexpr", action="append", default=[], metavar="NAME=VALUE", help="of module:function: a constant"
    )
    parser.add_argument(
        "--triton",
        action="append",
        default=[],
        metavar="VERSION",
        help="compile with this Triton, which pip fetches once (1 GB); of diff: twice, instead of A and B, or once, "
        "for both of them",
    )
    parser.add_argument(
        "--sass", action="store_true", help="of diff: show the machine code of all that differs; else keep it in --json"
    )
    parser.add_argument("--markdown", action="store_true", help="of diff: as a comment on a change")
    parser.add_argument(
        "--timeout",
        type=above_0("seconds"),
        default=600.0,
        metavar="SECONDS",
        help="limit per process (default: 600)",
    )


def asked(args: argparse.Namespace, kernels: Sequence[str]) -> Asked:
    """What the arguments ask for of these kernels.

    Raises:
        UsageError: They exclude each other.
    """
    plain = [name for name in kernels if is_function(name)]
    if (args.signature is not None or args.constexpr) and (len(plain), len(kernels)) != (1, 1):
        raise UsageError(
            "--signature and --constexpr are of one plain function",
            hint=f"name it, as package.module:function; of {DIFF}, after A and B",
        )
    if plain and args.signature is None:
        raise UsageError(
            f"{plain[0]} does not say which types it takes", hint='--signature "*fp32,*fp32,i32" says it, for example'
        )
    if args.json not in (None, STDOUT):
        check_writable(Path(args.json))
    return Asked(
        kernels=tuple(dict.fromkeys(kernels)),
        targets=tuple(dict.fromkeys(args.target)) if args.target else None,
        configs=args.configs,
        signature=args.signature,
        constexprs=dict(map(_constant, args.constexpr)),
        assembly=args.sass,
        timeout_s=args.timeout,
    )


def _constant(word: str) -> tuple[str, int | str]:
    name, equals, value = word.partition("=")
    if not equals or not name.isidentifier():
        raise UsageError(f"{word!r} is no constant", hint="write --constexpr BLOCK=1024, for example")
    if value in ("True", "False"):
        return name, value == "True"
    return name, int(value) if value.removeprefix("-").isdecimal() else value
