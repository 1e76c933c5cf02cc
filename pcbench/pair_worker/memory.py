"""Where a process of a pair has its code and its objects in memory: an interpreter's speed depends on both.

The kernel draws addresses anew for each process, so that unchanged code takes longer in one than in the other. What a
change moves are objects, not the interpreter: code lies at the same addresses in all processes, and objects elsewhere
with each hash seed, which the two processes of a pair share. No verdict stands on one layout.
"""

from __future__ import annotations

import ctypes
import os
import random
import sys

_AGAIN = "PCBENCH_PAIR_AGAIN"
_ADDR_NO_RANDOMIZE, _ASK = 0x0040000, 0xFFFFFFFF  # from <linux/personality.h>
_POOL_BYTES = 1 << 14  # of CPython's allocator, which keeps objects of a size together
_SIZES = range(48, 513, 16)

_scattered: list[bytes] = []


def fix_addresses() -> None:
    """Begin this process again without random addresses, where the kernel lets it: Linux, but in some containers."""
    if os.environ.pop(_AGAIN, None) is not None or sys.platform != "linux":
        return
    libc = ctypes.CDLL(None)
    now = libc.personality(ctypes.c_ulong(_ASK))
    if now != -1 and not now & _ADDR_NO_RANDOMIZE and libc.personality(ctypes.c_ulong(now | _ADDR_NO_RANDOMIZE)) != -1:
        os.environ[_AGAIN] = "1"
        os.execv(sys.executable, [sys.executable, *sys.orig_argv[1:]])


def scatter(seed: str) -> None:
    """Have later objects begin anywhere in what their size shares: some of each size are kept until the end."""
    draw = random.Random(seed)
    for size in _SIZES:
        _scattered.extend(bytes(size - sys.getsizeof(b"")) for _ in range(draw.randrange(_POOL_BYTES // size)))
