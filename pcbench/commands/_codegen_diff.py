"""``pcbench codegen diff A B``: two sides of kernels compiled, or read from files, and compared."""

from __future__ import annotations

import argparse
import json
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

from pcbench import processes
from pcbench.analysis.codegen_lines import Diff, Side, as_markdown, diff_json, diff_lines
from pcbench.analysis.codegen_rows import CodegenRow, is_file
from pcbench.analysis.codegen_rules import compare
from pcbench.commands import _codegen_sides
from pcbench.commands._codegen_arguments import STDOUT, Asked, asked
from pcbench.commands._codegen_sides import Code
from pcbench.commands._files import write
from pcbench.commands._policy_file import policy_of
from pcbench.commands._progress import steps
from pcbench.errors import UsageError

_VERSIONS = 2


def run(args: argparse.Namespace) -> int:
    """Compare and print; 1 when a hard rule fired, 2 when something could not be compared."""
    _, *words = args.words
    if args.sass and args.markdown:
        raise UsageError("--markdown has no room for machine code", hint="--sass without it shows the machine code")
    if len(args.triton) > _VERSIONS:
        raise UsageError(f"diff compares two sides, and --triton was given {len(args.triton)} times")
    versions = args.triton if len(args.triton) == _VERSIONS else []
    sides = () if versions else tuple(words[:2])
    if not versions and len(sides) < 2:
        hint = "name two JSON files, commits, folders or kernels' files, or give --triton twice"
        raise UsageError("diff of what?", hint=next(filter(None, map(_codegen_sides.two_words, sides)), hint))
    wanted = asked(args, words[len(sides) :])
    policy = policy_of(Path.cwd())
    with ExitStack() as stack:
        if sides:
            found = [_side(what, wanted, args.triton, stack.enter_context(processes.scratch())) for what in sides]
        else:
            found = [_codegen_sides.running(version) for version in versions]
        _check_files(found, wanted)
        baseline, candidate = _measured(found, wanted)
    diff = Diff(baseline, candidate, compare(baseline.rows, candidate.rows, policy))
    _tell(diff, args)
    return diff.exit_code


def _side(what: str, wanted: Asked, tritons: list[str], scratch: Path) -> Code | Side:
    """What a word names: the rows of a file, or kernels to compile."""
    path = Path(what)
    if is_file(what) and path.is_file():
        return _codegen_sides.of_file(what, tritons[0] if tritons else None)
    if path.is_file():
        if tritons:
            raise UsageError(f"{what} was compiled already, and --triton cannot change with what")
        return Side(what, _codegen_sides.rows_of_file(path, wanted))
    if path.suffix == ".json":
        raise UsageError(f"there is no file {what}", hint="`pcbench codegen --json FILE` writes one")
    return _codegen_sides.of_tree(Path.cwd(), what, scratch, tritons[0] if tritons else None)


def _check_files(found: list[Code | Side], wanted: Asked) -> None:
    """Refuse a kernel's file beside what has kernels of other names, and kernels to look for in it."""
    files = [side.label for side in found if isinstance(side, Code) and side.alone]
    others = [side.label for side in found if isinstance(side, Code) and not side.alone]
    others += wanted.kernels
    if files and others:
        hint = f"compare it with another file, or two versions of it: pcbench codegen diff HEAD . {files[0]}"
        raise UsageError(f"as a side, {files[0]} is one kernel, and {others[0]} is no such file", hint=hint)


def _measured(found: list[Code | Side], wanted: Asked) -> tuple[Side, Side]:
    """Both sides with their rows. Beside a file, the same kernels and targets are compiled, in all configurations."""
    places = [side for side in found if isinstance(side, Code)]
    stored = [row for side in found if isinstance(side, Side) for row in side.rows]
    kernels = wanted.kernels or _all_kernels(places, stored)
    _check_kernels(kernels, places, stored)
    if stored:
        targets = tuple(dict.fromkeys(row.key.target for row in stored if row.key.target))
        wanted = replace(wanted, targets=wanted.targets or targets, configs=wanted.configs or "all")
    rows: list[Side] = []
    with steps(sum(_codegen_sides.steps_of(place, kernels, wanted) for place in places)) as step:
        for place in places:
            _codegen_sides.fetch(place, step)
        for side in found:
            if isinstance(side, Code):
                measured = _codegen_sides.measure(side, kernels, wanted, step, lambda row: None)
                rows.append(Side(side.label, measured))
            else:
                rows.append(side)
    return rows[0], rows[1]


def _all_kernels(places: list[Code], stored: list[CodegenRow]) -> tuple[str, ...]:
    compiled = sorted({name for place in places if place.alone or not stored for name in place.names})
    return tuple(dict.fromkeys([*(row.key.kernel for row in stored), *compiled]))


def _check_kernels(kernels: tuple[str, ...], places: list[Code], stored: list[CodegenRow]) -> None:
    in_files = {row.key.kernel for row in stored}
    if places:
        _codegen_sides.check_kernels([kernel for kernel in kernels if kernel not in in_files], *places)
    elif kernels and not in_files & set(kernels):
        raise UsageError(f"neither file has {', '.join(kernels)}")
    if not kernels:
        raise UsageError("neither side has a kernel", hint="name one: a file that ends in KERNEL, or module:function")


def _tell(diff: Diff, args: argparse.Namespace) -> None:
    if args.json != STDOUT:
        print(as_markdown(diff) if args.markdown else "\n".join(diff_lines(diff, code=args.sass)))
    if args.json is not None:
        text = json.dumps(diff_json(diff), indent=1) + "\n"
        if args.json == STDOUT:
            print(text, end="")
        else:
            write(Path(args.json), text.encode())
