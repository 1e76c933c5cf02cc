"""The asv benchmarks of codegen: what the compiler made of kernels, and how long it took. Needs no torch and no GPU.

One process compiles a kernel for all chips; every number of every chip is of what it told. What it told of a chip goes
once into the result's sidecar, whether or not it compiled.
"""

from __future__ import annotations

import importlib.util
import math
import os
from collections.abc import Sequence
from typing import Any

from pcbench import checkout, codegen_asking, codegen_numbers, discovery
from pcbench.asking import Setting
from pcbench.errors import PcbenchError
from pcbench.sample_store import Absent
from pcbench.status import Status
from pcbench.taken_once import taken_once
from pcbench.tracked import AsvValue, one_number, refuse_unknown_kernel, samples_of, tell

Rows = list[codegen_asking.Row]

_LIMIT_S = 1200.0  # a kernel with a launch at each of its sizes, for four chips


def codegen_number(kernel: str, target: str, quantity: str, chips: Sequence[str]) -> float:
    """A number of the machine code of a kernel for a target, as :func:`pcbench.codegen_numbers.number_of` takes it.

    Args:
        kernel: A name, or a path to a file of the commit that ends in KERNEL.
        target: One of ``chips``: the chips that the kernel is compiled for.
        quantity: One of :data:`pcbench.codegen_numbers.QUANTITIES`.
    """

    def measure() -> list[float]:
        discovery.check_name("number of machine code", quantity, codegen_numbers.QUANTITIES)
        rows = _compiled(_rows("codegen", kernel, target, quantity, chips))
        found = codegen_numbers.number_of(quantity, [row["metrics"] for row in rows])
        if found is None:
            raise Absent(Status.UNAVAILABLE, f"what compiles for {target} does not tell {quantity}")
        if math.isinf(found):
            (where, limit), *_ = ((_words(row), row["words"]) for row in rows if not row["metrics"]["occupancy"])
            raise Absent("FAILED", f"{where} fits no multiprocessor: {limit.get('occupancy_limit', 'it says not why')}")
        return [found]

    return one_number((kernel, target), measure)


def codegen_compile_seconds(kernel: str, target: str, chips: Sequence[str], count: int) -> AsvValue:
    """CPU seconds of compiling a kernel for a target, at all its sizes and dtypes; one sample a process, of ``count``.

    The first process is the one that the numbers are of; in a pair of processes each is one of its own.
    """
    record = "codegen-timed" if os.environ.get("PCBENCH_ONE_SAMPLE") else "codegen"

    def measure() -> list[float]:
        first = _rows(record, kernel, target, "compile seconds", chips)
        again = f"{record}-{kernel}-again"
        more = taken_once(again, target, lambda: [_collected(kernel, chips) for _ in range(count - 1)])
        return [_seconds(_compiled(rows)) for rows in (first, *(process[target] for process in more))]

    return samples_of((kernel, target), measure)


def _rows(record: str, kernel: str, target: str, use: str, chips: Sequence[str]) -> Rows:
    """The rows of a kernel and target, told to the sidecar when they come."""

    def of_target() -> Rows:
        discovery.check_name("chip", target, tuple(chips))
        rows: Rows = taken_once(f"{record}-{kernel}", target, lambda: _collected(kernel, chips))[target]
        tell((kernel, target), "codegen", {"kernel": kernel, "target": target, "rows": rows})
        return rows

    rows: Rows = taken_once(f"{record}-{kernel}-{target}", use, of_target)
    return rows


def _collected(kernel: str, chips: Sequence[str]) -> dict[str, Rows]:
    """What a process makes of a kernel, by chip; a row without a chip, of a process that died before, is each one's."""
    if importlib.util.find_spec("triton") is None:
        raise Absent(Status.UNAVAILABLE, "this Python has no triton")
    refuse_unknown_kernel(kernel)
    setting = Setting("", threads=1, timeout_s=_LIMIT_S, cwd=checkout.root())
    rows = codegen_asking.collect(setting, [kernel], tuple(chips))
    kept = [{part: value for part, value in row.items() if part != "mix"} for row in rows]
    return {chip: [row for row in kept if row["target"] in ("", chip)] for chip in chips}


def _compiled(rows: Rows) -> Rows:
    """The rows, all of which are of a compilation that succeeded.

    Raises:
        Absent: One is not; one that failed comes before one that this installation cannot have.
        PcbenchError: There is no row.
    """
    if not rows:
        raise PcbenchError("the process told of no compilation")
    broken = [row for row in rows if row["status"] != Status.OK]
    for row in sorted(broken, key=lambda row: bool(row["status"] == Status.UNAVAILABLE)):
        where = _words(row)
        raise Absent(row["status"], f"{where}: {row['reason']}" if where else row["reason"])
    return rows


def _seconds(rows: Rows) -> float:
    """What compiling took; two rows of one compilation, which have its very time, count once."""
    took = {(row["sha256"], row["compile_cpu_s"]) for row in rows}
    return float(sum(seconds for _, seconds in took))


def _words(row: codegen_asking.Row) -> str:
    parts: tuple[Any, ...] = (row["function"], row["dtype"], row["sizes"], row["config"])
    return " ".join(filter(None, parts))
