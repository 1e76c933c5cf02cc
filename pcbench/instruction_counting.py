"""Count the instructions of guard checks, of many targets in one process. For the command and asv's; needs no torch."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from pcbench import asking, callgrind, processes
from pcbench.asking import Setting
from pcbench.errors import UnavailableError
from pcbench.status import Status

HARDWARE, CALLGRIND = "hardware", "callgrind"

Target = tuple[str, int]
"""A model or a guard family, and its size."""


@dataclass(frozen=True)
class Counted:
    """Instructions by target; those of one method say nothing beside those of another.

    Attributes:
        method: :data:`HARDWARE` or :data:`CALLGRIND`.
        values: Per check of all guards, with the loop that asks for it, about 200. Each was compiled anew: where in
            memory things come to lie adds up to some tenths of a percent, so the least of them is the one to compare.
        unavailable: What the installation cannot do, with the reason.
        failed: What else was not counted, with the reason.
    """

    method: str
    values: Mapping[Target, tuple[float, ...]]
    unavailable: Mapping[Target, str] = field(default_factory=dict)
    failed: Mapping[Target, str] = field(default_factory=dict)


def limit_s(targets: int) -> float:
    """Seconds that a process which counts so many targets may take: under callgrind, an import of torch takes 30."""
    return 300.0 + 120.0 * targets


def counted(targets: Sequence[Target], setting: Setting, *, step: Callable[[str], None] = lambda what: None) -> Counted:
    """Count instructions in one process: by the CPU where it counts them, else under callgrind.

    What was counted before a process died is kept.

    Args:
        setting: Its target and threads are of no account; for its ``timeout_s`` see :func:`limit_s`.
        step: Told of each target before it is counted.

    Raises:
        UnavailableError: Neither way works here.
        UsageError: The process must not run this code.
    """
    with processes.scratch() as folder:
        messages, failed = _ask(targets, setting, folder, step)
        if failed is None or failed[0] is not Status.UNAVAILABLE:
            return _read(HARDWARE, targets, messages, failed)
        try:
            prefix = callgrind.prepare(folder)
        except UnavailableError as error:
            raise UnavailableError(
                f"instructions cannot be counted: {failed[1]}, and {error.problem}", hint=error.hint
            ) from error
        under = replace(
            setting, prefix=(*setting.prefix, *prefix), env=dict(setting.env) | {callgrind.FOLDER: str(folder)}
        )
        return _read(CALLGRIND, targets, *_ask(targets, under, folder, step))


def _ask(
    targets: Sequence[Target], setting: Setting, folder: Path, step: Callable[[str], None]
) -> tuple[list[processes.Message], tuple[Status, str] | None]:
    """What the process said, and how it failed.

    Addresses decide how hash tables collide: all that is passed to it is as long in one process as in another.
    """
    request = {
        "do": "guard_instructions",
        "started": 0.0,
        "target": "",
        "threads": 1,
        "cwd": str(setting.cwd),
        "targets": targets,
    }
    env = asking.environment(1, folder / "caches") | {"PYTHONHASHSEED": "0"} | dict(setting.env)
    messages: list[processes.Message] = []
    begun: list[float] = []

    def heard(message: processes.Message) -> None:
        messages.append(message)
        if "counting" in message:
            begun.append(time.monotonic())
            step(_told(message["counting"], len(begun) - 1, len(targets), begun[-1] - begun[0]))

    ending = processes.run(
        [*setting.prefix, *processes.child_command(request, setting.python)],
        env={name: value for name, value in env.items() if value is not None},
        cwd=folder / "caches",
        timeout_s=setting.timeout_s,
        on_message=heard,
    )
    return messages, asking.failure(messages, ending, setting)


def _told(counting: Mapping[str, Any], done: int, of: int, spent_s: float) -> str:
    left = f", about {spent_s / done * (of - done):.0f} s left" if done else ""
    return f"counting instructions: {counting['target']} ({done + 1} of {of}{left})"


def _read(
    method: str,
    targets: Sequence[Target],
    messages: Sequence[processes.Message],
    failed: tuple[Status, str] | None,
) -> Counted:
    values: dict[Target, tuple[float, ...]] = {}
    unavailable: dict[Target, str] = {}
    broken: dict[Target, str] = {}
    for message in messages:
        for kind in message.keys() & {"instructions", "uncounted"}:
            told = message[kind]
            target = told["target"], told["size"]
            if kind == "instructions":
                values[target] = tuple(told["per_check"])
            else:
                (unavailable if told["unavailable"] else broken)[target] = told["reason"]
    reason = "its process said nothing of it" if failed is None else failed[1]
    rest = [target for target in targets if target not in values | unavailable | broken]
    return Counted(method, values, unavailable, broken | dict.fromkeys(rest, reason))
