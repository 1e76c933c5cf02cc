"""One process of a pair: measures cases of an asv suite with the interpreter and the code that its variables give it.

It is started by its path and imports nothing of pcbench: what it measures may be another pcbench, or none. The request
is a JSON file, the answers are JSON lines. ``{"do": "list"}`` answers ``{"benchmarks": [...]}`` as asv describes them;
``{"do": "cache", "name": ...}`` runs a ``setup_cache``; ``{"do": "measure", "cases": [...]}`` answers ``{"control":
seconds}`` twice, and for each case ``{"starts": id}``, then ``{"case": id, "seconds": all that it took}`` with the
``value`` and the ``plan`` of its blocks, or why there is none: ``skipped`` or ``failed``. The blocks themselves are
appended to the file that the variable PCBENCH_BLOCKS names, if there is one.
"""

from __future__ import annotations

import contextlib
import faulthandler
import gc
import io
import json
import math
import os
import pickle
import signal
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import FrameType
from typing import Any

from asv_runner.benchmarks.mark import SkipNotImplemented  # type: ignore[import-untyped]
from asv_runner.benchmarks.time import TimeBenchmark  # type: ignore[import-untyped]
from asv_runner.discovery import get_benchmark_from_name, list_benchmarks  # type: ignore[import-untyped]
from asv_runner.setup_cache import _setup_cache  # type: ignore[import-untyped]

Plan = dict[str, int]
"""Of a timed case: calls in a block (``number``), ``blocks`` in all, and how many of the first to ``discard``."""

_BLOCK_S = 1e-3
_BLOCKS, _DISCARDED = 15, 3
_CASE_S = 5.0  # blocks of a slow case are fewer, so that they end about here
_SETUPS_S = 0.1  # likewise a block whose setup is run anew before each call
_GRACE_S = 10.0
_CONTROL_ROUNDS = 60

Tell = Callable[[dict[str, Any]], None]


class _Late(BaseException):
    """A case ran past its limit. No benchmark's own ``except Exception`` may take it."""


class _Ended(BaseException):
    """The comparison ends this process."""


class _Skipped(Exception):
    """The case does not apply, for the reason given."""


def main(request: Mapping[str, Any], tell: Tell) -> None:
    """Do what is asked; what goes wrong outside a case ends the process."""
    signal.signal(signal.SIGTERM, _end)
    suite = str(request["suite"])
    if request["do"] == "list":
        listed = io.StringIO()
        list_benchmarks(suite, listed)
        tell({"benchmarks": [_described(each) for each in json.loads(listed.getvalue())]})
    elif request["do"] == "cache":
        _setup_cache((suite, request["name"], "{}"))
        tell({"done": True})
    else:
        tell({"control": control_s()})
        for case in request["cases"]:
            tell({"starts": case["id"]})
            started = time.monotonic()
            told = _outcome(suite, case)
            tell({"case": case["id"], "seconds": time.monotonic() - started, **told})
            gc.collect()
        tell({"control": control_s()})


def control_s() -> float:
    """Seconds of a fixed computation, the least of a few rounds: attributes, a dictionary, a copy of bytes."""

    class Node:
        def __init__(self, value: int) -> None:
            self.value, self.table = value, {"one": value, "other": value}

    nodes, block, copy = [Node(n) for n in range(100)], bytes(1 << 16), bytearray(1 << 16)
    best = math.inf
    for _ in range(_CONTROL_ROUNDS):
        started = time.perf_counter()
        total = 0
        for _ in range(20):
            for node in nodes:
                total += node.value + node.table["one"]
        copy[:] = block
        best = min(best, time.perf_counter() - started)
    return best


def _described(benchmark: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in benchmark.items() if name != "code"}


def _outcome(suite: str, case: Mapping[str, Any]) -> dict[str, Any]:
    """What a case gave, or why nothing."""
    os.environ["PCBENCH_BENCHMARK"] = case["name"]
    context = os.environ.get("PCBENCH_CONTEXT")
    if context:
        Path(context).write_text("")
    try:
        with _limited(float(case["timeout_s"])):
            return _measured(suite, case)
    except _Late:
        return {"failed": f"still at it after {case['timeout_s']:g} s"}
    except _Skipped as skipped:
        return {"skipped": _stated(context) or str(skipped)}
    except SystemExit as error:  # how a benchmark of pcbench.tracking ends that has no number
        if error.code == 128 + signal.SIGTERM:
            raise
        return {"failed": _stated(context) or f"it exits with {error.code}"}
    except Exception as error:  # a stranger's benchmark may raise anything; the other cases go on
        return {"failed": _stated(context) or f"{type(error).__name__}: {error}"}


