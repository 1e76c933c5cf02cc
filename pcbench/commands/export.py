"""``pcbench export``: the runs of a results folder as rows for other programs, without torch."""

from __future__ import annotations

import argparse
import io
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from pcbench import whole_files
from pcbench.analysis.asv_results import read_some
from pcbench.analysis.export_oss_v3 import write_oss_v3
from pcbench.analysis.export_rows import Row, rows, write_csv
from pcbench.analysis.gating import select
from pcbench.analysis.quantities import counted
from pcbench.analysis.records import Problem
from pcbench.analysis.results_index import Entry, index
from pcbench.analysis.selection import is_of
from pcbench.commands import Command, _files
from pcbench.commands._parquet import pyarrow_or_error, write_parquet
from pcbench.commands.gate import commit_of
from pcbench.errors import ResultsError, UsageError

FORMATS = ("oss-v3", "csv", "parquet")
_EXAMPLES = """\
exit codes:
  0  all results that were asked for are in the rows
  2  usage, or a result file could not be read: the rows are those of the others

examples:
  pcbench export --format csv --out rows.csv
  pcbench export --format oss-v3 --commit HEAD --env torch2.15 > benchmark_results.json
"""


@dataclass(frozen=True)
class Left:
    """What is not in the rows, in words.

    Attributes:
        unread: Results, or parts of them, that could not be read.
        unwritten: What was read and has no place in the format.
    """

    unread: tuple[str, ...]
    unwritten: tuple[str, ...] = ()


def export(entries: Sequence[Entry], results: Path, form: str, file: BinaryIO) -> Left:
    """Write the rows of result files, a file at a time.

    Raises:
        ResultsError: None of them can be read.
        UsageError: The format needs a package that is not installed.
    """
    unread: list[str] = []
    left_out = 0
    found = _rows(entries, results, unread)
    if form == "parquet":
        write_parquet(found, file)
        return Left(tuple(unread))
    # Half of a surrogate pair, which JSON can hold and UTF-8 cannot, is written out.
    text = io.TextIOWrapper(file, encoding="utf-8", errors="backslashreplace", newline="", write_through=True)
    try:
        if form == "csv":
            write_csv(found, text)
        else:
            left_out = write_oss_v3(found, text)
    finally:
        text.detach()
    said = f"left out {counted(left_out, 'row')} without a number: oss-v3 has no place for them"
    return Left(tuple(unread), (said,) if left_out else ())


def _rows(entries: Sequence[Entry], results: Path, unread: list[str]) -> Iterator[Row]:
    """Rows by commit date; one result file is in memory at a time."""
    read = 0
    for entry in entries:
        one = read_some(results, [entry.path])
        unread += map(_not_read, one.problems)
        for run in one.runs:
            read += 1
            yield from rows(run)
    if not read:
        raise ResultsError(f"no result in {results} can be read", hint=unread[0] if unread else None)


def _not_read(problem: Problem) -> str:
    return f"not read: {problem.path}: {problem.what}"


@contextmanager
def _replacing(path: Path) -> Iterator[BinaryIO]:
    """As :func:`pcbench.commands._files.write`, for what is too much to be in memory at once.

    Raises:
        UsageError: It cannot be written.
    """
    try:
        with whole_files.aside(path) as beside, beside.open("wb") as file:
            yield file
    except OSError as error:
        raise UsageError(f"cannot write {path}: {error.strerror}", hint="give another file with --out") from error


def _chosen(args: argparse.Namespace) -> tuple[list[Entry], tuple[Problem, ...]]:
    """The result files that were asked for, by commit date, and what could not be read."""
    entries, unread = index(args.results)
    if not entries:
        hint = f"{unread[0].path} {unread[0].what}" if unread else "pcbench bench and asv run write one"
        raise ResultsError(f"{args.results} holds no result that can be read", hint=hint)
    found = [entry for entry in entries if is_of(entry.machine, entry.environment, args.machine, args.env)]
    if not found:
        names = ", ".join(sorted({f"{entry.environment} on {entry.machine}" for entry in entries}))
        raise UsageError("no result is of this machine and environment", hint=f"there are: {names}")
    commit = commit_of(args.commit, Path.cwd())
    return found if commit is None else select(commit, found, "commit"), unread


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.epilog = _EXAMPLES
    parser.add_argument(
        *("--format", "-f"),
        required=True,
        choices=FORMATS,
        help="oss-v3: PyTorch's benchmark-database JSON; csv; parquet (needs pip install 'pcbench[parquet]')",
    )
    parser.add_argument("--results", type=Path, default=Path("results"), help="asv's results folder (default: results)")
    parser.add_argument("--machine", metavar="NAME", help="results of this machine alone; a pattern with *")
    parser.add_argument("--env", metavar="NAME", help="results of this environment alone; a pattern, or a part of it")
    parser.add_argument(
        "--commit", metavar="COMMIT", help="results of this commit alone, or of torch:VERSION (default: all)"
    )
    parser.add_argument("--out", default="-", metavar="FILE", help="where to write; - is standard output (default)")


def _run(args: argparse.Namespace) -> int:
    if args.format == "parquet":
        if args.out == "-" and sys.stdout.isatty():
            raise UsageError("a parquet file is not for a terminal", hint="give a file with --out")
        pyarrow_or_error()
    if args.out != "-":
        _files.check_writable(Path(args.out))
    chosen, unread = _chosen(args)
    if args.out == "-":
        sys.stdout.flush()
        left = export(chosen, args.results, args.format, sys.stdout.buffer)
    else:
        with _replacing(Path(args.out)) as file:
            left = export(chosen, args.results, args.format, file)
    not_read = (*map(_not_read, unread), *left.unread)
    for line in (*not_read, *left.unwritten):
        print(line, file=sys.stderr)
    return 2 if not_read else 0


COMMAND = Command(
    "Write all results as rows: csv, parquet, or PyTorch's benchmark-database JSON.", _add_arguments, _run
)
