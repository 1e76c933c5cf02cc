"""Ask fresh processes what Triton's compiler makes of kernels. For the command and asv's benchmarks; needs no torch."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

from pcbench import asking, processes
from pcbench.asking import Setting
from pcbench.errors import PcbenchError, UnavailableError
from pcbench.status import Status

Row = dict[str, Any]

CHIPS = ("sm_80", "sm_90", "sm_100", "gfx942")
"""Chips that kernels can be compiled for."""

ENVIRONMENT: Mapping[str, str | None] = {
    "TRITON_DISABLE_LINE_INFO": "1",
    "TRITON_DEFAULT_FP_FUSION": "1",
    "TRITON_DUMP_PTXAS_LOG": "1",
    "TRITON_INTERPRET": None,
    "TRITON_ALWAYS_COMPILE": None,
}
"""Under it the same source is the same machine code in whatever folder and line, and whatever this Triton fuses by
default; ptxas' words are told; kernels are compiled, and found again once they are."""

_KEY = ("kernel", "function", "sizes", "dtype", "config", "target")


def row(kernel: str, target: str, status: Status, reason: str | None, **more: Any) -> Row:
    """A row with what is known, and empty for the rest."""
    named = {"kernel": kernel, "function": "", "sizes": "", "dtype": "", "config": "", "target": target}
    outcome = {"status": str(status), "reason": reason, "assembler": "", "triton": ""}
    made: Row = {"metrics": {}, "words": {}, "mix": {}, "warnings": [], "sha256": None, "work": None}
    took: Row = {"stage_cpu_s": {}, "compile_cpu_s": None, "compile_wall_s": None, "hit_s": None}
    return {**named, **outcome, **made, **took, **more}


def collect(
    setting: Setting,
    kernels: Sequence[str],
    chips: Sequence[str] = CHIPS,
    configs: Literal["first", "all"] = "first",
    on_row: Callable[[Row], None] = lambda row: None,
    on_stage: Callable[[str], None] = lambda stage: None,
    *,
    assembly: bool = False,
    signature: str | None = None,
    constexprs: Mapping[str, int | str] | None = None,
) -> list[Row]:
    """A row for each launch of each kernel, at each of its sizes and dtypes, on each chip; in that order.

    A row is of strings but for ``metrics``, ``words``, ``mix`` and ``work``, which are by name, ``warnings``, and what
    it took in seconds. Where a process dies, the kernel and chip that it was at get a row that says how, beside those
    that they have, and the others are asked for in a new process. A process that ran past the setting's limit is such a
    death where it had all its time for this kernel and chip; else they get a process of their own first.

    Args:
        setting: Its target is of no account.
        kernels: Names, paths to files that end in KERNEL, or ``module:function``.
        configs: Of a kernel that is tuned: all that it may choose from, or the first alone.
        on_row: Gets each row as soon as it is there.
        on_stage: Gets what is done next, in words.
        assembly: Rows carry the machine code in words, under ``assembly``.
        signature: Of a ``module:function``: the types of its parameters, such as ``*fp32,*fp32,i32``.
        constexprs: Of a ``module:function``: its constants, and options of the compiler such as ``num_warps``.

    Raises:
        UsageError: There is no such kernel or chip, or the signature is not the function's.
        PcbenchError: A process died before it came to a kernel, as without Triton.
    """
    asked = {"configs": configs, "assembly": assembly, "signature": signature, "constexprs": dict(constexprs or {})}
    setting = replace(setting, env={**ENVIRONMENT, **setting.env})
    rows: dict[tuple[str, ...], Row] = {}

    def keep(found: Row) -> None:
        key = tuple(found[part] for part in _KEY)
        if key not in rows:
            rows[key] = found
            on_row(found)

    def hear(message: processes.Message) -> None:
        if "stage" in message:
            on_stage(message["stage"])
        if "row" in message:
            keep(message["row"])

    pending = [(tuple(kernels), tuple(chips))]
    while pending:
        these, those = pending.pop(0)
        with processes.scratch() as folder:
            request = {"do": "codegen", "kernels": these, "chips": those, **asked}
            messages, ending = asking.ask_child(setting, request, folder / "caches", hear)
        failed = asking.failure(messages, ending, setting)
        if failed is None:
            continue
        kernel, chip = _last_at(messages, *failed)
        alone = kernel == these[0] and chip in (None, those[0])
        guilty = alone or failed[0] is not Status.TIMED_OUT
        if guilty:
            keep(row(kernel, chip or "", *failed))
        pending[:0] = _left(these, those, kernel, chip, without=guilty)
    return list(rows.values())


def _last_at(messages: Sequence[processes.Message], status: Status, reason: str) -> tuple[str, str | None]:
    """The kernel, and the chip if it had come to one, that a process was at when it ended."""
    at = next((message["at"] for message in reversed(messages) if "at" in message), None)
    if at is None:
        kind = UnavailableError if status is Status.UNAVAILABLE else PcbenchError
        raise kind(f"no kernel could be compiled: {reason}")
    kernel, chip = at
    return kernel, chip


def _left(
    kernels: tuple[str, ...], chips: tuple[str, ...], kernel: str, chip: str | None, *, without: bool
) -> list[tuple[tuple[str, ...], tuple[str, ...]]]:
    """What is still to be asked, without or with where the process was: the rest of this kernel, and those after it."""
    done = 0 if chip is None else chips.index(chip)
    rest = () if without and chip is None else chips[done + without :]
    later = kernels[kernels.index(kernel) + 1 :]
    return [(asked, over) for asked, over in (((kernel,), rest), (later, chips)) if asked and over]
