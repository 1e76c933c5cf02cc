"""Start a measured process with caches of its own, and tell its answer from its death. Needs no torch.

The process itself is ``pcbench.child``.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pcbench import processes
from pcbench.errors import PcbenchError, UnavailableError, UsageError
from pcbench.status import Status


def usable_cpus() -> int:
    """CPUs that this process may run on."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@dataclass(frozen=True)
class Setting:
    """How processes are started.

    Attributes:
        target: A model: a name, a path to a file that ends in MODEL, or ``package.module:function``.
        threads: CPU threads that torch may use, the same for capture and load.
        timeout_s: Limit per process.
        python: The interpreter.
        cwd: Where a relative target is looked up.
        env: Environment variables beside those of :func:`environment`; None takes one away.
        prefix: Words before the interpreter's, of a program that starts it.
    """

    target: str
    threads: int = field(default_factory=usable_cpus)
    timeout_s: float = 300.0
    python: str = sys.executable
    cwd: Path = field(default_factory=Path.cwd)
    env: Mapping[str, str | None] = field(default_factory=dict)
    prefix: tuple[str, ...] = ()


def ask(setting: Setting, request: dict[str, Any], to: str | None = None) -> list[processes.Message]:
    """Ask the measuring half for something that is no sample; its messages.

    Args:
        to: What it is asked to do, in words, where the request's name does not say.

    Raises:
        UnavailableError: The installation lacks what it needs.
        PcbenchError: The process crashed, hung, or said that it cannot.
    """
    with processes.scratch() as folder:
        messages, ending = ask_child(setting, request, folder / "caches")
    failed = failure(messages, ending, setting)
    if failed is not None:
        status, reason = failed
        kind = UnavailableError if status is Status.UNAVAILABLE else PcbenchError
        raise kind(f"torch could not be asked to {to or request['do'].replace('_', ' ')}: {reason}")
    return messages


def ask_child(
    setting: Setting,
    request: dict[str, Any],
    caches: Path,
    on_message: Callable[[processes.Message], None] = lambda message: None,
) -> tuple[list[processes.Message], processes.Ending]:
    """What a fresh process answers to a request, and how it ended; its compiler caches are in ``caches``.

    Args:
        on_message: Gets each message as soon as it is there.
    """
    messages: list[processes.Message] = []

    def hear(message: processes.Message) -> None:
        messages.append(message)
        on_message(message)

    request = request | {"target": setting.target, "threads": setting.threads, "cwd": str(setting.cwd)}
    env = {
        name: value
        for name, value in (environment(setting.threads, caches) | dict(setting.env)).items()
        if value is not None
    }
    command = processes.child_command(request | {"started": time.monotonic()}, setting.python)
    words = [*setting.prefix, *command]
    ending = processes.run(words, env=env, cwd=caches, timeout_s=setting.timeout_s, on_message=hear)
    return messages, ending


def environment(threads: int, caches: Path) -> dict[str, str]:
    """The environment of a measured process: compiler caches of its own, and pinned threads.

    Inductor keeps its precompiled headers below the temporary folder, so that folder is one of the caches.
    """
    for cache in ("inductor", "triton", "tmp"):
        (caches / cache).mkdir(parents=True, exist_ok=True)
    return os.environ | {
        "TORCHINDUCTOR_CACHE_DIR": str(caches / "inductor"),
        "TRITON_CACHE_DIR": str(caches / "triton"),
        "TMPDIR": str(caches / "tmp"),
        "OMP_NUM_THREADS": str(threads),
        "MKL_NUM_THREADS": str(threads),
    }


def failure(messages: list[processes.Message], ending: processes.Ending, setting: Setting) -> tuple[Status, str] | None:
    """The status and reason of a process that gave no answer, or None when it gave one.

    Raises:
        UsageError: The target itself is at fault, so that no other process would do better.
    """
    for message in messages:
        if "error" in message:
            raise UsageError(message["error"]["problem"], hint=message["error"]["hint"])
        if "failed" in message:
            return Status(message["failed"]["status"]), message["failed"]["reason"]
    stage = last_stage(messages)
    if ending.timed_out:
        return Status.TIMED_OUT, f"still at {stage} after {setting.timeout_s:g} s"
    if not ending.clean or not any("done" in m for m in messages):
        return Status.CRASHED, f"at {stage}: {ending.sentence()}"
    return None


def last_stage(messages: list[processes.Message]) -> str:
    """What the process was doing when it said something last."""
    return next((m["stage"] for m in reversed(messages) if "stage" in m), "its start")
