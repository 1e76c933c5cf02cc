"""What the process does, once its addresses are fixed: see the package."""

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

from . import memory
from .blocks import timed
from .control import control
from .turns import Turns

_GRACE_S = 10.0

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
        described = json.loads(listed.getvalue())
        tell({"benchmarks": [{k: v for k, v in each.items() if k != "code"} for each in described]})
    elif request["do"] == "cache":
        _setup_cache((suite, request["name"], "{}"))
        tell({"done": True})
    else:
        turns = Turns(**request["turns"]) if request.get("turns") else None
        tell({"control": control(turns)})
        for case in request["cases"]:
            tell({"starts": case["id"]})
            started = time.monotonic()
            told = _outcome(suite, case, turns)
            tell({"case": case["id"], "seconds": time.monotonic() - started, **told})
            gc.collect()
        tell({"control": control(turns)})


def _outcome(suite: str, case: Mapping[str, Any], turns: Turns | None) -> dict[str, Any]:
    """What a case gave, or why nothing."""
    os.environ["PCBENCH_BENCHMARK"] = case["name"]
    if context := os.environ.get("PCBENCH_CONTEXT"):
        Path(context).write_text("")
    try:
        with _limited(float(case["timeout_s"])):
            return _measured(suite, case, turns)
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


def _measured(suite: str, case: Mapping[str, Any], turns: Turns | None) -> dict[str, Any]:
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
            return timed(benchmark, case["id"], case["plan"], turns)
        return {"value": _number(benchmark.do_run())}
    except SkipNotImplemented as error:
        raise _Skipped(str(error) or "the benchmark skips it") from error
    finally:
        benchmark.do_teardown()


def _cache() -> Any:
    # asv's own pickle, made by this suite a moment ago in a folder of this comparison.
    return pickle.loads(Path("cache.pickle").read_bytes())


def _number(found: Any) -> float:
    """The number of a ``track_`` benchmark: the least of its samples where it has some."""
    values = found["samples"] if isinstance(found, dict) else [found]
    for value in values:
        if not isinstance(value, int | float):
            raise TypeError(f"its value is no number: {value!r}"[:200])
        if math.isnan(value):
            raise _Skipped("its value is NaN")
        if math.isinf(value):
            raise ValueError(f"its value is {value}, which is no number to compare")
    return float(min(values))


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


def start() -> None:
    """Do what the request asks whose file is the first argument."""
    asked = json.loads(Path(sys.argv[1]).read_text())
    memory.scatter(os.environ.get("PYTHONHASHSEED", ""))
    with os.fdopen(int(sys.argv[sys.argv.index("--answer-fd") + 1]), "w") as answers:

        def told(message: dict[str, Any]) -> None:
            answers.write(json.dumps(message) + "\n")
            answers.flush()

        main(asked, told)
