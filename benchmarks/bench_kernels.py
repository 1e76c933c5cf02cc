"""What Triton kernels take on a GPU, each beside torch's own; n/a without one. Bytes and rates are in the sidecar."""

from __future__ import annotations

from benchmarks import suite

PAIRS = 1 if suite.ONE_SAMPLE else 10 if suite.FEW else 30


class Times:
    """Seconds of one launch, of many that go through inputs beyond the cache; the answer is checked on both sides."""

    version = "1"
    timeout = 3600
    param_names = ("launch",)
    params = (suite.LAUNCHES,)

    def setup(self, *case):
        suite.require_commit(*case)
        suite.require("kernel_seconds", *case)

    def track_seconds(self, launch):
        return suite.tracking.kernel_seconds(launch, PAIRS)

    def track_rival_seconds(self, launch):
        return suite.tracking.rival_seconds(launch, PAIRS)

    track_seconds.unit = track_rival_seconds.unit = "seconds"
