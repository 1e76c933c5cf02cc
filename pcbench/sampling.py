"""Captures and load samples, each in a fresh process. Shared by the commands and by asv's benchmarks; needs no torch.

The process itself is ``pcbench.child``; this module makes its folders and its environment, starts it, and turns its
answer, or its death, into a record.
"""

from __future__ import annotations

import os
import shutil
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pcbench import processes
from pcbench.errors import PcbenchError, UsageError
from pcbench.samples import EAGER, Capture, LoadSample, Outcome, Phases, ShapeCall
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
    """

    target: str
    threads: int = field(default_factory=usable_cpus)
    timeout_s: float = 300.0
    python: str = sys.executable
    cwd: Path = field(default_factory=Path.cwd)


def capture(setting: Setting, strategy: str, folder: Path, *, warm_from: Path | None = None) -> Capture:
    """Capture and save the model in a fresh process: ``folder/artifact``, and the compiler caches in ``folder/caches``.

    Args:
        setting: What to capture, and how.
        strategy: The strategy's name.
        folder: An empty or missing folder.
        warm_from: The folder of an earlier capture whose caches this one starts from; without it they start empty.
    """
    folder.mkdir(parents=True, exist_ok=True)
    caches = folder / "caches"
    if warm_from is not None:
        shutil.copytree(warm_from / "caches", caches)
    request = {"do": "capture", "strategy": strategy, "artifact": str(folder / "artifact")}
    messages, ending = _ask(setting, request, caches)
    failed = _failure(messages, ending, setting)
    if failed is not None:
        status, reason = _or_unavailable(setting, strategy, *failed)
        return Capture(status, reason)
    answer = next(m["capture"] for m in messages if "capture" in m)
    return Capture(Status.OK, **answer)


def load(
    setting: Setting,
    strategy: str,
    captured: Path | None,
    temperature: str,
    *,
    hot: bool = False,
    shapes: bool = False,
    calls: bool = False,
) -> Outcome:
    """Load the artifact and call it once, in a fresh process with caches of its own.

    Args:
        setting: The same as at the capture.
        strategy: The strategy's name, or ``eager``.
        captured: The folder given to :func:`capture`; None for eager.
        temperature: ``cold`` or ``warm``.
        hot: Load a second time in the same process; its sample follows the first.
        shapes: Then call once with each extra shape that the model names.
        calls: Then time later calls, in turn with eager's.
    """
    with processes.scratch() as folder:
        caches = folder / "caches"
        if temperature == "warm" and captured is not None:
            shutil.copytree(captured / "caches", caches)
        artifact = None if captured is None else str(captured / "artifact")
        request = {
            "do": "load",
            "strategy": strategy,
            "artifact": artifact,
            "temperature": temperature,
            "hot": hot,
            "shapes": shapes,
            "calls": calls,
        }
        messages, ending = _ask(setting, request, caches)
    failed = _failure(messages, ending, setting)
    samples = tuple(_sample(m["sample"]) for m in messages if "sample" in m)
    if failed is not None:
        status, reason = failed if strategy == EAGER else _or_unavailable(setting, strategy, *failed)
        # A sample in whose process a later call went wrong does not count; before a hot load that failed, it does.
        kept = samples if _last_stage(messages).startswith("hot ") else ()
        return Outcome(status, reason, kept)
    call_s: dict[str, list[float]] = next((m["calls"] for m in messages if "calls" in m), {})
    degraded = next((s for s in samples if s.status is not Status.OK), None)
    return Outcome(
        Status.OK if degraded is None else degraded.status,
        None if degraded is None else _degraded(degraded),
        samples,
        tuple(call_s.get("call_s", ())),
        tuple(call_s.get("eager_call_s", ())),
        tuple(_shape(m["shape"]) for m in messages if "shape" in m),
    )


def ask(setting: Setting, request: dict[str, Any]) -> list[processes.Message]:
    """Ask the measuring half for something that is no sample; its messages.

    Raises:
        PcbenchError: The process crashed, hung, or said that it cannot.
    """
    with processes.scratch() as folder:
        messages, ending = _ask(setting, request, folder / "caches")
    failed = _failure(messages, ending, setting)
    if failed is not None:
        raise PcbenchError(f"torch could not be asked what it is: {failed[1]}")
    return messages


def _ask(setting: Setting, request: dict[str, Any], caches: Path) -> tuple[list[processes.Message], processes.Ending]:
    messages: list[processes.Message] = []
    request = request | {"target": setting.target, "threads": setting.threads, "cwd": str(setting.cwd)}
    env = environment(setting.threads, caches)
    command = processes.child_command(request | {"started": time.monotonic()}, setting.python)
    ending = processes.run(command, env=env, cwd=caches, timeout_s=setting.timeout_s, on_message=messages.append)
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


def _failure(
    messages: list[processes.Message], ending: processes.Ending, setting: Setting
) -> tuple[Status, str] | None:
    """The status and reason of a process that gave no answer, or None when it gave one.

    Raises:
        UsageError: The target itself is at fault, so that no other process would do better.
    """
    for message in messages:
        if "error" in message:
            raise UsageError(message["error"]["problem"], hint=message["error"]["hint"])
        if "failed" in message:
            return Status(message["failed"]["status"]), message["failed"]["reason"]
    stage = _last_stage(messages)
    if ending.timed_out:
        return Status.TIMED_OUT, f"still at {stage} after {setting.timeout_s:g} s"
    if not ending.clean or not any("done" in m for m in messages):
        return Status.CRASHED, f"at {stage}: {ending.sentence()}"
    return None


def _last_stage(messages: list[processes.Message]) -> str:
    return next((m["stage"] for m in reversed(messages) if "stage" in m), "its start")


def _or_unavailable(setting: Setting, strategy: str, status: Status, reason: str) -> tuple[Status, str]:
    """UNAVAILABLE where the strategy's own probe, in a process of its own, says what is lacking; else as given."""
    if status in (Status.TIMED_OUT, Status.WRONG_RESULT, Status.DEGRADED_TO_JIT) or "the manifest" in reason:
        return status, reason
    with processes.scratch() as folder:
        tried = probe(setting, strategy, folder / "caches")
    return (tried.status, tried.reason or reason) if tried.status is Status.UNAVAILABLE else (status, reason)


