"""Captures and load samples, each in a fresh process. Shared by the commands and by asv's benchmarks; needs no torch.

This module turns the answer of such a process, or its death, into a record.
"""

from __future__ import annotations

import shutil
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from pcbench import processes
from pcbench.asking import Setting, ask_child, failure, last_stage
from pcbench.samples import EAGER, Capture, LoadSample, Outcome, Phases, ShapeCall, read_capture
from pcbench.status import Status

STATE = "state.pt"
"""Where a capture that is asked to keeps the model's weights and inputs, in its folder."""


def capture(
    setting: Setting,
    strategy: str,
    folder: Path,
    *,
    warm_from: Path | None = None,
    keep_state: bool = False,
    with_caches: bool = False,
) -> Capture:
    """Capture and save the model in a fresh process: ``folder/artifact``, and the compiler caches in ``folder/caches``.

    Args:
        setting: What to capture, and how.
        strategy: The strategy's name.
        folder: An empty or missing folder.
        warm_from: The folder of an earlier capture whose caches this one starts from; without it they start empty.
        with_caches: Save what was compiled with the artifact, for bundled loads; ``folder/caches`` has none of it then.
        keep_state: Keep the model's weights and inputs in the folder, too, for loads that seed otherwise.
    """
    folder.mkdir(parents=True, exist_ok=True)
    caches = folder / "caches"
    if warm_from is not None:
        shutil.copytree(warm_from / "caches", caches)
    state = str(folder / STATE) if keep_state else None
    request: dict[str, Any] = {"do": "capture", "strategy": strategy, "artifact": str(folder / "artifact")}
    request |= {"state": state, "with_caches": with_caches}
    messages, ending = ask_child(setting, request, caches)
    failed = failure(messages, ending, setting)
    if failed is not None:
        return Capture(*_or_unavailable(setting, strategy, caches, *failed))
    answer = next(m["capture"] for m in messages if "capture" in m)
    return read_capture({"status": Status.OK} | answer)


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
        temperature: ``cold``, ``warm``, or ``bundled``, of a capture with caches.
        hot: Load a second time in the same process; its sample follows the first.
        shapes: Then call once with each extra shape that the model names.
        calls: Then time later calls, in turn with eager's.
    """
    with processes.scratch() as folder:
        artifact, caches = _prepared(captured, temperature, folder)
        outcome = load_with(setting, strategy, artifact, caches, temperature, hot=hot, shapes=shapes, calls=calls)
        if strategy == EAGER or outcome.status is Status.OK:
            return outcome
        status, reason = _or_unavailable(setting, strategy, caches, outcome.status, outcome.reason or "")
        return replace(outcome, status=status, reason=reason)


def load_workers(
    setting: Setting, strategy: str, captured: Path | None, temperature: str, workers: int
) -> tuple[Outcome, ...]:
    """``workers`` loads at once, in fresh processes over one folder of caches, as the workers of a server start.

    A failure is told as it came.
    """
    with processes.scratch() as folder, ThreadPoolExecutor(workers) as pool:
        artifact, caches = _prepared(captured, temperature, folder)
        loads = [pool.submit(load_with, setting, strategy, artifact, caches, temperature) for _ in range(workers)]
        try:
            _, loading = wait(loads, return_when=FIRST_EXCEPTION)
            if loading:
                processes.kill_running()
            return tuple(load.result() for load in loads)
        except KeyboardInterrupt:  # the pool would wait for what is still loading
            processes.kill_running()
            raise


def _prepared(captured: Path | None, temperature: str, folder: Path) -> tuple[Path | None, Path]:
    """The artifact, and a folder for compiler caches: empty, or with a copy of those that the capture left."""
    caches = folder / "caches"
    if temperature == "warm" and captured is not None:
        shutil.copytree(captured / "caches", caches)
    return None if captured is None else captured / "artifact", caches


def load_with(
    setting: Setting,
    strategy: str,
    artifact: Path | None,
    caches: Path,
    temperature: str,
    *,
    hot: bool = False,
    shapes: bool = False,
    calls: bool = False,
    state: Path | None = None,
    trust: bool = False,
) -> Outcome:
    """As :func:`load`, from the artifact's own folder and with what is in ``caches``; a failure is told as it came."""
    request = {
        "do": "load",
        "strategy": strategy,
        "artifact": None if artifact is None else str(artifact),
        "temperature": temperature,
        "hot": hot,
        "shapes": shapes,
        "calls": calls,
        "state": None if state is None else str(state),
        "trust": trust,
    }
    messages, ending = ask_child(setting, request, caches)
    failed = failure(messages, ending, setting)
    taken = [m["sample"] for m in messages if "sample" in m]
    samples = tuple(map(_sample, taken))
    if failed is not None:
        # A sample in whose process a later call went wrong does not count; before a hot load that failed, it does.
        return Outcome(*failed, samples if last_stage(messages).startswith("hot ") else ())
    call_s: dict[str, list[float]] = next((m["calls"] for m in messages if "calls" in m), {})
    degraded = next((_degraded(message) for message in taken if message["again"] is not None), None)
    return Outcome(
        Status.OK if degraded is None else Status.DEGRADED_TO_JIT,
        degraded,
        samples,
        tuple(call_s.get("call_s", ())),
        tuple(call_s.get("eager_call_s", ())),
        tuple(_shape(m["shape"]) for m in messages if "shape" in m),
    )


def _or_unavailable(setting: Setting, strategy: str, caches: Path, status: Status, reason: str) -> tuple[Status, str]:
    """UNAVAILABLE where the strategy's own probe says what is lacking; else as given.

    The probe is a process of its own; it starts from the caches of the one that failed, which spares it most compiling.
    """
    if status in (Status.TIMED_OUT, Status.WRONG_RESULT, Status.DEGRADED_TO_JIT) or "the manifest" in reason:
        return status, reason
    tried = probe(setting, strategy, caches)
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
    messages, ending = ask_child(setting, {"do": "probe", "strategy": strategy}, caches)
    failed = failure(messages, ending, setting)
    if failed is not None:
        return Probe(*failed)
    found = next(m["probe"] for m in messages if "probe" in m)
    lacking: str | None = found["reason"]
    return Probe(Status.OK if lacking is None else Status.UNAVAILABLE, lacking, found["summary"])


def _sample(message: dict[str, Any]) -> LoadSample:
    known = {name: value for name, value in message.items() if name != "again"}
    return LoadSample(phases=Phases(**known.pop("phases")), status=Status(known.pop("status")), **known)


def _shape(message: dict[str, Any]) -> ShapeCall:
    return ShapeCall(**message | {"status": Status(message["status"])})


def _degraded(message: dict[str, Any]) -> str:
    return f"in the {message['temperature']} load, although it had the capture's caches, {message['again']}"
