"""What a hit in the cache of runners costs, beside a look-up in a dictionary that checks nothing.

With 4 parameters and 1 input the model is ``mlp`` but for its width.
"""

from __future__ import annotations

from benchmarks import suite


class Hit:
    """Seconds per look-up by check; one process gives the samples of all of them.

    The signature is that of the inputs; training are the modules and their flags; weights are those that are baked.
    """

    version = "1"
    timeout = 3600
    param_names = ("check", "inputs", "parameters")
    params = (
        ["hit", "original", "signature", "mode", "training", "weights"],
        ["1", "8"],
        ["4", "24"],
    )

    def setup(self, *case):
        suite.require_commit(*case)
        suite.require("cache_hit_seconds", *case)

    def track_seconds(self, check, inputs, parameters):
        return suite.tracking.cache_hit_seconds(check, inputs, parameters)

    track_seconds.unit = "seconds"
