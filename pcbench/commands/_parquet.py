"""Rows as a Parquet file, where pyarrow is installed: an optional extra."""

from __future__ import annotations

import importlib
import importlib.util
import itertools
import json
from collections.abc import Iterable
from typing import Any, BinaryIO

from pcbench.analysis.export_rows import COLUMNS, Row
from pcbench.errors import UsageError

_GROUP = 50_000
"""Rows in memory at a time."""
_NUMBERS = ("value", "low", "high")
_WHOLE = ("n", "threads")


def pyarrow_or_error() -> Any:
    """The package.

    Raises:
        UsageError: It is not installed.
    """
    if importlib.util.find_spec("pyarrow") is None:
        raise UsageError("a parquet file needs pyarrow, which is not installed", hint="pip install 'pcbench[parquet]'")
    # Loaded here and not above: it takes longer than the rest of pcbench's commands, which do without it.
    return importlib.import_module("pyarrow")


def write_parquet(found: Iterable[Row], file: BinaryIO) -> None:
    """Write rows. Columns are those of CSV; ``samples`` is a list of numbers, ``date`` a time in UTC, ``params`` JSON.

    Raises:
        UsageError: pyarrow is not installed.
    """
    arrow = pyarrow_or_error()
    parquet = importlib.import_module("pyarrow.parquet")
    schema = arrow.schema([(name, _kind(arrow, name)) for name in COLUMNS])
    remaining = iter(found)
    with parquet.ParquetWriter(file, schema, compression="zstd") as writer:
        while group := list(itertools.islice(remaining, _GROUP)):
            columns = [[_cell(getattr(row, name)) for row in group] for name in COLUMNS]
            arrays = [arrow.array(cells, schema.field(name).type) for name, cells in zip(COLUMNS, columns, strict=True)]
            writer.write_table(arrow.Table.from_arrays(arrays, schema=schema))


def _kind(arrow: Any, name: str) -> Any:
    if name == "samples":
        return arrow.list_(arrow.float64())
    if name == "date":
        return arrow.timestamp("us", tz="UTC")
    return arrow.float64() if name in _NUMBERS else arrow.int64() if name in _WHOLE else arrow.string()


def _cell(value: object) -> object:
    if isinstance(value, dict):
        return json.dumps(value)
    # Half of a surrogate pair, which JSON can hold and Parquet cannot, is written out.
    return value.encode(errors="backslashreplace").decode() if isinstance(value, str) else value
