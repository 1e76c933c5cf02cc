"""Times a benchmark in blocks of calls, as asv times it."""

from __future__ import annotations

import json
import math
import os
import time
from pathlib import Path
from typing import Any

from .turns import Turns

Plan = dict[str, int]
"""Of a timed case: calls in a block (``number``), ``blocks`` in all, and how many of the first to ``discard``."""

_BLOCK_S = 1e-3
_BLOCKS, _DISCARDED = 60, 3
_CASE_S = 5.0  # blocks of a slow case are fewer, so that they end about here
_SETUPS_S = 0.1  # likewise a block whose setup is run anew before each call
_WARMED_S = 1e-2  # what a turn begins with is a small part of a longer block
_OTHERS, _OTHERS_S = 0.05, 1e-4  # CPU seconds of other threads, as a share of this one's or at all, that are none
_TRIED, _TRIED_S = 3, 1.0  # one block may be disturbed; of slow ones the first are tried, until so long


def timed(benchmark: Any, case: str, plan: Plan | None, turns: Turns | None) -> dict[str, Any]:
    """The blocks of a benchmark that is set up, in seconds per call, and the least; without a plan one is made first.

    Where the other side has set up the case, too, they are taken in turn with its own, and laid out alike.
    """
    chosen: Plan | None = None
    found: list[float] = []
    _keep_timer(benchmark)
    alone = _alone(benchmark)
    if turns is not None:
        with turns.at(case, alone=alone) as both:
            chosen = turns.agreed(lambda: plan or planned(benchmark)) if both else None
            if chosen is not None:
                found = _in_turn(benchmark, chosen, turns)
    if chosen is None or len(found) < chosen["blocks"]:  # the other is not here, or left
        chosen = plan or planned(benchmark)
        found = _blocks(benchmark, chosen["number"], chosen["blocks"])
    samples = found[chosen["discard"] :]
    if kept := os.environ.get("PCBENCH_BLOCKS"):
        with Path(kept).open("a") as stream:
            stream.write(json.dumps({"benchmark": os.environ["PCBENCH_BENCHMARK"], "samples": samples}) + "\n")
    return {"value": min(samples), "blocks": samples, "plan": chosen}


def _in_turn(benchmark: Any, plan: Plan, turns: Turns) -> list[float]:
    took = math.inf  # the first blocks are discarded as they are

    def block() -> float:
        nonlocal took
        started = time.perf_counter()
        (found,) = _blocks(benchmark, plan["number"], 1)
        took = time.perf_counter() - started
        return found

    return turns.taken(plan["blocks"], block, lambda: block() if took < _WARMED_S else None)


def planned(benchmark: Any) -> Plan:
    """How the blocks of a benchmark that was called before are laid out: neither too short nor too many.

    Calls that need a setup before each are few in a block; a number that the benchmark declares is kept.
    """
    fixed = int(benchmark.number)
    number = fixed or 1
    while True:
        call_s, wall_s = _tried(benchmark, number)
        block_s = call_s * number
        if fixed or block_s >= _BLOCK_S or wall_s >= _SETUPS_S:
            break
        wanted = int(1.2 * _BLOCK_S / max(block_s, 1e-9) * number)
        affordable = int(_SETUPS_S / max(wall_s, 1e-9) * number)
        number = max(number + 1, min(wanted, affordable, 10 * number))
    kept = max(2, min(_BLOCKS, int(_CASE_S / max(wall_s, 1e-9))))
    discard = max(1, min(_DISCARDED, kept // 5))
    return {"number": number, "blocks": kept + discard, "discard": discard}


def _keep_timer(benchmark: Any) -> None:
    """Have asv time all blocks by one timer: the loop of a new one is compiled anew, and lies elsewhere in memory."""
    made = benchmark._get_timer
    kept: list[Any] = []

    def timer(*param: Any) -> Any:
        if not kept:
            kept.append(made(*param))
        return kept[0]

    benchmark._get_timer = timer


def _alone(benchmark: Any) -> bool:
    """Call it for the first time, which is not to be planned by, and tell whether no other thread worked for it."""
    declared = benchmark.number
    own, all_threads = time.thread_time(), time.process_time()
    _blocks(benchmark, int(declared) or 1, 1)
    own, all_threads = time.thread_time() - own, time.process_time() - all_threads
    benchmark.number = declared
    return all_threads - own < max(_OTHERS_S, _OTHERS * own)


def _tried(benchmark: Any, number: int) -> tuple[float, float]:
    """Seconds of a call and of a whole block, the least of a few blocks of so many calls."""
    calls: list[float] = []
    walls: list[float] = []
    while len(walls) < _TRIED and sum(walls) <= _TRIED_S:
        started = time.perf_counter()
        calls += _blocks(benchmark, number, 1)
        walls.append(time.perf_counter() - started)
    return min(calls), min(walls)


def _blocks(benchmark: Any, number: int, count: int) -> list[float]:
    """Seconds per call of so many blocks, timed as asv times them."""
    # asv sets these anew at each setup, and reads them at the start of a run.
    benchmark.number, benchmark.repeat = number, (count, count, math.inf)
    benchmark.warmup_time, benchmark.min_run_count = 0, 1
    found: list[float] = benchmark.do_run()["samples"]
    return found
