"""``pcbench codegen [KERNEL ...]``: what the compiler made of Triton kernels, and what a change made different."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

from pcbench.analysis.codegen_rows import CodegenRow, as_json
from pcbench.analysis.codegen_table import table_lines
from pcbench.commands import Command, _codegen_diff, _codegen_sides
from pcbench.commands._codegen_arguments import DIFF, STDOUT, add_arguments, asked
from pcbench.commands._codegen_triton import check_version
from pcbench.commands._files import write
from pcbench.commands._progress import steps
from pcbench.errors import UsageError
from pcbench.status import Status


def run(args: argparse.Namespace) -> int:
    """Compile and print a row for each configuration and target; 2 when one has no numbers."""
    for version in args.triton:
        check_version(version)
    if args.words[:1] == [DIFF]:
        return _codegen_diff.run(args)
    if args.markdown:
        raise UsageError("--markdown is of diff", hint="pcbench codegen diff A B --markdown")
    if args.sass and args.json is None:
        raise UsageError("--sass keeps the machine code in a file", hint="give --json FILE, too")
    if len(args.triton) > 1:
        raise UsageError("several Triton versions are compared", hint="pcbench codegen diff --triton A --triton B")
    wanted = asked(args, args.words)
    code = _codegen_sides.running(*args.triton)
    _codegen_sides.check_kernels(wanted.kernels, code)
    kernels = wanted.kernels or code.names
    rows: list[CodegenRow] = []
    interrupted = False
    with steps(_codegen_sides.steps_of(code, kernels, wanted)) as step:
        try:
            rows = list(_codegen_sides.measure(code, kernels, wanted, step, rows.append))
        except KeyboardInterrupt:  # what was compiled is worth keeping
            interrupted = True
    if interrupted:
        print("pcbench: interrupted; what was compiled until then follows", file=sys.stderr)
    _tell(rows, args.json)
    return 0 if rows and not interrupted and all(row.status is Status.OK for row in rows) else 2


def _tell(rows: Sequence[CodegenRow], where: str | None) -> None:
    if where != STDOUT:
        print("\n".join(table_lines(rows)))
    if where is not None:
        text = json.dumps(as_json(rows), indent=1) + "\n"
        if where == STDOUT:
            print(text, end="")
        else:
            write(Path(where), text.encode())


COMMAND = Command(
    help="what the compiler made of Triton kernels, without a GPU: registers, spills, instructions; diff of two sides",
    add_arguments=add_arguments,
    run=run,
)
