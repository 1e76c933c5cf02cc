"""Captures and saves that are killed on the way: ``python tests/killed_saves.py STRATEGY FOLDER SEED KILLS``.

Each is a fork, killed with SIGKILL just before one of its writes (a file opened to write, a folder made, a rename and
so on), drawn at random; every fifth after a random time instead. A JSON line says of each what was left.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path
from random import Random

import artifact_bases as bases
import torch

from pcbench import strategies
from pcbench.runner import artifact

_WRITES = ("os.mkdir", "os.rename", "os.remove", "os.rmdir", "os.chmod", "os.truncate", "os.link", "fcntl.flock")


def _write_of(event: str, args: tuple[object, ...]) -> bool:
    flags = args[2] if event == "open" else 0
    return event in _WRITES or (isinstance(flags, int) and bool(flags & os.O_ACCMODE))


def _killing(at: int) -> Callable[[str, tuple[object, ...]], None]:
    """An audit hook that kills this process before its ``at``-th write, or with 0 reports how many there were."""
    seen = 0

    def hook(event: str, args: tuple[object, ...]) -> None:
        nonlocal seen
        if _write_of(event, args):
            seen += 1
            if seen == at:
                os.kill(os.getpid(), signal.SIGKILL)
        elif event == "killed_saves.count":
            Path(str(args[0])).write_text(str(seen))

    return hook


def _capture(strategy: str) -> artifact.Captured:
    chosen, model, x = strategies.named(strategy), bases.build(), bases.inputs()
    return artifact.capture(artifact.describe(strategy, chosen, model, (x,), {}), chosen, model, (x,), {})


def _forked(strategy: str, target: Path, at: int, after_s: float | None, count: Path) -> None:
    """Capture and save in a fork, killed at a write, or after a time."""
    child = os.fork()
    if child == 0:
        if after_s is None:
            sys.addaudithook(_killing(at))
        artifact.save(_capture(strategy), target)
        sys.audit("killed_saves.count", str(count))
        os._exit(0)
    if after_s is not None:
        time.sleep(after_s)
        os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)


def _works(target: Path, strategy: str) -> bool:
    model, x = bases.build(), bases.inputs()
    found = artifact.opened(target)
    artifact.require_here(found, strategy)
    runner = strategies.named(strategy).load(found.payload, model)
    return torch.allclose(runner(x), model(x))


def main(strategy: str, folder: Path, seed: int, kills: int) -> None:
    torch.set_num_threads(1)
    rng, store, count = Random(seed), folder / "store", folder / "count"
    target = store / "model"
    with torch.no_grad():
        captured = _capture(strategy)
        began = time.monotonic()
        _forked(strategy, target, 0, None, count)
        took_s, writes = time.monotonic() - began, int(count.read_text())
        shutil.rmtree(store)
        for number in range(kills):
            at, after_s = rng.randrange(1, writes + 1), rng.uniform(0, took_s) if number % 5 == 4 else None
            _forked(strategy, target, at, after_s, count)
            left = "works" if target.exists() and _works(target, strategy) else "none"
            shutil.rmtree(target, ignore_errors=True)
            artifact.save(captured, target)
            then = sorted(path.name for path in store.iterdir())
            print(json.dumps({"at": at, "of": writes, "after_s": after_s, "left": left, "then": then}), flush=True)
            shutil.rmtree(store)


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4]))
