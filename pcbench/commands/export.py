"""``pcbench export``: the runs of a results folder as rows for other programs, without torch."""

from __future__ import annotations

import argparse
import fnmatch
import io
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from pcbench.analysis.asv_results import read_some
from pcbench.analysis.export_oss_v3 import write_oss_v3
from pcbench.analysis.export_rows import Row, rows, write_csv
from pcbench.analysis.gating import select
from pcbench.analysis.quantities import counted
from pcbench.analysis.results_index import Entry, index
from pcbench.commands import Command, _files
from pcbench.commands._parquet import pyarrow_or_error, write_parquet
from pcbench.errors import ResultsError, UsageError

FORMATS = ("oss-v3", "csv", "parquet")


def export(entries: Sequence[Entry], results: Path, form: str, file: BinaryIO) -> tuple[str, ...]:
    """Write the rows of result files, a file at a time; what could not be read or written, in words.

    Raises:
        ResultsError: None of them can be read.
        UsageError: The format needs a package that is not installed.
    """
    said: list[str] = []
    found = _rows(entries, results, said)
    if form == "parquet":
        write_parquet(found, file)
        return tuple(said)
    # Half of a surrogate pair, which JSON can hold and UTF-8 cannot, is written out.
    text = io.TextIOWrapper(file, encoding="utf-8", errors="backslashreplace", newline="", write_through=True)
    try:
        if form == "csv":
            write_csv(found, text)
        elif left_out := write_oss_v3(found, text):
            said.append(f"left out {counted(left_out, 'row')} without a number: oss-v3 has no place for them")
    finally:
        text.detach()
    return tuple(said)


def _rows(entries: Sequence[Entry], results: Path, said: list[str]) -> Iterator[Row]:
    """Rows by commit date; one result file is in memory at a time."""
    read = 0
    for entry in entries:
        one = read_some(results, [entry.path])
        said += [f"not read: {problem.path}: {problem.what}" for problem in one.problems]
        for run in one.runs:
            read += 1
            yield from rows(run)
    if not read:
        raise ResultsError(f"no result in {results} can be read", hint=said[0] if said else None)


@contextmanager
def _replacing(path: Path) -> Iterator[BinaryIO]:
    """As :func:`pcbench.commands._files.write`, for what is too much to be in memory at once.

    Raises:
        UsageError: It cannot be written.
    """
    path = path.resolve()
    aside = path if path.exists() and not path.is_file() else path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with aside.open("wb") as file:
            yield file
        if aside != path:
            aside.replace(path)
    except OSError as error:
        raise UsageError(f"cannot write {path}: {error.strerror}", hint="give another file with --out") from error
    finally:
        if aside != path:
            aside.unlink(missing_ok=True)


def _chosen(args: argparse.Namespace) -> tuple[list[Entry], tuple[str, ...]]:
    """The result files that were asked for, by commit date, and what could not be read."""
    entries, unread = index(args.results)
    if not entries:
        hint = unread[0] if unread else "pcbench bench and asv run write one"
        raise ResultsError(f"{args.results} holds no result that can be read", hint=hint)
    found = [entry for entry in entries if _is_wanted(entry, args)]
    if not found:
        names = ", ".join(sorted({f"{entry.environment} on {entry.machine}" for entry in entries}))
        raise UsageError("no result is of this machine and environment", hint=f"there are: {names}")
    return found if args.commit is None else select(args.commit, found, "commit"), unread


def _is_wanted(entry: Entry, args: argparse.Namespace) -> bool:
    machine = args.machine is None or fnmatch.fnmatchcase(entry.machine, args.machine)
    return machine and (
        args.env is None or args.env in entry.environment or fnmatch.fnmatchcase(entry.environment, args.env)
    )


def _add_arguments(parser: argparse.ArgumentParser) -> None:
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
        "--commit", metavar="HASH", help="results of this commit alone, or of torch:VERSION (default: all)"
    )
    parser.add_argument("--out", default="-", metavar="FILE", help="where to write; - is standard output (default)")


def _run(args: argparse.Namespace) -> int:
    if args.format == "parquet":
        if args.out == "-":
            raise UsageError("a parquet file is not for a terminal", hint="give a file with --out")
        pyarrow_or_error()
    if args.out != "-":
        _files.check_writable(Path(args.out))
    chosen, unread = _chosen(args)
    said = [f"not read: {problem}" for problem in unread]
    if args.out == "-":
        sys.stdout.flush()
        said += export(chosen, args.results, args.format, sys.stdout.buffer)
    else:
        with _replacing(Path(args.out)) as file:
            said += export(chosen, args.results, args.format, file)
    for line in said:
        print(line, file=sys.stderr)
    return 0


COMMAND = Command(
    "Write all results as rows: csv, parquet, or PyTorch's benchmark-database JSON.", _add_arguments, _run
)