def _measured(suite: str, case: Mapping[str, Any]) -> dict[str, Any]:
    os.chdir(case["folder"])
    index = case["index"]
    benchmark = get_benchmark_from_name(suite, case["name"] if index is None else f"{case['name']}-{index}")
    benchmark.set_cache(_cache() if benchmark.setup_cache_key is not None else None)
    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        skip = benchmark.do_setup()
    print(said.getvalue(), end="")
    try:
        if skip:
            raise _Skipped(said.getvalue().strip().removeprefix("asv: skipped: ") or "the suite skips it")
        if isinstance(benchmark, TimeBenchmark):
            return _timed(benchmark, case["plan"])
        return {"value": _number(benchmark.do_run())}
    except SkipNotImplemented as error:
        raise _Skipped(str(error) or "the benchmark skips it") from error
    finally:
        benchmark.do_teardown()


def _cache() -> Any:
    # asv's own pickle, made by this suite a moment ago in a folder of this comparison.
    with Path("cache.pickle").open("rb") as file:
        return pickle.load(file)


def _number(found: Any) -> float:
    """The number of a ``track_`` benchmark: the least of its samples where it has some."""
    value = min(found["samples"]) if isinstance(found, dict) else found
    if not isinstance(value, int | float):
        raise TypeError(f"its value is no number: {value!r}"[:200])
    if math.isnan(value):
        raise _Skipped("its value is NaN")
    return float(value)


def _timed(benchmark: Any, plan: Plan | None) -> dict[str, Any]:
    """The least of the blocks, in seconds per call; without a plan one is made first."""
    chosen = plan or planned(benchmark)
    samples = _blocks(benchmark, chosen["number"], chosen["blocks"])[chosen["discard"] :]
    kept = os.environ.get("PCBENCH_BLOCKS")
    if kept:
        with Path(kept).open("a") as stream:
            stream.write(json.dumps({"benchmark": os.environ["PCBENCH_BENCHMARK"], "samples": samples}) + "\n")
    return {"value": min(samples), "plan": chosen}


def planned(benchmark: Any) -> Plan:
    """How the blocks of a timed benchmark that is set up are laid out, so that they are neither too short nor too many.

    Calls that need a setup before each are few in a block; a number that the benchmark declares is kept.
    """
    fixed = int(benchmark.number)
    number = fixed or 1
    _blocks(benchmark, number, 1)  # what a first call makes once, and keeps, is not to be planned by
    while True:
        started = time.perf_counter()
        (call_s,) = _blocks(benchmark, number, 1)
        wall_s = time.perf_counter() - started
        block_s = call_s * number
        if fixed or block_s >= _BLOCK_S or wall_s >= _SETUPS_S:
            break
        wanted = int(1.2 * _BLOCK_S / max(block_s, 1e-9) * number)
        affordable = int(_SETUPS_S / max(wall_s, 1e-9) * number)
        number = max(number + 1, min(wanted, affordable, 10 * number))
    kept = max(2, min(_BLOCKS, int(_CASE_S / max(wall_s, 1e-9))))
    discard = max(1, min(_DISCARDED, kept // 5))
    return {"number": number, "blocks": kept + discard, "discard": discard}


def _blocks(benchmark: Any, number: int, count: int) -> list[float]:
    """Seconds per call of so many blocks, timed as asv times them."""
    # asv sets these anew at each setup, and reads them at the start of a run.
    benchmark.number, benchmark.repeat = number, (count, count, math.inf)
    benchmark.warmup_time, benchmark.min_run_count = 0, 1
    found: list[float] = benchmark.do_run()["samples"]
    return found


def _stated(context: str | None) -> str | None:
    """Why the case has no number, as it said in the sidecar that it was given."""
    if not context:
        return None
    lines = [json.loads(line) for line in Path(context).read_text().splitlines()]
    return next((line["reason"] for line in reversed(lines) if line.get("reason")), None)


@contextlib.contextmanager
def _limited(limit_s: float) -> Iterator[None]:
    """Raise _Late at the limit; code that lets no Python run loses the whole process a little later."""
    signal.signal(signal.SIGALRM, _late)
    signal.setitimer(signal.ITIMER_REAL, limit_s)
    faulthandler.dump_traceback_later(limit_s + _GRACE_S, exit=True)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        faulthandler.cancel_dump_traceback_later()


def _late(signum: int, frame: FrameType | None) -> None:  # noqa: ARG001  # signal's signature
    raise _Late


def _end(signum: int, frame: FrameType | None) -> None:  # noqa: ARG001  # as above
    raise _Ended


if __name__ == "__main__":
    asked = json.loads(Path(sys.argv[1]).read_text())
    with os.fdopen(int(sys.argv[sys.argv.index("--answer-fd") + 1]), "w") as answers:

        def told(message: dict[str, Any]) -> None:
            answers.write(json.dumps(message) + "\n")
            answers.flush()

        main(asked, told)
