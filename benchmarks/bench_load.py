"""What it costs to load an artifact in a fresh process, beside building the model and calling it in eager mode."""

from __future__ import annotations

from benchmarks import suite


class Artifact:
    """Bytes of all files of the artifact."""

    version = "1"
    timeout = 7200
    param_names = ("model", "strategy")
    params = (suite.MODELS, suite.STRATEGIES)

    def setup(self, *case):
        suite.require_commit(*case)

    def track_bytes(self, model, strategy):
        return suite.tracking.artifact_bytes(model, strategy)

    track_bytes.unit = "bytes"


class Load:
    """The ladder: seconds to the first output by temperature, and the peak memory of the same processes.

    A hot load has no peak of its own: it comes second in its process.
    asv runs methods by name: the one that takes the samples comes first.
    """

    version = "1"
    timeout = 7200
    param_names = ("model", "strategy", "temperature")
    params = (suite.MODELS, ["eager", *suite.STRATEGIES], suite.TEMPERATURES)

    def setup(self, *case):
        suite.require_commit(*case)

    def track_first_output(self, model, strategy, temperature):
        return suite.tracking.first_output_seconds(model, strategy, temperature, suite.samples())

    track_first_output.unit = "seconds"

    def track_peak_rss(self, model, strategy, temperature):
        return suite.tracking.peak_rss_bytes(model, strategy, temperature, suite.samples())

    track_peak_rss.unit = "bytes"
    track_peak_rss.kind = "memory"
    track_peak_rss.params = (suite.MODELS, ["eager", *suite.STRATEGIES], suite.PEAK_TEMPERATURES)
