"""A small suite with every kind of case that a worker may meet."""

from __future__ import annotations

SUITE = """
import hashlib
import json
import os
import signal
import threading
import time

import toy

CALLS, MADE = [], []
MUCH = bytes(1 << 20)
threading.Thread(target=threading.Event().wait, daemon=True).start()  # a pool's, that has nothing to do


class Alone:
    def time_it(self):
        self.cpus = os.sched_getaffinity(0)

    def teardown(self):
        open("alone", "w").write(repr(self.cpus))


class Threads:
    def time_it(self):
        thread = threading.Thread(target=hashlib.sha256, args=(MUCH,))
        thread.start()
        thread.join()
        self.cpus = os.sched_getaffinity(0)

    def teardown(self):
        open("threads", "w").write(repr(self.cpus))


def track_stack():
    (line,) = (line for line in open("/proc/self/maps") if "[stack]" in line)
    return float(int(line.partition("-")[0], 16))


def track_object():
    return float(id([]))


class Time:
    def setup(self):
        CALLS.clear()

    def time_set_up_anew(self):
        CALLS.append(1)
        assert len(CALLS) == 1


def time_lazy():
    if not MADE:
        time.sleep(0.2)
        MADE.append(1)
    sum(range(300))


def track_seed():
    return float(os.environ["PYTHONHASHSEED"])

track_seed.unit = "seconds"


def track_samples():
    return {"samples": [3.0, 2.0, 4.0], "number": 1}


def track_nan():
    with open(os.environ["PCBENCH_CONTEXT"], "a") as file:
        file.write(json.dumps({"case": "x", "status": "UNAVAILABLE", "reason": "this commit lacks it"}) + "\\n")
    return float("nan")


def track_infinite():
    return float("inf")


def track_nan_sample():
    return {"samples": [2.0, float("nan"), 1.0], "number": 1}


def track_late():
    try:
        time.sleep(60)
    except Exception:
        return 1.0

track_late.timeout = 0.5


def track_killed():
    os.kill(os.getpid(), signal.SIGKILL)


def track_raises():
    raise ValueError("wrong")


def track_exits():
    raise SystemExit(1)


def track_text():
    return "three"


class Skipped:
    params = [1, 2]

    def setup(self, n):
        if n == 2:
            raise NotImplementedError("not for 2")

    def track_n(self, n):
        return n


class Cached:
    def setup_cache(self):
        with open("made", "a") as file:
            file.write("x")
        return 5

    def track_cached(self, cache):
        return cache + len(open("made").read())


class NotCached:
    def setup_cache(self):
        raise OSError("no room")

    def track_it(self, cache):
        return 1
"""
