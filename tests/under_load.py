"""What loads of a kind leave behind: ``python tests/under_load.py {models,threads} [NUMBER] [--strategy NAME]``.

Prints one JSON object. ``models``: that many models, one after the other, each loaded through a cache of runners,
called and dropped. ``threads``: sixteen threads over one cache, with that many rounds each, mixing hits, misses and
models that die.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

import torch
from torch import nn

import pcbench

THREADS = 16
SETTLING = 10
"""Models before the first reading: what torch imports, starts and allocates once."""

x = torch.ones(2, 512)


def resident_bytes() -> int:
    """The memory of this process that is resident now."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


def made(value: int) -> nn.Module:
    """A model of 1 MB, so that one that is kept is seen in the process's memory."""
    model = nn.Linear(512, 512)
    nn.init.constant_(model.weight, value)
    return model


def files(folder: Path) -> list[str]:
    """What is below a folder; but the cache's own, still empty, folder and its lock."""
    return sorted(p.name for p in folder.glob("*/*") if p.name != ".lock")


def short_lived(number: int, strategy: str) -> dict[str, Any]:
    """``number`` models after the first few: how memory grew, what is left, and whether each answer was its own."""
    cache = pcbench.ModelRunnerCache(strategy=strategy)
    folder = Path(tempfile.gettempdir())
    wrong, threads, before, started = 0, 0, 0, 0.0
    for place in range(SETTLING + number):
        if place == SETTLING:
            gc.collect()
            threads, before, started = threading.active_count(), resident_bytes(), time.monotonic()
        model = made(place)
        wrong += not torch.equal(cache.load(model, x)(x), model(x))
        del model
    gc.collect()
    return {
        "models": number,
        "seconds": round(time.monotonic() - started, 1),
        "grown_bytes": resident_bytes() - before,
        "threads_left": threading.active_count() - threads,
        "files_left": files(folder),
        "entries_left": len(cache),
        "misses": cache.misses,
        "wrong_answers": wrong,
    }


def mixed(number: int, strategy: str) -> dict[str, Any]:
    """Sixteen threads, each with ``number`` models of its own that die, between hits of models that all of them ask."""
    pcbench.ModelRunnerCache(strategy=strategy).load(made(0), x)  # torch's first capture starts a thread of its own
    kept = [made(-1), made(-2)]
    cache = pcbench.ModelRunnerCache(THREADS * number + len(kept), strategy=strategy)
    start = threading.Barrier(THREADS)
    found: list[set[int]] = [set() for _ in kept]
    wrong: list[str] = []

    def work(thread: int) -> None:
        start.wait()
        for place in range(number):
            model = made(1 + thread * number + place)
            model.itself = [model]  # type: ignore[assignment]  # a cycle: only the collector frees it, in any thread
            for which, each in ((None, model), (place % 2, kept[place % 2]), (None, model)):
                runner = cache.load(each, x)
                if which is not None:
                    found[which].add(id(runner))
                if not torch.equal(runner(x), each(x)):
                    wrong.append(f"thread {thread}, model {place}")

    before, interval, threads = gc.get_threshold(), sys.getswitchinterval(), threading.active_count()
    gc.set_threshold(20, 2, 2)
    sys.setswitchinterval(1e-6)
    try:
        together = [threading.Thread(target=work, args=(thread,)) for thread in range(THREADS)]
        for each in together:
            each.start()
        for each in together:
            each.join()
    finally:
        gc.set_threshold(*before)
        sys.setswitchinterval(interval)
    gc.collect()
    return {
        "threads_left": threading.active_count() - threads,
        "wrong_answers": wrong,
        "runners_of_each_kept": [len(each) for each in found],
        "models": THREADS * number + len(kept),
        "misses": cache.misses,
        "hits": cache.hits,
        "entries_left": len(cache),
    }


if __name__ == "__main__":
    words = argparse.ArgumentParser(description=__doc__)
    words.add_argument("kind", choices=["models", "threads"])
    words.add_argument("number", type=int)
    words.add_argument("--strategy", default="export")
    asked = words.parse_args()
    with tempfile.TemporaryDirectory() as folder, torch.no_grad():
        tempfile.tempdir = folder
        done = {"models": short_lived, "threads": mixed}[asked.kind](asked.number, asked.strategy)
        print(json.dumps(done))