@dataclass(frozen=True)
class Probe:
    """What trying a strategy gave: OK, UNAVAILABLE for what this installation lacks, or how the strategy itself failed.

    Attributes:
        summary: What the strategy is, in one line; None where it could not even be imported.
    """

    status: Status
    reason: str | None = None
    summary: str | None = None


def probe(setting: Setting, strategy: str, caches: Path) -> Probe:
    """Try the strategy on a tiny model, in a fresh process.

    ``caches`` may be shared by several probes: most of the time goes into finding the instruction set.
    """
    messages, ending = _ask(setting, {"do": "probe", "strategy": strategy}, caches)
    failed = _failure(messages, ending, setting)
    if failed is not None:
        return Probe(*failed)
    found = next(m["probe"] for m in messages if "probe" in m)
    lacking: str | None = found["reason"]
    return Probe(Status.OK if lacking is None else Status.UNAVAILABLE, lacking, found["summary"])


def _sample(message: dict[str, Any]) -> LoadSample:
    known = dict(message)
    return LoadSample(phases=Phases(**known.pop("phases")), status=Status(known.pop("status", Status.OK)), **known)


def _shape(message: dict[str, Any]) -> ShapeCall:
    return ShapeCall(**message | {"status": Status(message["status"])})


def _degraded(sample: LoadSample) -> str:
    count = sample.compiler_processes
    return f"the {sample.temperature} load started {count} compilers although it had the capture's caches"
