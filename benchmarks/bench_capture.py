"""What it costs to capture a model and save the artifact: seconds, also by phase, memory, and what torch did meanwhile.

All of them are of the same captures: whichever method asv runs first takes them.
"""

from __future__ import annotations

from benchmarks import suite

PHASES = ["dynamo_s", "aot_autograd_s", "inductor_s", "compile_s", "serialise_s", "other_s"]

# Each count, and the direction that is worse, as pcbench.samples.CaptureCounts states them: a test compares the two.
COUNTS = {
    "graphs": "any",
    "graph_breaks": "up",
    "recompiles": "up",
    "fx_nodes": "any",
    "generated_kernels": "any",
    "compiler_builds": "up",
    "fxgraph_hits": "down",
    "fxgraph_misses": "up",
    "fxgraph_bypasses": "up",
    "aot_autograd_hits": "down",
    "aot_autograd_misses": "up",
    "aot_autograd_bypasses": "up",
    "dynamo_hits": "down",
    "dynamo_misses": "up",
    "async_compile_hits": "down",
    "async_compile_misses": "up",
}

# asv starts a process per count. Of a cold capture caches tell nothing, and its graphs are those of a warm one.
COUNTED = ["cold", "warm"] if suite.PROFILE == "full" else ["warm"]


class Capture:
    """Seconds of capture and save, from empty compiler caches and from those that a capture left.

    Dynamo and what the strategy loads with are imported before.
    """

    version = "2"
    timeout = 7200
    param_names = ("model", "strategy", "temperature")
    params = (suite.MODELS, suite.STRATEGIES, ["cold", "warm"])

    def setup(self, *case):
        suite.require_commit(*case)

    def track_seconds(self, model, strategy, temperature):
        return suite.tracking.capture_seconds(model, strategy, temperature, suite.samples())

    track_seconds.unit = "seconds"


class Memory:
    """Peak resident memory of the process when it has saved."""

    version = "1"
    timeout = 7200
    param_names = ("model", "strategy", "temperature")
    params = (suite.MODELS, suite.STRATEGIES, ["cold", "warm"])

    def setup(self, *case):
        suite.require_commit(*case)
        suite.require("capture_peak_rss_bytes", *case)

    def track_peak_rss(self, model, strategy, temperature):
        return suite.tracking.capture_peak_rss_bytes(model, strategy, temperature, suite.samples())

    track_peak_rss.unit = "bytes"
    track_peak_rss.kind = "memory"


class Phases:
    """The seconds by phase; a phase that this torch has no timer for is n/a."""

    version = "1"
    timeout = 7200
    param_names = ("model", "strategy", "temperature", "phase")
    params = (suite.MODELS, suite.STRATEGIES, ["cold", "warm"], PHASES)

    def setup(self, *case):
        suite.require_commit(*case)
        suite.require("capture_phase_seconds", *case)

    def track_seconds(self, model, strategy, temperature, phase):
        return suite.tracking.capture_phase_seconds(model, strategy, temperature, phase, suite.samples())

    track_seconds.unit = "seconds"


class Counts:
    """What torch and the compilers did, counted: exact, so that any change is one."""

    version = "1"
    timeout = 7200
    param_names = ("model", "strategy", "temperature", "count")
    params = (suite.MODELS, suite.STRATEGIES, COUNTED, list(COUNTS))

    def setup(self, *case):
        suite.require_commit(*case)
        suite.require("capture_count", *case)

    def track_count(self, model, strategy, temperature, count):
        return suite.tracking.capture_count(model, strategy, temperature, count, suite.samples())

    track_count.unit = ""


Counts.track_count.worse_by = {"count": COUNTS}
