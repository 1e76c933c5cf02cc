"""What it costs to capture a model and save the artifact."""

from __future__ import annotations

from benchmarks import suite


class Capture:
    """Seconds of capture and save, from empty compiler caches and from those that a capture left."""

    version = "1"
    timeout = 7200
    param_names = ("model", "strategy", "temperature")
    params = (suite.MODELS, suite.STRATEGIES, ["cold", "warm"])

    def setup(self, *case):
        suite.require_commit(*case)

    def track_seconds(self, model, strategy, temperature):
        return suite.tracking.capture_seconds(model, strategy, temperature, suite.samples())

    track_seconds.unit = "seconds"
