"""What Triton kernels take on a GPU, each beside torch's own; n/a without one. Bytes and rates are in the sidecar."""

from __future__ import annotations

from benchmarks import suite


class Times:
    """Seconds of one launch, of many that go through inputs beyond the cache; the answer is checked on both sides."""

    version = "1"
    timeout = 3600
    param_names = ("launch",)
    params = (suite.LAUNCHES,)

    def setup(self, launch):
        suite.require_listed(launch)
        suite.require_commit(launch)
        suite.require("kernel_seconds", launch)

    def track_seconds(self, launch):
        return suite.tracking.kernel_seconds(launch, suite.PAIRS)

    def track_rival_seconds(self, launch):
        return suite.tracking.rival_seconds(launch, suite.PAIRS)

    track_seconds.unit = track_rival_seconds.unit = "seconds"
